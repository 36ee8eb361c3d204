/**
 * Alive: which runs may still have processes, by what the record says and nothing else (protocols §6.3). Pure.
 * Guards: in doubt a run lives: a release waits for its fence, and nothing of its folder is removed.
 */
import { attemptOfEpoch } from '../job/identity.ts';
import { TIMING } from '../job/timing.ts';
import type { AttemptView } from '../job/view.ts';

/** Processes whose fate is unknown count as gone once their own time limit is over by ten minutes: the wrapper enforces it. */
export const withinLimit = (attempt: AttemptView, now: number): boolean => {
  const begun = attempt.startedAt ?? attempt.endedAt ?? attempt.plannedAt;
  return now < begun + (attempt.resources.timeLimitSeconds + TIMING.goneAfterLimitSeconds) * 1000;
};

/**
 * Of a run, by its epoch: not proved to be over. While an attempt is not, none of its runs is: the scheduler may have begun more than the
 * record knows. What ended the last run says nothing of others, which the scheduler put back: a lost node's may live on as long as their own
 * limit. An attempt that the record does not know was planned since it was read.
 */
export const isLive =
  (attempts: readonly AttemptView[], now: number) =>
  (epoch: number): boolean => {
    const { n, run } = attemptOfEpoch(epoch);
    const attempt = attempts[n - 1];
    if (attempt?.state !== 'ended' || attempt.requeueIntendedAt !== undefined) return true;
    return (attempt.processes !== 'gone' || run !== attempt.run) && withinLimit(attempt, now);
  };
