/**
 * What the bus was told (protocols §2.6, §2.7): never a token, the same id always the same words, and once the world is at rest
 * everything that the records tell.
 */
import { clusterNoticesOf, type Notice, noticesAfter } from '../../lib/app/notices.ts';
import type { ClusterCommit } from '../../lib/job/cluster-event.ts';
import { emptyCluster, foldCluster } from '../../lib/job/cluster-view.ts';
import type { Commit } from '../../lib/job/event.ts';
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

export const createNoticeCheck = (reached: (type: Notice['type']) => void): NoticeCheck => {
  const told = new Map<string, string>();
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
        reached(notice.type);
      }
    },
    untold: (commits) => missing(noticesAfter(commits, 0)),
    untoldOfCluster(commits) {
      let view = emptyCluster(commits[0]?.cluster ?? '');
      return missing(
        commits.flatMap((commit) => {
          view = foldCluster([commit], view);
          return clusterNoticesOf(commit, view);
        }),
      );
    },
  };
};
