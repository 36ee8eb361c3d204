/**
 * A world: jobs, supervisors, pollers, people, strangers and a cluster, drawn from one seed, run until faults are over and everything
 * has come to rest, and judged after every step.
 */
import { Cast, RECONCILE_MS } from './cast.ts';
import type { Shape } from './draw.ts';
import { Judge } from './judge.ts';
import { judgeNeighbours, settleNeighbours } from './neighbours.ts';
import { forbid } from './purity.ts';
import { isAtRest, judgeRest, type Resting, whatIsBroken } from './rest.ts';
import { beside, createStage, START_MS, type Stage, type WorldOptions } from './stage.ts';
import type { Broken } from './verdict.ts';

export type { WorldOptions } from './stage.ts';

export interface Ran {
  readonly seed: number;
  readonly steps: number;
  readonly virtualSeconds: number;
  readonly shape: Shape;
  readonly faults: ReadonlyMap<string, number>;
  /** What was reached, by kind: `step …`, `event …`, `cause …`, `question …`, `answer …`, `notice …`, `route …`. */
  readonly reached: ReadonlyMap<string, number>;
  /** Of the longest history of an execution. */
  readonly mostEvents: number;
  readonly broken?: { readonly invariant: Broken['invariant']; readonly says: string; readonly step: number };
  readonly trace: readonly string[];
  /** Record and ground truth, when it was stopped or broke with a trace. */
  readonly dump?: unknown;
}

/** After faults are over: how long a world may take to come to rest. */
const REST_MS = 8 * 3_600_000;
/** Once jobs rest: how long heads, wakes and supervisors may take; a supervisor that failed often is replaced within the hour. */
const REPAIR_MS = 75 * 60_000;
const LOOK_MS = 20_000;
/** Sweeps and reconcile come round, or rest would be judged before they could repair anything. */
const ROUND_MS = RECONCILE_MS + 60_000;

/** One deployment of dispatch in the world: its record, its cast, and who judges it. */
interface Side {
  readonly stage: Stage;
  readonly judge: Judge;
  readonly cast: Cast;
}

export const runWorld = async (options: WorldOptions): Promise<Ran> => {
  let stage: Stage | undefined;
  const allow = forbid(() => stage?.kernel.nowMs ?? START_MS);
  const stackTraceLimit = Error.stackTraceLimit;
  // Worlds fail their calls by the hundred: what nobody reads is not worth writing down. A replay has a trace, and stacks.
  if (!options.trace) Error.stackTraceLimit = 1;
  try {
    stage = createStage(options);
    const sides = deploymentsOn(stage);
    await play(sides);
    return ranOf(sides);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    allow();
  }
};

const deploymentsOn = (stage: Stage): readonly [Side, ...Side[]] => {
  const side = (of: Stage): Side => {
    const judge = new Judge(of);
    return { stage: of, judge, cast: new Cast(of, judge) };
  };
  const others = Array.from({ length: stage.kind.deployments(stage.random) - 1 }, () => side(beside(stage)));
  const sides = [side(stage), ...others] as const;
  const byTag = new Map(sides.map((one) => [one.stage.tag, one.cast]));
  stage.cluster.faults.choose((call) => byTag.get(call.tag)?.chooses(call));
  return [sides[0], ...others];
};

const play = async (sides: readonly [Side, ...Side[]]): Promise<void> => {
  const [{ stage, judge }] = sides;
  const { kernel, climate } = stage;
  try {
    const neighbours = await settleNeighbours(stage);
    for (const [i, side] of sides.entries()) await side.cast.enter(i === 0);
    const { leastMs = Number.POSITIVE_INFINITY } = stage.kind;
    const isOver = (): boolean => kernel.nowMs >= START_MS + leastMs && isDone(sides);
    await goOn(sides, () => kernel.nowMs < START_MS + climate.troubledMs && !isOver());
    for (const side of sides) side.cast.calmDown();
    await comeToRest(sides);
    if (isStopped(sides)) return;
    for (const side of sides) judgeRest(restingOf(side));
    judgeNeighbours(stage, neighbours);
  } catch (error) {
    judge.breaks(error);
  } finally {
    for (const side of sides) side.cast.engine.close();
  }
};

/** Every job that was to come has come, and ended. */
const isDone = (sides: readonly Side[]): boolean =>
  sides.every(({ judge, cast }) => {
    const views = judge.views();
    return views.length >= cast.jobs && views.every((view) => view.ended);
  });

const isStopped = (sides: readonly [Side, ...Side[]]): boolean => {
  const [{ stage }] = sides;
  return sides.some((side) => side.judge.broken) || stage.kernel.step >= (stage.options.stopAt ?? Number.POSITIVE_INFINITY);
};

const goOn = async (sides: readonly [Side, ...Side[]], goesOn: () => boolean): Promise<void> => {
  const [{ stage }] = sides;
  const due = (): void => {
    for (const side of sides) side.judge.due();
  };
  while (!isStopped(sides) && goesOn()) {
    if (!(await stage.kernel.advance(due))) return;
    for (const side of sides) side.judge.look();
  }
};

/** No fault any more: within a bound every job has ended or told a person, and nothing of ours is left over. */
const comeToRest = async (sides: readonly [Side, ...Side[]]): Promise<void> => {
  const [{ stage }] = sides;
  const { kernel, kind } = stage;
  const [lastMs, lastStep] = [kernel.nowMs + REST_MS, kernel.step + kind.restSteps];
  const inTime = (): boolean => kernel.nowMs < lastMs && kernel.step < lastStep;
  const rests = (): boolean => sides.every((side) => isAtRest(restingOf(side)));
  const isWhole = (): boolean => sides.every((side) => whatIsBroken(restingOf(side)) === undefined);
  /** Asks now and then, and between processes; not before `least`, and for no longer than `most`. */
  const until = async (least: number, most: number, holds: () => boolean): Promise<void> => {
    let nextLook = kernel.nowMs + least;
    const last = nextLook + most;
    await goOn(sides, () => {
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
    await until(ROUND_MS, REPAIR_MS, isWhole);
  } while (!isStopped(sides) && inTime() && !rests());
};

const restingOf = ({ stage, judge, cast }: Side): Resting => {
  const { store, cluster, tag, kernel } = stage;
  return {
    ...{ store, tag, cluster: cluster.state, now: kernel.nowMs, views: judge.views(), births: cast.births },
    ...{ notices: judge.notices, clusterView: judge.clusterView() },
    isWaiting: (token) => cast.isWaiting(token),
    supervised: (job, generation) => {
      const running = cast.engine.listExecutions({ status: 'RUNNING', maxResults: 1000 });
      return running.some(({ name }) => (generation === undefined ? name.startsWith(`${job}-`) : name === `${job}-${generation}`));
    },
  };
};

const recordsOf = ({ stage }: Side): unknown[] => [...stage.store.dump().jobs].map(([job, { commits, head }]) => ({ job, head, commits }));

const ranOf = (sides: readonly [Side, ...Side[]]): Ran => {
  const [{ stage }] = sides;
  const { kernel, options, trace, shape, cluster } = stage;
  const judges = sides.map((side) => side.judge);
  const guilty = judges.find((judge) => judge.broken);
  const reached = new Map<string, number>();
  for (const judge of judges) for (const [what, count] of judge.reached) reached.set(what, (reached.get(what) ?? 0) + count);
  const dumps = options.trace && (guilty !== undefined || options.stopAt !== undefined);
  return {
    ...{ seed: options.seed, steps: kernel.step, shape, faults: kernel.met, reached, trace },
    virtualSeconds: Math.round((kernel.nowMs - START_MS) / 1000),
    mostEvents: Math.max(...judges.map((judge) => judge.mostEvents)),
    ...(guilty?.broken ? { broken: { invariant: guilty.broken.invariant, says: guilty.broken.message, step: guilty.brokenAt } } : {}),
    ...(dumps
      ? { dump: { shape, records: sides.flatMap(recordsOf), views: judges.flatMap((judge) => judge.views()), truth: cluster.truth() } }
      : {}),
  };
};
