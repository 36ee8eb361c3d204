/**
 * S9, on the ground truth: what was announced stays announced, and every resume point is what the rule of protocols §8.2 gives for the
 * moment of its listing: complete, not late, never below a step already resumed from in its branch, and the greatest of what is left.
 * The rule is written down here once more, from the protocol and not from lib/job/point.ts.
 */
import type { Control } from '../../lib/cluster/memory/control.ts';
import type { Execution, State } from '../../lib/cluster/memory/state.ts';
import { jobKey } from '../../lib/cluster/memory/state.ts';
import type { EventOf, Point } from '../../lib/job/event.ts';
import { attemptOfEpoch, epochOf } from '../../lib/job/identity.ts';
import type { Published } from '../../lib/job/point.ts';
import type { View } from '../../lib/job/view.ts';
import type { Kernel } from './kernel.ts';
import { holds } from './verdict.ts';

interface Announced extends Point {
  readonly atMs: number;
}
/** A point and the epoch that it was fixed for; `scratch` begins a branch. */
interface Fix extends Point {
  readonly for: number;
  readonly atMs: number;
  /** Of when it tells: its listing, which its commit may follow much later. */
  readonly ofMs: number;
  readonly scratch: boolean;
}
interface Story {
  readonly fixes: Fix[];
  announced: readonly Announced[];
}

export interface PublicationCheck {
  /** Looks at everything new in `pub/`. */
  check(): void;
  begins(execution: Execution): void;
  /** Somebody's collecting has just removed what it was to remove of these. */
  collected(job: string, doomed: readonly Published[]): void;
  /** `listedAtMs`: when the planner listed `pub/`; undefined: it never did. */
  plans(before: View, event: EventOf<'attempt_planned'>, listedAtMs: number | undefined, nowMs: number): void;
}

export const createPublicationCheck = (cluster: State, tag: string, kernel: Kernel): PublicationCheck => {
  const stories = new Map<string, Story>();
  const storyOf = (job: string): Story => {
    const story = stories.get(job) ?? { fixes: [], announced: [] };
    stories.set(job, story);
    return story;
  };

  /** Of ours alone; a folder that exists goes on existing. */
  const folders: { readonly job: string; readonly control: Control }[] = [];
  let known = 0;

  const check = (): void => {
    if (cluster.controls.size > known) {
      for (const [key, control] of [...cluster.controls].slice(known)) {
        const job = key.slice(tag.length + 1);
        if (key === jobKey(tag, job)) folders.push({ job, control });
      }
      known = cluster.controls.size;
    }
    for (const { job, control } of folders)
      if (control.pub.size !== (stories.get(job)?.announced.length ?? 0)) announces(job, [...control.pub.values()]);
  };

  const announces = (job: string, now: readonly Announced[]): void => {
    const gone = storyOf(job).announced.find((one, i) => now[i] !== one);
    holds(!gone, 'S9', () => `publication ${gone?.path} of ${job} was removed or changed`);
    announced(job, now);
  };

  const announced = (job: string, now: readonly Announced[]): void => {
    const story = storyOf(job);
    const before = new Set(story.announced);
    for (const one of now) if (!before.has(one)) noteLate(kernel, story.fixes, one);
    story.announced = now;
  };

  return {
    check,
    begins({ job, n, run, base, epoch, startedAtMs, script }) {
      const { fixes } = storyOf(job);
      const planned = fixes.find((fix) => fix.for === epochOf(n, 0));
      const where = `run ${n}-${run} of ${job} resumes from ${said(base)}`;
      if (run === 0) holds(planned && isSame(planned, base), 'S9', () => `${where}, and was planned from ${planned && said(planned)}`);
      const before = fixes.filter((fix) => attemptOfEpoch(fix.for).n === n).map((fix) => fix.step);
      holds(base.step >= Math.max(-1, ...before), 'S9', () => `${where}, below what its attempt resumed from`);
      if (base.step >= 0 && script.ignoresResume) kernel.count('ignored_resume_point');
      fixes.push({ ...base, for: epoch, atMs: startedAtMs, ofMs: startedAtMs, scratch: false });
    },
    collected(job, doomed) {
      const control = cluster.controls.get(jobKey(tag, job));
      const story = storyOf(job);
      const left = new Set<Announced>(control?.pub.values() ?? []);
      // A node that answers and does not list its processes is believed, whatever runs on there.
      const isGone = ({ survivor, nodeSilent }: Execution): boolean => survivor && !nodeSilent;
      const begun = cluster.executionsByJob.get(jobKey(tag, job)) ?? [];
      // What is suspended, and may not go on, neither reads nor writes: continued, it looks first.
      const isOver = ({ n }: Execution): boolean =>
        control?.stop !== undefined || [...(control?.marks.keys() ?? [])].some((later) => later > n);
      const isStill = (one: Execution): boolean => one.pausedAtMs !== undefined && isOver(one);
      const live = begun.filter((one) => one.endedAtMs === undefined && !isGone(one) && !isStill(one));
      for (const gone of story.announced.filter((one) => !left.has(one))) {
        holds(
          doomed.some((one) => isSame(one, gone)),
          'S9',
          () => `${said(gone)} of ${job} was removed, and was not to be`,
        );
        judgeRemoved(gone, story, left, live, job);
        kernel.count('save_collected');
      }
      announced(job, [...left]);
    },
    plans(before, event, listedAtMs, nowMs) {
      const { job } = before;
      const { fixes, announced } = storyOf(job);
      const where = `attempt ${event.n} of ${job}, try ${event.try}, resumes from ${said(event.resume)}`;
      const earlier = fixes.find((fix) => fix.for === epochOf(event.n, 0));
      if (event.try > 1) {
        holds(earlier && isSame(earlier, event.resume), 'S9', () => `${where}, and its first try from ${earlier && said(earlier)}`);
        return;
      }
      const action = before.decision?.action;
      const scratch = event.n === 1 || (action?.kind === 'relaunch' && action.from === 'scratch');
      if (scratch) holds(event.resume.step === -1 && event.resume.path === '', 'S9', () => `${where}, and was to begin from scratch`);
      else {
        holds(listedAtMs !== undefined, 'S9', () => `${where}, and nobody had listed what there is`);
        judgeResume(event.resume, { fixes, announced }, listedAtMs, where);
      }
      fixes.push({ ...event.resume, for: epochOf(event.n, 0), atMs: nowMs, ofMs: listedAtMs ?? nowMs, scratch });
    },
  };
};

/** P8.4: what was removed is no run's, nobody's next point, and leaves two to fall back on, if there were two (as of now, not of the look). */
const judgeRemoved = (
  gone: Announced,
  { fixes, announced }: Story,
  left: ReadonlySet<Announced>,
  live: readonly Execution[],
  job: string,
): void => {
  const where = (): string => `${said(gone)} of ${job} was collected`;
  const reader = live.find((one) => isSame(one.base, gone));
  holds(!reader, 'S9', () => `${where()}, and run ${reader?.n}-${reader?.run} resumed from it and goes on`);
  holds(!live.some(({ epoch }) => epoch === gone.epoch), 'S9', () => `${where()}, and the run that saved it goes on`);
  const last = fixes.reduce<Fix | undefined>((most, fix) => (most && most.for > fix.for ? most : fix), undefined);
  holds(!last || !isSame(last, gone), 'S9', () => `${where()}, and was the last point fixed`);
  const eligible = announced.filter((one) => one.epoch >= (last?.for ?? 0) && one.step >= (last?.step ?? -1));
  const stay = eligible.filter((one) => left.has(one));
  holds(
    stay.length >= Math.min(2, eligible.length),
    'S9',
    () => `${where()}, and ${stay.length} of ${eligible.length} are left to resume from`,
  );
  const best = eligible.reduce<Announced | undefined>((most, one) => (most && isGreater(most, one) ? most : one), undefined);
  holds(best !== gone, 'S9', () => `${where()}, and is what would be resumed from`);
};

const judgeResume = (resume: Point, { fixes, announced }: Story, atMs: number, where: string): void => {
  // A run of an earlier epoch that a stranger began after the listing of a later point is no part of the branch: what it took was late.
  const isStale = (fix: Fix): boolean => fixes.some((other) => other.for > fix.for && other.ofMs < fix.atMs);
  const then = fixes.filter((fix) => fix.atMs <= atMs && !isStale(fix)).toSorted((a, b) => a.for - b.for);
  const branch = then.slice(then.findLastIndex((fix) => fix.scratch));
  const least = Math.max(-1, ...branch.map((fix) => fix.step));
  holds(resume.step >= least, 'S9', () => `${where}, below step ${least}, from which its branch has resumed`);
  const source = announced.find((one) => isSame(one, resume));
  holds(resume.step < 0 || (source && source.atMs <= atMs), 'S9', () => `${where}, which was not announced when it was picked`);
  const later = source && fixes.find((fix) => fix.for > source.epoch && fix.atMs < source.atMs);
  holds(!later, 'S9', () => `${where}, which was announced after a point was fixed for epoch ${later?.for}`);
  const last = then.at(-1)!;
  const eligible = announced.filter((one) => one.atMs <= atMs && one.epoch >= last.for && one.step >= last.step);
  const best = eligible.reduce<Point>((most, one) => (isGreater(one, most) ? one : most), last);
  holds(isSame(best, resume), 'S9', () => `${where}, and the greatest was ${said(best)}`);
};

/** Announced by an earlier epoch after a point was fixed for a later one. */
const noteLate = (kernel: Kernel, fixes: readonly Fix[], one: Announced): void => {
  const later = fixes.filter((fix) => fix.for > one.epoch && fix.atMs < one.atMs);
  if (later.length === 0) return;
  const { n } = attemptOfEpoch(one.epoch);
  kernel.count(later.some((fix) => attemptOfEpoch(fix.for).n === n) ? 'late_publication_of_the_same_attempt' : 'late_publication');
};

const isSame = (a: Point, b: Point): boolean => a.step === b.step && a.path === b.path && (a.step < 0 || a.epoch === b.epoch);
const isGreater = (a: Point, b: Point): boolean =>
  a.epoch !== b.epoch ? a.epoch > b.epoch : a.step !== b.step ? a.step > b.step : a.path > b.path;
const said = ({ epoch, step, path }: Point): string => (step < 0 ? 'nothing' : `${path} (epoch ${epoch}, step ${step})`);
