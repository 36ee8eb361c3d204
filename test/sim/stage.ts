/**
 * The stage of one world: everything that is drawn before anyone enters, and outlives every process: the climate, the cluster, the
 * record, the clock.
 */
import type { ClusterObject } from '../../lib/cluster/memory/state.ts';
import { type World as Cluster, createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import { newTag } from '../../lib/job/identity.ts';
import { createMemoryStore, type MemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { type Climate, climateOf } from './climate.ts';
import type { Disorder } from './cluster.ts';
import type { Shape } from './draw.ts';
import { Kernel, type Outside } from './kernel.ts';
import { KINDS, type Kind } from './kind.ts';
import type { KindName } from './kind-name.ts';
import type { Mutant } from './mutants.ts';
import { type Random, randomOf } from './random.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly trace?: boolean;
  /** Stops after this step, whatever was found. */
  readonly stopAt?: number;
  readonly mutant?: Mutant;
  /** Kinds of faults that do not happen. */
  readonly without?: ReadonlySet<string>;
  /** At most so many jobs. */
  readonly jobs?: number;
  /** Of which kind the world is (kind.ts); `default` unless told. */
  readonly kind?: KindName;
  /** Another record behind the port than the memory store, which follows it in step. */
  readonly twin?: (memory: MemoryStore, pageItems: number) => Twin;
}

export interface Twin {
  readonly store: RecordStore;
  readonly outside: Outside;
}

export interface Stage {
  readonly options: WorldOptions;
  readonly random: Random;
  readonly climate: Climate;
  readonly kernel: Kernel;
  readonly trace: string[];
  readonly shape: Shape;
  readonly cluster: Cluster;
  /** What the judge reads. */
  readonly store: MemoryStore;
  /** What everybody else does. */
  readonly record: RecordStore;
  /** How often anybody wrote to it. */
  readonly writes: { count: number };
  readonly kind: Kind;
  readonly tag: string;
  /** Of the cluster: each has its own polls, slots and jobs, and sees nothing of the other's. */
  readonly logins: readonly string[];
  readonly pollSeconds: number;
  readonly disorder: Disorder;
  /** Objects that strangers made under our identity. */
  readonly copies: Set<ClusterObject>;
  /** Objects that a stranger let begin, or begin anew: released or put back in its queue, without us. */
  readonly letIn: Set<ClusterObject>;
}

export const START_MS = Date.UTC(2026, 0, 1);
export const CLUSTER = 'c';
export const LOGIN = 'l';

export const createStage = (options: WorldOptions): Stage => {
  const random = randomOf(options.seed);
  const kind = KINDS[options.kind ?? 'default'];
  const climate = kind.climate(climateOf(options.seed, random, options.without), random);
  const trace: string[] = [];
  const pageItems = random.pick([1, 1000]);
  const store = createMemoryStore({ pageItems });
  const twin = options.twin?.(store, pageItems);
  const kernel = new Kernel({
    ...{ startMs: START_MS, seed: options.seed, random, climate },
    ...(options.trace ? { trace } : {}),
    ...(twin ? { outside: twin.outside } : {}),
  });
  const shape = random.pick(['slurm', 'slurm', 'kubernetes'] as const);
  const [cluster, tag] = [drawCluster(random, shape, kernel), newTag(random.next)];
  const logins = random.pick([[LOGIN], [LOGIN], [LOGIN, 'm']]);
  const pollSeconds = random.pick(kind.pollSeconds);
  return {
    ...{ options, random, climate, kernel, trace, shape, store, kind },
    record: twin?.store ?? store,
    writes: { count: 0 },
    ...{ cluster, tag, logins },
    pollSeconds: climate.sieged ? Math.max(...kind.pollSeconds) : pollSeconds,
    disorder: { controllerDown: false, refusesLogin: false, showsAnotherKey: false, lost: undefined, configuration: 1 },
    copies: new Set(),
    letIn: new Set(),
  };
};

/** A second deployment on the same cluster: another tag, another record, the same world around them. */
export const beside = (stage: Stage): Stage => {
  const store = createMemoryStore({ pageItems: stage.random.pick([1, 1000]) });
  return { ...stage, store, record: store, writes: { count: 0 }, tag: newTag(stage.random.next) };
};

const drawCluster = (random: Random, shape: Shape, kernel: Kernel): Cluster =>
  createMemoryCluster({
    shape,
    clock: kernel,
    random: random.next,
    clockOffsetMs: random.pick([0, 0, 3_600_000, -3_600_000, random.between(-60_000, 60_000)]),
    accounting: random.chance(0.6),
    accountingLagSeconds: random.pick([0, 0, 20, 400]),
    ...(random.chance(0.3) ? { purgeSeconds: random.between(120, 600) } : {}),
    markViewSeconds: random.pick([0, 0, 20, 55]),
    requeueDelaySeconds: random.pick([0, 30, 121]),
    credentialLifeSeconds: random.pick([60, 300]),
  });
