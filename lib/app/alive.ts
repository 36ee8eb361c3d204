/**
 * Alive: which runs may still have processes, by what the record says and nothing else (protocols §6.3). Pure.
 * Guards: in doubt a run lives: a release waits for its fence, and nothing of its folder is removed.
 */
import { attemptOfEpoch } from '../job/identity.ts';
import { TIMING } from '../job/timing.ts';
import type { AttemptView, View } from '../job/view.ts';

type Known = Pick<View, 'attempts' | 'ended'>;

/**
 * Processes whose fate is unknown count as gone once their own time limit is over by ten minutes: the wrapper enforces it. It counts the
 * time that it runs, so of one that was suspended no moment is known.
 */
const withinLimit = (view: Known, attempt: AttemptView, now: number): boolean => {
  if (attempt.suspended) return !isFenced(view, attempt, now);
  const begun = attempt.startedAt ?? attempt.endedAt ?? attempt.plannedAt;
  return now < begun + (attempt.resources.timeLimitSeconds + TIMING.goneAfterLimitSeconds) * 1000;
};

/** By the mark of a later attempt, or by `stop`, whatever run of this one was left has ended itself since. Kubernetes has no wrapper that looks. */
const isFenced = ({ attempts, ended }: Known, { n, gate }: AttemptView, now: number): boolean =>
  gate.mechanism !== 'suspend' &&
  [ended?.at, ...attempts.slice(n).map((later) => later.releasedAt)].some(
    (at) => at !== undefined && now >= at + TIMING.fenceSeconds * 1000,
  );

/** Some run of an attempt before this one: whoever releases it fences that first (protocols §6.3). */
export const someRunMayLive = (view: Known, { n }: AttemptView, now: number): boolean =>
  view.attempts.some((earlier) => earlier.n < n && earlier.processes === 'unknown' && withinLimit(view, earlier, now));

/**
 * Of a run, by its epoch: not proved to be over. While an attempt is not, none of its runs is: the scheduler may have begun more than the
 * record knows. What ended the last run says nothing of others, which the scheduler put back: a lost node's may live on as long as their own
 * limit, and one that somebody began after the end, until it is fenced. An attempt that the record does not know was planned since it was read.
 */
export const isLive =
  (view: Known, now: number) =>
  (epoch: number): boolean => {
    const { n, run } = attemptOfEpoch(epoch);
    const attempt = view.attempts[n - 1];
    if (attempt?.state !== 'ended' || attempt.requeueIntendedAt !== undefined) return true;
    if (run > attempt.run) return !isFenced(view, attempt, now);
    if (run === attempt.run && attempt.processes === 'gone') return false;
    return withinLimit(view, attempt, now);
  };
