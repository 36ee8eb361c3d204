/**
 * Points and the resolve rule (protocols §8.2): from which publication an execution resumes.
 * Guards promise 5: whatever an earlier epoch announces after a later epoch was given its point is never picked, and no
 * execution resumes below the step that its branch already resumed from. Order is (epoch, training step), never the step
 * alone: a stale run that got further must not outrank its successor.
 */
import type { Point, Run } from './event.ts';
import { NOTHING } from './event.ts';
import { attemptOfEpoch, epochOf } from './identity.ts';

/** A complete save that was announced. `path` is relative to the job's checkpoint root. */
export interface Published {
  readonly epoch: number;
  readonly step: number;
  readonly path: string;
}

/**
 * A point together with the epoch that it was fixed *for*. `point.epoch` is that of the execution which saved it, always an
 * earlier one; what is late is judged by `epoch`.
 */
export interface Fixed {
  readonly epoch: number;
  readonly point: Point;
}

/** Before any attempt was planned: everything may be picked. */
export const UNFIXED: Fixed = { epoch: 0, point: NOTHING() };

/** What `attempt_planned` fixes for run 0 of its attempt. `from: scratch` fixes *nothing* and so begins a new branch. */
export const fixedByPlan = (n: number, resume: Point): Fixed => ({ epoch: epochOf(n, 0), point: resume });

/** What a claim with its base written fixes for its run. */
export const fixedByBase = (base: { readonly n: number; readonly run: number; readonly base: Point }): Fixed => ({
  epoch: epochOf(base.n, base.run),
  point: base.base,
});

/** The point of the greatest epoch; of two for the same epoch the later in the list (a base repeats its plan's point). */
export const lastFixed = (points: readonly Fixed[]): Fixed =>
  points.reduce((last, next) => (next.epoch >= last.epoch ? next : last), UNFIXED);

/** Negative when a comes before b. Two saves announced at one training step of one run: the greater path, so that all agree. */
export const byResolveOrder = (a: Published, b: Published): number =>
  a.epoch - b.epoch || a.step - b.step || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

/** The greatest (epoch, step) among the last point fixed and the publications of its epoch or a later one, at or above its step. */
export const latest = (fixed: Fixed, publications: readonly Published[]): Point => {
  let best: Point = fixed.point;
  for (const publication of publications)
    if (isEligible(publication, fixed) && byResolveOrder(publication, best) > 0)
      best = { epoch: publication.epoch, step: publication.step, path: publication.path };
  return best;
};

const isEligible = (publication: Published, fixed: Fixed): boolean =>
  publication.epoch >= fixed.epoch && publication.step >= fixed.point.step;

/** Announced now, by an epoch before the one that the last point was fixed for: refused by the API, never resumed from. */
export const isLate = (publication: Pick<Published, 'epoch'>, fixed: Fixed): boolean => publication.epoch < fixed.epoch;

/** Below the point its own branch resumes from: kept and shown, never picked (the program seems to ignore its resume point). */
export const isBehind = (publication: Published, fixed: Fixed): boolean =>
  publication.epoch >= fixed.epoch && publication.step < fixed.point.step;

/** Runs that an end carries: a thousand with long paths would outgrow a commit's 300 KB, and the end could never be recorded. */
export const MOST_RUNS = 400;

/** The last ones, and always the last that published: what came before either decides nothing any more. */
const bounded = (runs: Run[]): Run[] => {
  if (runs.length <= MOST_RUNS) return runs;
  const kept = runs.slice(-MOST_RUNS);
  const published = kept.some((run) => run.latest) ? undefined : runs.findLast((run) => run.latest);
  return published ? [published, ...kept.slice(1)] : kept;
};

/**
 * The digest of attempt n that `attempt_ended` carries, one entry per run that wrote a base or published, in order.
 * `latest` is the greatest publication of the run that resolve could pick: neither behind its base nor added after the next
 * run's base was fixed. `publications` counts all of them. At most MOST_RUNS.
 */
export const runsOf = (n: number, basesByRun: ReadonlyMap<number, Point>, publications: readonly Published[]): Run[] => {
  const byRun = Map.groupBy(
    publications.filter(({ epoch }) => attemptOfEpoch(epoch).n === n),
    ({ epoch }) => attemptOfEpoch(epoch).run,
  );
  const runs = [...new Set([...basesByRun.keys(), ...byRun.keys()])].sort((a, b) => a - b);
  let base = NOTHING();
  const all = runs.map((run, i) => {
    // A run that published and whose base cannot be read counts from the base before it: too low would invent progress.
    base = basesByRun.get(run) ?? base;
    const next = basesByRun.get(runs[i + 1] ?? -1);
    const own = byRun.get(run) ?? [];
    const inTime = next === undefined ? own : own.filter((publication) => byResolveOrder(publication, next) <= 0);
    const fixed = { epoch: epochOf(n, run), point: base };
    const point = latest(fixed, inTime);
    return { run, base, ...(point === base ? {} : { latest: point }), publications: own.length };
  });
  return bounded(all);
};
