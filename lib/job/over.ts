/**
 * Over: whether a job's time is up, and why no rule is asked any more (contract §5, protocols §7).
 */
import type { Because, CancelWhy } from './event.ts';
import { NEVER } from './step.ts';
import type { View } from './view.ts';

/** Why no rule is asked any more: a cancel, the job's own end of time, or a person's `stop` about duplicates. */
export const overOf = (view: View, now: number): Because | undefined => {
  if (view.cancel) return { kind: 'cancel' };
  if (view.spec?.deadline !== undefined && view.spec.deadline <= now) return { kind: 'deadline' };
  if (wallClockEnd(view) <= now) return { kind: 'wall_clock' };
  const stop = view.questions.findLast((q) => q.kind === 'duplicate_attempts' && q.closed?.answer === 'stop');
  return stop ? { kind: 'answer', question: stop.id, answer: 'stop', expired: stop.closed?.how === 'expired' } : undefined;
};

export const wallClockEnd = (view: View): number => {
  const seconds = view.spec?.policy.limits.wallClockSeconds;
  return seconds === undefined ? NEVER : view.submittedAt + seconds * 1000;
};
export const endOfTime = (view: View): number => Math.min(view.spec?.deadline ?? NEVER, wallClockEnd(view));

export const asWhy = (over: Because): CancelWhy => (over.kind === 'deadline' || over.kind === 'wall_clock' ? over.kind : 'request');
