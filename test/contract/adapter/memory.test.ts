/** The adapter contract on the memory cluster, in both shapes. Time is virtual: to wait is to move the clock. */
import { adapter } from '../../../lib/cluster/memory/adapter.ts';
import type { Shape } from '../../../lib/cluster/memory/state.ts';
import { createMemoryCluster, type World } from '../../../lib/cluster/memory/world.ts';
import { CAUSES, type Cause } from '../../../lib/job/cause.ts';
import { newJobId } from '../../../lib/job/identity.ts';
import { seeded, specOf } from '../../cluster/memory/given.ts';
import type { Attempt, Facts, Harness, Program, Provocation } from './harness.ts';
import { adapterContract } from './suite.ts';

const TAG = 'mem0';
const LOGIN = 'alice';

/** What each kind of program is in the words of a script. */
const PROGRAMS: Record<Program, unknown> = {
  quick: [{ program: { runsSeconds: 3 } }],
  publishes: Array.from({ length: 2 }, () => ({
    program: {
      runsSeconds: 6,
      publishes: [
        { atSeconds: 2, step: 5 },
        { atSeconds: 4, step: 10 },
      ],
    },
  })),
  long: [{ program: { runsSeconds: 3500 } }],
  waits: [{ queueSeconds: 'never', pending: { group: 'waiting', reason: 'Resources' } }],
};

const script = (program: unknown) => Array.from({ length: 4 }, () => program);

/** How each cause comes about. What needs more than a script is struck while it runs. */
const causeOf = (world: World, cause: Cause): Provocation => {
  const ending = (ends: unknown, more: Partial<Provocation> = {}): Provocation => ({
    spec: specOf({ extensions: { memory: { script: script([{ program: { runsSeconds: 2, ends } }]) } } }),
    ...more,
  });
  switch (cause) {
    case 'exited':
      return ending({ exit: 3 }, { detail: { code: 3 } });
    case 'signalled':
      return ending({ signal: 9 }, { detail: { signal: 9, maybe_oom: true } });
    case 'node_lost':
      return ending('node_lost', { detail: { failedNodes: ['n1'] } });
    case 'out_of_memory':
      return ending({ out_of_memory: { scope: 'step' } }, { detail: { scope: 'step' } });
    case 'launch_failed':
      return ending({ launch_failed: { stage: 'image' } }, { detail: { stage: 'image' }, ran: 'no' });
    case 'boot_failed':
      return ending('boot_failed', { ran: 'no' });
    case 'time_limit':
      return { spec: specOf({ timeLimitSeconds: 30, extensions: { memory: { script: script([{ program: { ends: 'hangs' } }]) } } }) };
    case 'preempted':
      return {
        spec: specOf({ extensions: { memory: { script: script(PROGRAMS.long) } } }),
        provoke: async ({ receipt }) => void world.preempt(receipt.schedulerId),
      };
    case 'cancelled_by_admin':
      return {
        spec: specOf({ extensions: { memory: { script: script(PROGRAMS.long) } } }),
        provoke: async ({ receipt }) => void world.foreign.cancel(receipt.schedulerId, 'admin'),
        detail: { uid: 'root' },
      };
    case 'rejected':
    case 'unsatisfiable':
      return { spec: specOf({ extensions: { memory: { script: script({ refuse: { cause, reason: 'BadConstraints' } }) } } }) };
    default:
      return ending(cause);
  }
};

const facts = (shape: Shape): Facts => ({
  supports: new Set([
    ...(shape === 'slurm'
      ? (['marks', 'landing_bound', 'second_object', 'gate_self_destructs', 'start_deadline', 'requeue_in_place'] as const)
      : (['create_by_name'] as const)),
    ...(['queued', 'foreign', 'not_now', 'excludes_nodes', 'output_bytes'] as const),
  ]),
  causes: (Object.keys(CAUSES) as Cause[]).filter((cause) => !NOT_SCRIPTED.includes(cause)),
  unexercised: {
    containers: 'programs are scripted',
    outcome_survives_purge: 'shown by test/cluster/memory',
    detects_child_out_of_memory: 'as scripted, like any scope',
  },
  timeoutMs: 10_000,
  open: async () => open(shape),
});

/** Said by dispatch itself, or never by this cluster. */
const NOT_SCRIPTED: readonly Cause[] = [
  ...([
    'revoked',
    'never_landed',
    'no_capacity',
    'gate_expired',
    'deadline',
    'budget',
    'stalled',
    'dependency_failed',
    'cancelled_by_dispatch',
  ] as const),
  ...(['cancelled_by_user', 'cancelled_by_unknown', 'vanished', 'contradictory'] as const),
];

const open = (shape: Shape): Harness => {
  let nowMs = Date.UTC(2030, 0, 1);
  const random = seeded(7);
  const world = createMemoryCluster({ shape, clock: { now: () => nowMs }, random, clockOffsetMs: 40_000, logins: [LOGIN] });
  const executionsOf = ({ job, n }: Attempt) => world.truth().executions.filter((execution) => execution.job === job && execution.n === n);
  const receiptOf = (id: string) => {
    const object = world.state.byId.get(id)!;
    return { cluster: 'memory', login: LOGIN, schedulerId: id, identity: object.name, submittedAt: object.clusterSubmittedAt };
  };
  return {
    adapter: adapter(world, { tag: TAG }),
    ...{ tag: TAG, cluster: 'memory', login: LOGIN },
    newJob: () => newJobId(nowMs, random),
    makeSpec: (program, overrides = {}) => specOf({ extensions: { memory: { script: script(PROGRAMS[program]) } }, ...overrides }),
    async advance(seconds) {
      nowMs += seconds * 1000;
    },
    async until(predicate, seconds) {
      for (let waited = 0; waited <= seconds; waited++) {
        if (await predicate()) return;
        nowMs += 1000;
      }
      throw new Error(`still not so after ${seconds} s`);
    },
    now: () => nowMs,
    cause: (kind) => causeOf(world, kind),
    busy: () => specOf({ extensions: { memory: { script: script([{ notNow: { reason: 'QueueFull' } }, {}]) } } }),
    environmentOf: async (attempt) => executionsOf(attempt).at(-1)?.environment,
    nodeOf: async (attempt) => executionsOf(attempt).at(-1)?.environment['DISPATCH_MASTER_ADDR'] ?? '',
    executionsOf: async (attempt) => executionsOf(attempt).length,
    others: {
      submit: async (name) => receiptOf(world.foreign.submit({ name, login: LOGIN, script: [{ program: { ends: 'hangs' } }] })!),
      submitAgain: async ({ receipt }) => {
        const id = world.foreign.submit({ name: receipt.identity, login: LOGIN, copyOf: receipt.schedulerId })!;
        world.foreign.release(id);
        return receiptOf(id);
      },
      isAlive: async ({ schedulerId }) => world.truth().objects.some(({ id, state }) => id === schedulerId && state !== 'ended'),
    },
    limits: { startSeconds: 5, endSeconds: 10, watchSeconds: 3000, gateSeconds: 60, expireSeconds: 5, requeueSeconds: 121 },
  };
};

adapterContract('memory cluster, slurm shape', facts('slurm'));
adapterContract('memory cluster, kubernetes shape', facts('kubernetes'));
