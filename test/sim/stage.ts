/**
 * The stage of one world: everything that is drawn before anyone enters, and outlives every process: the climate, the cluster, the
 * record, the clock.
 */
import { type World as Cluster, createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import { newTag } from '../../lib/job/identity.ts';
import { createMemoryStore, type MemoryStore } from '../../lib/record/memory-store.ts';
import { type Climate, climateOf } from './climate.ts';
import type { Disorder } from './cluster.ts';
import type { Shape } from './draw.ts';
import { Kernel } from './kernel.ts';
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
}

export interface Stage {
  readonly options: WorldOptions;
  readonly random: Random;
  readonly climate: Climate;
  readonly kernel: Kernel;
  readonly trace: string[];
  readonly shape: Shape;
  readonly cluster: Cluster;
  readonly store: MemoryStore;
  readonly tag: string;
  readonly pollSeconds: number;
  readonly disorder: Disorder;
  /** Ids of objects that strangers made under our identity. */
  readonly copies: Set<string>;
}

export const START_MS = Date.UTC(2026, 0, 1);
export const CLUSTER = 'c';
export const LOGIN = 'l';

export const createStage = (options: WorldOptions): Stage => {
  const random = randomOf(options.seed);
  const climate = climateOf(random, options.without);
  const trace: string[] = [];
  const kernel = new Kernel({ startMs: START_MS, random, climate, ...(options.trace ? { trace } : {}) });
  const shape = random.pick(['slurm', 'slurm', 'kubernetes'] as const);
  return {
    ...{ options, random, climate, kernel, trace, shape },
    cluster: drawCluster(random, shape, kernel),
    store: createMemoryStore({ pageItems: random.pick([1, 1000]) }),
    tag: newTag(random.next),
    pollSeconds: random.pick([10, 30, 60, 60]),
    disorder: { controllerDown: false },
    copies: new Set(),
  };
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
