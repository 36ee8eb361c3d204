/**
 * A world: jobs, supervisors, pollers, people, strangers and a cluster, drawn from one seed, run until faults are over and everything
 * has come to rest, and judged after every step.
 */
import { Cast, RECONCILE_MS } from './cast.ts';
import { Judge } from './judge.ts';
import { judgeNeighbours } from './neighbours.ts';
import { forbid } from './purity.ts';
import { isAtRest, judgeRest, type Resting, whatIsBroken } from './rest.ts';
import { createStage, START_MS, type Stage, type WorldOptions } from './stage.ts';
import type { Broken } from './verdict.ts';

export type { WorldOptions } from './stage.ts';

export interface Ran {
  readonly seed: number;
  readonly steps: number;
  readonly virtualSeconds: number;
  readonly faults: ReadonlyMap<string, number>;
  /** What was reached, by kind: `step …`, `event …`, `cause …`, `question …`. */
  readonly reached: ReadonlyMap<string, number>;
  readonly broken?: { readonly invariant: Broken['invariant']; readonly says: string; readonly step: number };
  readonly trace: readonly string[];
  /** Record and ground truth, when it was stopped or broke with a trace. */
  readonly dump?: unknown;
}

/** After faults are over: how long a world may take to come to rest, and how many steps. */
const REST_MS = 8 * 3_600_000;
const REST_STEPS = 60_000;
/** Once jobs rest: how long heads, wakes and supervisors may take; a supervisor that failed often is replaced within the hour. */
const REPAIR_MS = 75 * 60_000;
const LOOK_MS = 20_000;
/** Sweeps and reconcile come round, or rest would be judged before they could repair anything. */
const ROUND_MS = RECONCILE_MS + 60_000;

export const runWorld = async (options: WorldOptions): Promise<Ran> => {
  let stage: Stage | undefined;
  const allow = forbid(() => stage?.kernel.nowMs ?? START_MS);
  try {
    stage = createStage(options);
    const judge = new Judge(stage);
    const cast = new Cast(stage, judge);
    await play(stage, judge, cast);
    return ranOf(stage, judge);
  } finally {
    allow();
  }
};

const play = async (stage: Stage, judge: Judge, cast: Cast): Promise<void> => {
  const { kernel, climate } = stage;
  try {
    const neighbours = await cast.enter();
    await goOn(stage, judge, () => kernel.nowMs < START_MS + climate.troubledMs);
    cast.calmDown();
    await comeToRest(stage, judge, cast);
    if (isStopped(stage, judge)) return;
    judgeRest(restingOf(stage, judge, cast));
    judgeNeighbours(stage, neighbours);
  } catch (error) {
    judge.breaks(error);
  } finally {
    cast.engine.close();
  }
};

const isStopped = ({ kernel, options }: Stage, judge: Judge): boolean =>
  judge.broken !== undefined || kernel.step >= (options.stopAt ?? Number.POSITIVE_INFINITY);

const goOn = async (stage: Stage, judge: Judge, goesOn: () => boolean): Promise<void> => {
  const due = (): void => judge.due();
  while (!isStopped(stage, judge) && goesOn()) {
    if (!(await stage.kernel.advance(due))) return;
    judge.look();
  }
};

/** No fault any more: within a bound every job has ended or told a person, and nothing of ours is left over. */
const comeToRest = async (stage: Stage, judge: Judge, cast: Cast): Promise<void> => {
  const { kernel } = stage;
  const [lastMs, lastStep] = [kernel.nowMs + REST_MS, kernel.step + REST_STEPS];
  const inTime = (): boolean => kernel.nowMs < lastMs && kernel.step < lastStep;
  const rests = (): boolean => isAtRest(restingOf(stage, judge, cast));
  /** Asks now and then, and between processes; not before `least`, and for no longer than `most`. */
  const until = async (least: number, most: number, holds: () => boolean): Promise<void> => {
    let nextLook = kernel.nowMs + least;
    const last = nextLook + most;
    await goOn(stage, judge, () => {
      if (!inTime() || kernel.nowMs > last) return false;
      if (kernel.nowMs < nextLook || kernel.live.size > 0) return true;
      nextLook = kernel.nowMs + LOOK_MS;
      return !holds();
    });
  };
  await until(ROUND_MS, REST_MS, rests);
  // At least once more round, so that what came to rest last is swept; a question that expires meanwhile begins it all anew.
  do {
    await until(0, REST_MS, rests);
    await until(ROUND_MS, REPAIR_MS, () => whatIsBroken(restingOf(stage, judge, cast)) === undefined);
  } while (!isStopped(stage, judge) && inTime() && !rests());
};

const restingOf = ({ store, cluster, tag, kernel }: Stage, judge: Judge, cast: Cast): Resting => ({
  ...{ store, tag, cluster: cluster.state, now: kernel.nowMs, views: judge.views() },
  supervised: (job) => cast.engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some(({ name }) => name.startsWith(`${job}-`)),
});

const ranOf = ({ kernel, options, trace, shape, cluster }: Stage, judge: Judge): Ran => {
  const { broken } = judge;
  const dumps = options.trace && (broken !== undefined || options.stopAt !== undefined);
  return {
    seed: options.seed,
    steps: kernel.step,
    virtualSeconds: Math.round((kernel.nowMs - START_MS) / 1000),
    faults: kernel.met,
    reached: judge.reached,
    ...(broken ? { broken: { invariant: broken.invariant, says: broken.message, step: judge.brokenAt } } : {}),
    trace,
    ...(dumps ? { dump: { shape, views: judge.views(), truth: cluster.truth() } } : {}),
  };
};
