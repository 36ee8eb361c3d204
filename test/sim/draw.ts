/**
 * Draw: random jobs for a world. What a user asks for, its policy, and what the cluster will do to it, attempt by attempt.
 */
import type { Answer } from '../../lib/job/event.ts';
import { type Policy, RULE_ANSWERS, type Rule } from '../../lib/job/policy.ts';
import type { Spec } from '../../lib/job/spec.ts';
import type { Random } from './random.ts';

export type Shape = 'slurm' | 'kubernetes';

const CAUSES_AND_CLASSES = [
  'any',
  'infrastructure',
  'capacity',
  'limit',
  'application',
  'evidence',
  'people',
  'preempted',
  'node_lost',
  'out_of_memory',
  'exited',
  'time_limit',
  'never_landed',
  'rejected',
  'stalled',
  'cancelled_by_user',
] as const;

const SCHEDULERS_OWN = ['preempted', 'node_lost', 'boot_failed', 'launch_failed'] as const;

const some = <T>(random: Random, list: readonly T[], most: number): T[] => {
  const chosen = new Set<T>();
  const wanted = random.between(1, most);
  for (let i = 0; i < wanted; i++) chosen.add(random.pick(list));
  return [...chosen];
};

const drawRule = (random: Random, shape: Shape): Rule => {
  const on = some(random, CAUSES_AND_CLASSES, 2);
  const luck = random.next();
  if (luck < 0.2 && shape === 'slurm') {
    const by = random.pick(['scheduler', 'supervisor'] as const);
    // Whatever the scheduler requeues after must be its own, or the plan refuses (C026).
    const on = by === 'scheduler' ? SCHEDULERS_OWN : [random.pick(SCHEDULERS_OWN)];
    return { on: [...on], do: { requeue: { max: random.between(1, 3), by } } };
  }
  if (luck < 0.38) {
    const options: Answer[] = some(random, RULE_ANSWERS, 3);
    const onExpiry = random.pick(options) as (typeof RULE_ANSWERS)[number];
    return {
      on,
      do: { escalate: { options: options as (typeof RULE_ANSWERS)[number][], expiresAfterSeconds: random.between(60, 900), onExpiry } },
    };
  }
  if (luck < 0.45) return { on, do: { stop: {} } };
  return {
    on,
    ...(random.chance(0.1) ? { when: { exitCode: [1, 3] } } : {}),
    do: {
      relaunch: {
        max: random.between(1, 3),
        backoff: { initialSeconds: random.between(0, 90), factor: 2, maxSeconds: 300 },
        from: random.chance(0.8) ? 'checkpoint' : 'scratch',
        ...(random.chance(0.3) ? { excludeNodes: { max: 2 } } : {}),
        ...(random.chance(0.3) ? { scale: { memoryPerNode: { by: 2, upToMi: 4096 } } } : {}),
      },
    },
  };
};

const drawPolicy = (random: Random, shape: Shape): Policy => {
  const rules = Array.from({ length: random.between(0, 3) }, () => drawRule(random, shape));
  return {
    rules,
    unmatched: random.pick(['escalate', 'stop', 'relaunch_once'] as const),
    limits: {
      attempts: random.between(1, 5),
      ...(random.chance(0.1) ? { wallClockSeconds: random.between(900, 6000) } : {}),
      ...(random.chance(0.15) ? { attemptsWithoutProgress: random.between(1, 3) } : {}),
      ...(random.chance(0.2) ? { stalledAfterSeconds: random.between(120, 900) } : {}),
    },
  };
};

/** What a rule waits for, as a script says it; a policy whose rules are never met proves little. */
const ENDS: Readonly<Record<string, unknown>> = {
  preempted: 'preempted',
  node_lost: 'node_lost',
  out_of_memory: { out_of_memory: { scope: 'job' } },
  exited: { exit: 1 },
  time_limit: 'time_limit',
  boot_failed: 'boot_failed',
  launch_failed: 'launch_failed',
  infrastructure: 'evicted',
  application: { signal: 9 },
  evidence: 'vanishes',
};

const drawEnds = (random: Random, policy: Policy): unknown => {
  const asked = policy.rules.flatMap((rule) => rule.on).filter((on) => on in ENDS);
  if (asked.length > 0 && random.chance(0.4)) return ENDS[random.pick(asked)];
  const luck = random.next();
  if (luck < 0.3) return 'completed';
  if (luck < 0.42) return { node_lost: drawLoss(random) };
  return random.pick([
    'preempted',
    'preempted',
    'out_of_memory',
    { out_of_memory: { scope: 'job' } },
    { exit: random.between(1, 4) },
    { exit: 1 },
    { signal: 9 },
    'hangs',
    'hangs',
    'vanishes',
    'unrecognised',
    'evicted',
    'launch_failed',
    'boot_failed',
    'scheduler_failed',
    'time_limit',
  ]);
};

export const drawLoss = (random: Random) => ({
  survives: random.chance(0.5),
  answers: random.chance(0.3),
  ...(random.chance(0.5) ? { survivesSeconds: random.between(10, 900) } : {}),
});

/** A requeued run has no patience, so one that never starts would wait for ever, as it should (contract §4). */
const drawRun = (random: Random, policy: Policy, run: number) => {
  const runsSeconds = random.between(1, random.chance(0.2) ? 1500 : 240);
  const publishes = random.chance(0.5)
    ? Array.from({ length: random.between(1, 3) }, (_, i) => ({ atSeconds: Math.floor((runsSeconds * (i + 1)) / 4), step: (i + 1) * 10 }))
    : [];
  const pending = random.chance(0.08)
    ? {
        pending: {
          group: random.pick(['concurrency', 'budget', 'blocked', 'admitted', 'never', 'launch_failed'] as const),
          reason: 'Drawn',
        },
      }
    : {};
  return {
    queueSeconds: run === 0 && random.chance(0.03) ? 'never' : random.chance(0.5) ? 0 : random.between(1, 200),
    ...pending,
    startsSeconds: random.chance(0.3) ? random.between(1, 30) : 0,
    program: {
      runsSeconds,
      publishes,
      ends: drawEnds(random, policy),
      ...(random.chance(0.1) ? { ignoresResume: true } : {}),
      ...(random.chance(0.1) ? { silentAfterSeconds: random.between(0, 60) } : {}),
      endingSeconds: random.chance(0.2) ? random.between(1, 60) : 0,
    },
  };
};

const drawAttempt = (random: Random, policy: Policy) => {
  const tries = random.chance(0.12)
    ? [
        random.chance(0.4)
          ? { refuse: { reason: 'QOSMaxSubmitJobPerUserLimit', leavesRecord: random.chance(0.5) } }
          : { notNow: { reason: 'busy', retryAfterSeconds: random.between(1, 120) } },
      ]
    : [];
  return [...tries, ...Array.from({ length: random.between(1, 3) }, (_, run) => drawRun(random, policy, run))];
};

export const drawSpec = (random: Random, name: string, cluster: string, shape: Shape, nowMs: number): Spec => {
  const policy = drawPolicy(random, shape);
  return {
    name,
    cluster,
    resources: { nodes: random.between(1, 4), tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 1024 },
    program: { command: ['train'], image: 'train:1', env: {}, secrets: {} },
    timeLimitSeconds: random.between(60, 1500),
    ...(random.chance(0.08) ? { deadline: nowMs + random.between(300, 4000) * 1000 } : {}),
    patienceSeconds: random.between(300, 3000),
    checkpoint: { required: random.chance(0.1) },
    policy,
    labels: {},
    extensions: { memory: { script: Array.from({ length: random.between(1, 5) }, () => drawAttempt(random, policy)) } },
  };
};
