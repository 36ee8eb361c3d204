/**
 * Alive: which runs may still have processes, by what the record says and nothing else (protocols §6.3). Pure.
 * Guards: in doubt a run lives: a release waits for its fence, and nothing of its folder is removed. Time alone proves nothing: the wrapper
 * counts only the time that it runs, so a run that was suspended, seen or not, outlives every limit.
 */
import { attemptOfEpoch } from '../job/identity.ts';
import { TIMING } from '../job/timing.ts';
import { type AttemptView, leavesDoubt, type View } from '../job/view.ts';

type Known = Pick<View, 'attempts' | 'ended'>;

/** The mark of a later attempt, or `stop`, has been there for so long that whatever was left of this one has seen it, if it looks. */
const isOverruled = ({ attempts, ended }: Known, { n }: AttemptView, now: number): boolean =>
  [ended?.at, ...attempts.slice(n).map((later) => later.releasedAt)].some(
    (at) => at !== undefined && now >= at + TIMING.fenceSeconds * 1000,
  );

/** On Kubernetes no wrapper looks. */
const isFenced = (view: Known, attempt: AttemptView, now: number): boolean =>
  attempt.gate.mechanism !== 'suspend' && isOverruled(view, attempt, now);

/** What a look shows of an object: the last of its runs. */
export type LastRun = Readonly<Pick<AttemptView, 'n' | 'run'>>;

/**
 * How long the release of this attempt waits still for what attempts before it may have left, by its mark, which is so old by the cluster's
 * clock, ms; zero: not at all. `seen`: by a look; a run that the record does not know is one of which nobody can say that it is over.
 * What an earlier release has waited for is not waited for again. Where nobody looks for marks, a pod on a silent node is given
 * `nodeLossWait` from its recorded end (protocols §4.7).
 */
export const fenceWaitMs = (view: Known, { n }: AttemptView, markAgeMs: number, now: number, seen: readonly LastRun[] = []): number =>
  Math.max(
    0,
    ...view.attempts
      .filter((earlier) => earlier.n < n && (leavesDoubt(earlier) || seen.some((one) => one.n === earlier.n && one.run > earlier.run)))
      .map((earlier) => {
        if (earlier.gate.mechanism === 'suspend') return (earlier.endedAt ?? now) + TIMING.nodeLossWaitSeconds * 1000 - now;
        return isOverruled(view, earlier, now) ? 0 : TIMING.fenceSeconds * 1000 - markAgeMs;
      }),
  );

/**
 * Of a run, by its epoch: not proved to be over. While an attempt is not, none of its runs is: the scheduler may have begun more than the
 * record knows. What ended the last run says nothing of the others, those that the scheduler put back and those that somebody began after the
 * end. An attempt that the record does not know was planned since it was read.
 */
export const isLive =
  (view: Known, now: number) =>
  (epoch: number): boolean => {
    const { n, run } = attemptOfEpoch(epoch);
    const attempt = view.attempts[n - 1];
    if (attempt?.state !== 'ended' || attempt.requeueIntendedAt !== undefined) return true;
    if (run === attempt.run && attempt.processes === 'gone') return false;
    return !isFenced(view, attempt, now);
  };
