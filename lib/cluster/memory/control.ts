/**
 * The control folder and `pub/` of one job on the memory cluster (protocols §4.2, §8.1), and the wrapper's judgement of them.
 * Guards S1 and promise 5: what is created exclusively is never changed; a program begins only under a mark that names its own
 * object, with no later mark, no `stop` and no other claim of its run.
 */
import { formatMarker } from '../../checkpoint/marker.ts';
import type { Point } from '../../job/event.ts';
import { type Fixed, fixedByBase, fixedByPlan, lastFixed, latest } from '../../job/point.ts';
import type { Publication } from '../port.ts';

/** How long the wrapper looks for a mark that a shared file system may show late, before it refuses. */
export const GUARD_SECONDS = 60;
/** How often the wrapper looks whether it was fenced. */
export const FENCE_LOOK_SECONDS = 60;
/** From TERM to KILL: a program that was fenced may use it all, and go on saving. */
export const GRACE_SECONDS = 30;

interface Written {
  readonly writtenAtMs: number;
  readonly clusterWrittenAt: number;
  /** When the nodes see it: a shared file system may be late. */
  readonly visibleAtMs: number;
}
export interface Mark extends Written {
  readonly n: number;
  readonly schedulerId: string;
}
export interface Claim {
  readonly n: number;
  readonly run: number;
  /** `<id>-<run>-<nonce>`: proves its owner. */
  readonly text: string;
  readonly atMs: number;
  /** When the nodes see it. */
  readonly visibleAtMs: number;
}

export interface Control {
  readonly marks: Map<number, Mark>;
  stop?: Written;
  readonly claims: Map<string, Claim>;
  readonly bases: { readonly n: number; readonly run: number; readonly base: Point }[];
  readonly refused: { readonly schedulerId: string; readonly run: number; readonly why: string; readonly atMs: number }[];
  /** Runs whose wrapper lived to write its result file: their processes are gone. */
  readonly results: Map<string, string>;
  /** By marker name, so that announcing is exclusive like creating the file. */
  readonly pub: Map<string, Publication & { readonly schedulerId: string; readonly atMs: number }>;
}

export const emptyControl = (): Control => ({
  marks: new Map(),
  claims: new Map(),
  bases: [],
  refused: [],
  results: new Map(),
  pub: new Map(),
});

export const runKey = (n: number, run: number): string => `${n}-${run}`;

export type Verdict = { readonly kind: 'go' } | { readonly kind: 'wait' } | { readonly kind: 'refuse'; readonly why: string };

/** The guard (P4.2) as the node sees the folder now. `wait`: its own mark is not to be seen, and nothing forbids it yet. */
export const judge = (control: Control, own: { n: number; run: number; schedulerId: string }, nowMs: number): Verdict => {
  const fence = fencedBy(control, own, nowMs);
  if (fence !== undefined) return { kind: 'refuse', why: fence };
  const mark = control.marks.get(own.n);
  if (mark === undefined || mark.visibleAtMs > nowMs) return { kind: 'wait' };
  if (mark.schedulerId !== own.schedulerId)
    return { kind: 'refuse', why: `the release mark of attempt ${own.n} names ${mark.schedulerId}, not ${own.schedulerId}` };
  const claim = control.claims.get(runKey(own.n, own.run));
  if (claim !== undefined) return { kind: 'refuse', why: `run ${runKey(own.n, own.run)} was claimed by ${claim.text}` };
  return { kind: 'go' };
};

/** Why a run of this attempt must not go on, as its wrapper finds it; undefined: nothing forbids it. */
export const fencedBy = (control: Control, own: { n: number; run: number }, nowMs: number): string | undefined => {
  if (control.stop && control.stop.visibleAtMs <= nowMs) return 'a stop mark exists';
  for (const mark of control.marks.values())
    if (mark.n > own.n && mark.visibleAtMs <= nowMs) return `a release mark of attempt ${mark.n} exists`;
  // A run that was put back in its queue while its processes lived on: its successor's claim is as good as a later mark.
  for (const claim of control.claims.values())
    if (claim.n === own.n && claim.run > own.run && claim.visibleAtMs <= nowMs) return `run ${runKey(claim.n, claim.run)} has begun`;
  return undefined;
};

/** What this run resumes from: its plan's point for run 0, else resolved now from the points fixed so far (P6.2, P8.2). */
export const baseFor = (control: Control, n: number, run: number, planned: Point): Point => {
  if (run === 0) return planned;
  const earlier: Fixed[] = control.bases.filter((base) => base.n === n && base.run < run).map(fixedByBase);
  return latest(lastFixed([fixedByPlan(n, planned), ...earlier]), publicationsOf(control));
};

export const publicationsOf = (control: Control): Publication[] =>
  [...control.pub.values()].map(({ epoch, step, path }) => ({ epoch, step, path }));

/** False: already there. */
export const announce = (control: Control, publication: Publication, by: { schedulerId: string; atMs: number }): boolean => {
  const name = formatMarker(publication);
  if (control.pub.has(name)) return false;
  control.pub.set(name, { ...publication, ...by });
  return true;
};

export const basesOfAttempt = (control: Control, n: number): Map<number, Point> =>
  new Map(control.bases.filter((base) => base.n === n).map((base) => [base.run, base.base]));
