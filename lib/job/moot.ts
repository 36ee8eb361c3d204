/**
 * Moot: which open questions a set of events answers by itself. Whatever commit makes a question moot carries its withdrawal
 * too (protocols §9), so nobody is asked about something that is over.
 */
import type { Commit, Event } from './event.ts';
import { evolve } from './evolve.ts';
import { attemptOf, openQuestions, type Question, type View } from './view.ts';

type Meta = Pick<Commit, 'job' | 'at' | 'commitId'>;

const ABOUT_LIVE = new Set<Question['kind']>(['stuck', 'foreign_change', 'duplicate_attempts']);

/** Why this question has become pointless in that view; undefined: it has not. */
const mootIn = (view: View, question: Question, newlyEnded: ReadonlySet<number>): string | undefined => {
  if (view.ended) return 'the job ended';
  if (view.cancel && question.blocks) return 'a cancel was requested';
  const attempt = attemptOf(view, question.n);
  if (ABOUT_LIVE.has(question.kind)) {
    if (attempt.state === 'ended') return 'the attempt ended';
    if (question.kind === 'stuck' && view.cancel && !question.says.includes('cancelled')) return 'a cancel was requested';
    if (question.kind === 'duplicate_attempts')
      return attempt.duplicates.every((d) => d.discarded) ? 'the second object is gone' : undefined;
    return question.kind === 'stuck' && !attempt.cancel && attempt.since > question.raisedAt ? 'the attempt moved on' : undefined;
  }
  if (attempt.state !== 'ended') return 'the attempt is active again';
  return newlyEnded.has(question.n) ? 'a newer observation replaced the outcome' : undefined;
};

/** The events, and after them a withdrawal of every question that they make moot. `over`: the job's time is up (contract §5). */
export const withWithdrawals = (view: View | undefined, events: readonly Event[], meta: Meta, over?: string): readonly Event[] => {
  if (!view || openQuestions(view).length === 0) return events;
  const after = events.reduce<View>((now, event) => evolve(now, event, meta), view);
  const ended = new Set(events.flatMap((event) => (event.type === 'attempt_ended' ? [event.n] : [])));
  const moot = openQuestions(view).filter((before) => after.questions.some((q) => q.id === before.id && !q.closed));
  // `job_ended` comes last in a log: withdrawals go in front of it.
  const withdrawn = moot.flatMap((question): Event[] => {
    const says = over ?? mootIn(after, question, ended);
    return says ? [{ type: 'escalation_withdrawn', id: question.id, moot: says }] : [];
  });
  const end = events.findIndex((event) => event.type === 'job_ended');
  return end === -1 ? [...events, ...withdrawn] : [...events.slice(0, end), ...withdrawn, ...events.slice(end)];
};
