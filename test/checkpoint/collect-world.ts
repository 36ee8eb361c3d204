/**
 * The collector's part of the checkpoint model (design/model/ckpt.pml) with the real code: runs of one job, one after another, that
 * save, announce, go on after they were given up, or start over; and a collector at any moment. `play` says what went wrong.
 */
import { collect, type Doomed } from '../../lib/checkpoint/collect.ts';
import { overlap } from '../../lib/checkpoint/layout.ts';
import { resolve, standingOf } from '../../lib/checkpoint/resolve.ts';
import { NOTHING, type Point } from '../../lib/job/event.ts';
import { attemptOfEpoch, epochOf } from '../../lib/job/identity.ts';
import { byResolveOrder, type Fixed, fixedByBase, fixedByPlan, type Published } from '../../lib/job/point.ts';

export type Act =
  /** One of the runs, the current one first, saves its next step at one of a few places and announces it. */
  | { readonly kind: 'save'; readonly run: number; readonly place: number }
  /** The current run ends, or is believed to; another is given its point. */
  | {
      readonly kind: 'next';
      readonly how: 'relaunch' | 'requeue' | 'scratch';
      /** Its processes are gone; may live on and count as live; or live on although everybody believes them gone. */
      readonly before: 'gone' | 'unknown' | 'unseen';
      readonly startsOver: boolean;
    }
  | { readonly kind: 'collect'; readonly keep: number }
  /** A run reads its base. */
  | { readonly kind: 'load'; readonly run: number };

interface Run {
  readonly epoch: number;
  readonly base: Point;
  readonly branch: number;
  loaded: boolean;
  step: number;
}

/** Broken collectors, to show that the properties notice. */
type Mutant = 'counts all' | 'forgets the live';

export const play = (acts: readonly Act[], mutant?: Mutant): string[] => {
  const wrong: string[] = [];
  const points: Fixed[] = [fixedByPlan(1, NOTHING())];
  let listed: Published[] = [];
  const files = new Set<string>();
  const first: Run = { epoch: epochOf(1, 0), base: NOTHING(), branch: epochOf(1, 0), loaded: true, step: 0 };
  /** The current run first, then those that live on. */
  let running: Run[] = [first];
  let live = [first.epoch];
  /** Per branch: the greatest step of what a run announced while it was the current one; and the greatest base. */
  const high = new Map<number, number>();
  const floor = new Map<number, number>();

  const there = (point: Point): boolean => point.path === '' || files.has(point.path);
  const apply = (doomed: readonly Doomed[]): void => {
    const gone = new Set(doomed.map(({ publication }) => publication));
    listed = listed.filter((one) => !gone.has(one));
    for (const { publication, files: also } of doomed)
      if (also) for (const path of files) if (path === publication.path || path.startsWith(`${publication.path}/`)) files.delete(path);
  };

  for (const act of acts) {
    const current = running[0]!;
    switch (act.kind) {
      case 'load': {
        const run = running[act.run % running.length]!;
        if (!run.loaded && !there(run.base)) wrong.push(`C1: the base of ${run.epoch} was removed before it was read`);
        run.loaded = true;
        break;
      }
      case 'save': {
        const run = running[act.run % running.length]!;
        if (!run.loaded) break;
        run.step++;
        const { n, run: r } = attemptOfEpoch(run.epoch);
        const path = `exec/${n}-${r}/${['last', 'all', `all/s${run.step}`, `s${run.step}`][act.place]!}`;
        files.add(path);
        listed.push({ epoch: run.epoch, step: run.step, path });
        if (run === current && run.step >= run.base.step) high.set(run.branch, Math.max(high.get(run.branch) ?? -1, run.step));
        break;
      }
      case 'next': {
        const { n, run } = attemptOfEpoch(current.epoch);
        const epoch = act.how === 'requeue' ? epochOf(n, run + 1) : epochOf(n + 1, 0);
        const resume = act.how === 'scratch' ? NOTHING(epoch) : resolve(points, listed).resume!;
        const branch = act.how === 'scratch' ? epoch : current.branch;
        if (!there(resume)) wrong.push(`C1: ${resume.path} is to be resumed from and is gone`);
        if (resume.step < (floor.get(branch) ?? -1)) wrong.push(`C2: ${resume.step} is below a base of the branch`);
        if (resume.step < (high.get(branch) ?? -1)) wrong.push(`C4: ${resume.step} is below what was announced in time`);
        floor.set(branch, Math.max(floor.get(branch) ?? -1, resume.step));
        points.push(act.how === 'requeue' ? fixedByBase({ n, run: run + 1, base: resume }) : fixedByPlan(n + 1, resume));
        if (act.before !== 'unknown') live = live.filter((one) => one !== current.epoch);
        live.push(epoch);
        const next: Run = { epoch, base: resume, branch, loaded: false, step: act.startsOver ? 0 : Math.max(0, resume.step) };
        // A run that never read its base is not believed to live on: it had not begun.
        running = [next, ...(act.before === 'gone' || !current.loaded ? [] : [current]), ...running.slice(1)];
        break;
      }
      case 'collect': {
        const before = { resume: resolve(points, listed).resume, listed, files: new Set(files) };
        apply(decide(act.keep, { listed, points, live }, mutant));
        check(wrong, act.keep, before, { resume: resolve(points, listed).resume, listed, files }, { points, live });
      }
    }
  }
  return wrong;
};

const decide = (
  keep: number,
  { listed, points, live }: { listed: Published[]; points: Fixed[]; live: number[] },
  mutant?: Mutant,
): Doomed[] => {
  if (mutant === 'forgets the live') return collect({ listed, points, isLive: () => false, keep });
  if (mutant === 'counts all')
    return [...listed]
      .sort(byResolveOrder)
      .slice(0, -keep)
      .filter((one) => !live.includes(one.epoch))
      .map((publication) => ({ publication, files: true }));
  return collect({ listed, points, isLive: (epoch) => live.includes(epoch), keep });
};

interface State {
  readonly resume: Point | undefined;
  readonly listed: readonly Published[];
  readonly files: ReadonlySet<string>;
}

const check = (
  wrong: string[],
  keep: number,
  before: State,
  after: State,
  { points, live }: { points: readonly Fixed[]; live: readonly number[] },
): void => {
  const standing = standingOf(points);
  if (JSON.stringify(after.resume) !== JSON.stringify(before.resume)) wrong.push('what is resumed from changed');
  const lost = after.listed.filter(({ path }) => before.files.has(path) && !after.files.has(path));
  if (lost.length > 0) wrong.push(`a marker stays whose files are gone: ${lost[0]!.path}`);
  // Late ones and those behind are no saves to fall back on.
  const good = ({ listed }: State): number => listed.filter((one) => ['eligible', 'past'].includes(standing(one))).length;
  if (good(after) < Math.min(keep, good(before)))
    wrong.push(`${good(after)} good saves are left of ${good(before)}, ${keep} were to be kept`);
  for (const epoch of live) {
    const { n, run } = attemptOfEpoch(epoch);
    const touched = [...before.files].filter((path) => !after.files.has(path) && overlap(path, `exec/${n}-${run}`));
    if (touched.length > 0) wrong.push(`${touched[0]} is in the folder of a live run`);
  }
};
