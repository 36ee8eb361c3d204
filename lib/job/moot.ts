/**
 * Moot: which open questions a set of events answers by itself. Whatever commit makes a question moot carries its withdrawal
 * too (protocols §9), so nobody is asked about something that is over.
 */
import type { Commit, Event } from './event.ts';
import { evolve } from './evolve.ts';
import { attemptOf, openQuestions, type Question, type View } from './view.ts';

type Meta = Pick<Commit, 'job' | 'version' | 'at' | 'commitId'>;

/** One commit's worth of change. */
interface Change {
  readonly before: View;
  readonly after: View;
  /** Attempts whose end it carries. */
  readonly ended: ReadonlySet<number>;
  /** The job's time is up, in words (contract §5). */
  readonly over: string | undefined;
}

/** Why this question has become pointless; undefined: it has not. */
const mootBy = (change: Change, question: Question): string | undefined => {
  const { after, over } = change;
  if (after.ended) return 'the job ended';
  // That a cancel gets nowhere stays a question whatever asked for the cancel, until the attempt ends.
  if (!isAboutCancelling(after, question)) {
    if (after.cancel) return 'a cancel was requested';
    if (over) return over;
  }
  if (question.kind === 'stuck') return stuckMoot(change, question);
  if (question.kind === 'foreign_change') return foreignMoot(change, question);
  // About the second object: it may outlive the end of the first.
  if (question.kind === 'duplicate_attempts')
    return attemptOf(after, question.n).duplicates.every((d) => d.discarded) ? 'the second object is gone' : undefined;
  if (attemptOf(after, question.n).state !== 'ended') return 'the attempt is active again';
  return change.ended.has(question.n) ? 'a newer observation replaced the outcome' : undefined;
};

const isAboutCancelling = (view: View, question: Question): boolean => {
  const intendedAt = attemptOf(view, question.n).cancel?.intendedAt;
  return question.kind === 'stuck' && intendedAt !== undefined && question.raisedAt >= intendedAt;
};

const stuckMoot = ({ after }: Change, question: Question): string | undefined => {
  const attempt = attemptOf(after, question.n);
  if (attempt.state === 'ended') return 'the attempt ended';
  if (isAboutCancelling(after, question)) return undefined;
  if (attempt.cancel) return 'the attempt is being cancelled';
  return attempt.since > question.raisedAt ? 'the attempt moved on' : undefined;
};

const foreignMoot = ({ before, after }: Change, question: Question): string | undefined => {
  const was = attemptOf(before, question.n);
  const is = attemptOf(after, question.n);
  if (was.state !== 'ended' && is.state === 'ended') return 'the attempt ended';
  if (was.state === 'ended' && is.state !== 'ended') return 'the attempt is active again';
  // Before a release every live object of the job is looked for: nothing of an older attempt is left.
  if (is.state === 'ended') return after.attempts.some((a) => a.n > is.n && a.releasedAt !== undefined) ? 'it is gone' : undefined;
  if (is.cancel) return 'the attempt is being cancelled';
  const asked = was.findings.find((f) => f.kind === 'held' && f.notedAt <= question.raisedAt);
  return asked && is.findings.every((f) => f.kind !== 'held') ? 'the hold is over' : undefined;
};

/** The events, and after them a withdrawal of every question that they make moot. `over`: the job's time is up (contract §5). */
export const withWithdrawals = (view: View | undefined, events: readonly Event[], meta: Meta, over?: string): readonly Event[] => {
  if (!view || openQuestions(view).length === 0) return events;
  const after = events.reduce<View>((now, event) => evolve(now, event, meta), view);
  const ended = new Set(events.flatMap((event) => (event.type === 'attempt_ended' ? [event.n] : [])));
  const stillOpen = openQuestions(view).filter((before) => after.questions.some((q) => q.id === before.id && !q.closed));
  const withdrawn = stillOpen.flatMap((question): Event[] => {
    const moot = mootBy({ before: view, after, ended, over }, question);
    return moot ? [{ type: 'escalation_withdrawn', id: question.id, moot }] : [];
  });
  // `job_ended` comes last in a log: withdrawals go in front of it.
  const end = events.findIndex((event) => event.type === 'job_ended');
  return end === -1 ? [...events, ...withdrawn] : [...events.slice(0, end), ...withdrawn, ...events.slice(end)];
};
