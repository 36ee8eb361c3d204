/**
 * Draw: random jobs for a world. What a user asks for, its policy, and what the cluster will do to it, attempt by attempt.
 */
import type { Answer } from '../../lib/job/event.ts';
import { type Policy, RULE_ANSWERS, type Rule } from '../../lib/job/policy.ts';
import type { Spec } from '../../lib/job/spec.ts';
import { drawHaunted, drawScript } from './draw-script.ts';
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

export const drawSpec = (random: Random, name: string, cluster: string, shape: Shape, nowMs: number): Spec => {
  const haunted = random.chance(HAUNTED);
  const policy = haunted ? PATIENT : drawPolicy(random, shape);
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
    extensions: { memory: { script: haunted ? drawHaunted(random) : drawScript(random, policy) } },
  };
};

/** Share of jobs whose first attempt lives on after its node was lost, and publishes, while its successors come to nothing. */
const HAUNTED = 0.05;
const PATIENT: Policy = {
  rules: [{ on: ['any'], do: { relaunch: { max: 5, backoff: { initialSeconds: 0, factor: 1, maxSeconds: 1 }, from: 'checkpoint' } } }],
  unmatched: 'stop',
  limits: { attempts: 5 },
};
