/**
 * Alive: which runs may still have processes, by what the record says and nothing else (protocols §6.3). Pure.
 * Guards: in doubt a run lives: a release waits for its fence, and nothing of its folder is removed.
 */
import { epochOf } from '../job/identity.ts';
import { TIMING } from '../job/timing.ts';
import type { AttemptView } from '../job/view.ts';

/** Processes whose fate is unknown count as gone once their own time limit is over by ten minutes: the wrapper enforces it. */
export const withinLimit = (attempt: AttemptView, now: number): boolean => {
  const begun = attempt.startedAt ?? attempt.endedAt ?? attempt.plannedAt;
  return now < begun + (attempt.resources.timeLimitSeconds + TIMING.goneAfterLimitSeconds) * 1000;
};

/**
 * Epochs of the runs of an attempt that are not proved to be over, the next one included where one may yet begin. What ended the last run
 * says nothing of those before it, which the scheduler put back: a lost node's may live on as long as their own limit.
 */
export const liveEpochs = (attempt: AttemptView, now: number): number[] => {
  const { n, run, state, processes, requeueIntendedAt } = attempt;
  const last = state !== 'ended' || requeueIntendedAt !== undefined || (processes !== 'gone' && withinLimit(attempt, now));
  const earlier = last || (run > 0 && withinLimit(attempt, now));
  const runs = [...(earlier ? Array.from({ length: run }, (_, i) => i) : []), ...(last ? [run, run + 1] : [])];
  return runs.map((one) => epochOf(n, one));
};
