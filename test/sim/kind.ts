/** Kinds of worlds: what is drawn differently where a world is to be long, or strange, or shared. */
import type { Spec } from '../../lib/job/spec.ts';
import type { Climate } from './climate.ts';
import { drawSpec, type Shape } from './draw.ts';
import type { KindName } from './kind-name.ts';
import type { Habits } from './people.ts';
import type { Random } from './random.ts';

type DrawSpec = (random: Random, name: string, cluster: string, shape: Shape, atMs: number) => Spec;

export interface Kind {
  readonly jobs: readonly number[];
  readonly submitWithinMs: readonly number[];
  readonly pollSeconds: readonly number[];
  readonly drawSpec: DrawSpec;
  readonly climate: (drawn: Climate, random: Random) => Climate;
  readonly habits: (random: Random) => Habits;
  /** Between two doings of nature, on average. */
  readonly tickMs: number;
  /** Deployments on the cluster. */
  readonly deployments: (random: Random) => number;
  /** Set: after so long faults are over as soon as every job has ended. */
  readonly leastMs?: number;
  /** Once faults are over: how many steps a world may take to come to rest. */
  readonly restSteps: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const REST_STEPS = 120_000;

const default_: Kind = {
  jobs: [1, 1, 2, 2, 3, 4],
  submitWithinMs: [1000, 5 * MINUTE_MS],
  pollSeconds: [10, 30, 60, 60],
  drawSpec,
  climate: (drawn) => drawn,
  habits: (random) => ({
    cancels: random.pick([0, 0, 0.01, 0.05]),
    answers: random.pick([0, 0.2, 0.5]),
    reads: random.pick([0, 0.01, 0.05]),
    reports: random.pick([0, 0, 0.5, 1]),
    collects: random.pick([0, 0.01, 0.05]),
    everyMs: random.pick([20_000, 120_000]),
  }),
  tickMs: 20_000,
  deployments: (random) => (random.chance(0.03) ? 2 : 1),
  restSteps: REST_STEPS,
};

/** Of a job that is launched again and again: short runs, none of which is the last. */
const OFTEN = 300;
const drawOften: DrawSpec = (random, name, cluster, shape, atMs) => {
  const drawn = drawSpec(random, name, cluster, shape, atMs);
  const { deadline: _, ...spec } = drawn;
  const backoff = { initialSeconds: 0, factor: 1, maxSeconds: 1 };
  const run = () => ({
    queueSeconds: random.between(0, 20),
    program: {
      runsSeconds: random.between(1, 90),
      publishes: random.chance(0.5) ? [{ atSeconds: 1, step: random.between(1, 5) }] : [],
      ends: random.pick(['preempted', 'node_lost', { exit: 1 }, { node_lost: { survives: true, survivesSeconds: 30 } }]),
    },
  });
  return {
    ...spec,
    checkpoint: { required: false },
    policy: {
      rules: [{ on: ['any', 'people'], do: { relaunch: { max: 1000, backoff, from: 'checkpoint' } } }],
      unmatched: 'escalate',
      limits: { attempts: OFTEN },
    },
    extensions: { memory: { script: Array.from({ length: OFTEN }, run) } },
  };
};

/** Of a job that lasts: its runs take days or weeks, and so do its waits. */
const drawLasting: DrawSpec = (random, name, cluster, shape, atMs) => {
  const drawn = drawSpec(random, name, cluster, shape, atMs);
  const { deadline: _, ...spec } = drawn;
  const run = () => ({
    queueSeconds: random.between(0, 5) * 86_400,
    program: {
      runsSeconds: random.between(1, random.pick([5, 60, 400])) * 86_400,
      publishes: [{ atSeconds: 3600, step: 10 }],
      ends: random.pick(['completed', 'preempted', 'node_lost', { exit: 1 }, 'hangs'] as const),
    },
  });
  const { wallClockSeconds: __, stalledAfterSeconds: ___, ...limits } = spec.policy.limits;
  return {
    ...spec,
    timeLimitSeconds: random.pick([7, 30, 380]) * 86_400,
    patienceSeconds: 30 * 86_400,
    policy: { ...spec.policy, limits },
    extensions: { memory: { script: Array.from({ length: 6 }, run) } },
  };
};

/** Rarer by that much: the same number of faults over a longer time. */
const thinned = (climate: Climate, by: number): Climate['faults'] =>
  Object.fromEntries(Object.entries(climate.faults).map(([kind, chance]) => [kind, chance / by])) as Climate['faults'];

export const KINDS: Readonly<Record<KindName, Kind>> = {
  default: default_,
  two: { ...default_, deployments: () => 2 },
  attempts: {
    ...default_,
    jobs: [1],
    submitWithinMs: [1000],
    pollSeconds: [10],
    drawSpec: drawOften,
    climate: (drawn) => ({ ...drawn, faults: thinned(drawn, 4), troubledMs: 4 * DAY_MS }),
    habits: () => ({ cancels: 0, answers: 0.1, reads: 0.01, reports: 0.5, collects: 0.02, everyMs: 20 * MINUTE_MS }),
    deployments: () => 1,
    leastMs: 0,
    restSteps: 1_000_000,
  },
  year: {
    ...default_,
    jobs: [4, 6, 8],
    submitWithinMs: [100 * DAY_MS],
    pollSeconds: [1800],
    drawSpec: drawLasting,
    climate: (drawn) => ({ ...drawn, troubledMs: 600 * DAY_MS }),
    tickMs: 3 * 3_600_000,
    habits: () => ({ cancels: 0, answers: 0.02, reads: 0.01, reports: 0.5, collects: 0.01, everyMs: 2 * DAY_MS }),
    deployments: () => 1,
    leastMs: 366 * DAY_MS,
    restSteps: 2_000_000,
  },
};
