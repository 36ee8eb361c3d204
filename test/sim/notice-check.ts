/**
 * What the bus was told (protocols §2.6, §2.7): never a token, the same id always the same words, and once the world is at rest
 * everything that the records tell.
 */
import { clusterNoticesOf, type Notice, noticesAfter } from '../../lib/app/notices.ts';
import type { ClusterCommit, ClusterEvent } from '../../lib/job/cluster-event.ts';
import { emptyCluster, foldCluster } from '../../lib/job/cluster-view.ts';
import type { Commit, Event } from '../../lib/job/event.ts';
import { holdsToken } from './token.ts';
import { holds } from './verdict.ts';

/** Told of a moment and not of a commit: who dies in between tells it again, with a later time. */
const OF_A_MOMENT = new Set<Notice['type']>(['dispatch.escalation.reissued', 'dispatch.supervisor.failing']);

export interface NoticeCheck {
  /** The bus keeps them. */
  kept(notices: readonly Notice[]): void;
  /** The first notice that this job's log tells and nobody was told. */
  untold(commits: readonly Commit[]): string | undefined;
  untoldOfCluster(commits: readonly ClusterCommit[]): string | undefined;
}

const asked = (about: string, id: string, options: readonly string[], onExpiry: string): string =>
  `${about} asks ${id}: ${options.join(' or ')}, else ${onExpiry}`;
const closed = (about: string, id: string, how: string): string => `${about} no longer asks ${id}: ${how}`;
const ended = (job: string, n: number, cause: string): string => `attempt ${n} of ${job} ended: ${cause}`;
const over = (job: string): string => `${job} is over`;

const OVER = new Set(['succeeded', 'failed', 'cancelled']);

/** What a notice says to whoever reads nothing else. */
const wordOf = (notice: Notice): string[] => {
  const about = 'job' in notice && notice.job ? notice.job.id : 'cluster' in notice ? `cluster ${notice.cluster}` : '';
  switch (notice.type) {
    case 'dispatch.escalation.raised':
      return [asked(about, notice.escalation.id, notice.escalation.options, notice.escalation.onExpiry)];
    case 'dispatch.escalation.closed':
      return [closed(about, notice.escalation.id, notice.how)];
    case 'dispatch.attempt.ended':
      return [ended(about, notice.attempt, notice.outcome.cause)];
    case 'dispatch.job.state_changed':
      return OVER.has(notice.to) ? [over(about)] : [];
    default:
      return [];
  }
};

/**
 * What must have been said of one event, told from the event alone: that a person was told is what excuses a job that waits, so dispatch's
 * own list of notices does not prove it.
 */
const mustSay = (about: string, event: Event | ClusterEvent): string | undefined => {
  switch (event.type) {
    case 'escalation_raised':
      return asked(about, event.id, event.options, event.onExpiry);
    case 'escalation_answered':
      return closed(about, event.id, 'answered');
    case 'escalation_expired':
      return closed(about, event.id, 'expired');
    case 'escalation_withdrawn':
      return closed(about, event.id, 'withdrawn');
    case 'attempt_ended':
    case 'attempt_refused':
    case 'attempt_never_landed':
      return ended(about, event.n, event.outcome.cause);
    case 'job_ended':
      return over(about);
    default:
      return undefined;
  }
};

/** The first thing that these commits tell and nobody heard. */
const unheard = (heard: ReadonlySet<string>, commits: readonly (Commit | ClusterCommit)[]): string | undefined =>
  commits
    .flatMap((commit) => {
      const about = 'job' in commit ? commit.job : `cluster ${commit.cluster}`;
      return commit.events.flatMap((event) => mustSay(about, event) ?? []);
    })
    .find((word) => !heard.has(word));

export const createNoticeCheck = (reached: (type: Notice['type']) => void): NoticeCheck => {
  const told = new Map<string, string>();
  /** What of each job and cluster was told, in words of its own. */
  const heard = new Set<string>();
  const missing = (notices: readonly Notice[]): string | undefined => notices.find(({ id }) => !told.has(id))?.id;
  return {
    kept(notices) {
      for (const notice of notices) {
        const says = JSON.stringify(notice);
        holds(!holdsToken(says), 'S12', () => `a token is in the notice ${notice.id}`);
        const before = told.get(notice.id);
        const same = before === undefined || before === says || OF_A_MOMENT.has(notice.type);
        holds(same, 'notice', () => `${notice.id} was told as ${before} and as ${says}`);
        told.set(notice.id, says);
        for (const word of wordOf(notice)) heard.add(word);
        reached(notice.type);
      }
    },
    untold: (commits) => unheard(heard, commits) ?? missing(noticesAfter(commits, 0)),
    untoldOfCluster(commits) {
      let view = emptyCluster(commits[0]?.cluster ?? '');
      const all = commits.flatMap((commit) => {
        view = foldCluster([commit], view);
        return clusterNoticesOf(commit, view);
      });
      return unheard(heard, commits) ?? missing(all);
    },
  };
};
