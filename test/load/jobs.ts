/** Jobs: two hundred specs, every kind of life there is on a memory cluster, half of them on each shape. */
export type Kind = (typeof KINDS)[number];
export const KINDS = [
  'smooth',
  'preempted',
  'node lost',
  'survivor',
  'out of memory',
  'exit codes',
  'asks',
  'asks and expires',
  'rule asks',
  'cancelled',
  'requeued',
  'vanishes',
  'limit',
  'beyond the limit',
  'deferred',
  'refused',
  'deadline',
  'no room',
  'relaunch once',
  'scratch',
] as const;

export interface Wanted {
  readonly kind: Kind;
  readonly cluster: 'slurm' | 'kubernetes';
  /** As a user writes it. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Of the submission. */
  readonly key: string;
}

const AT_ONCE = { initial: '2s', factor: 2, max: '30s' };
const relaunch = (on: readonly string[], more: object = {}): object => ({
  on,
  do: { relaunch: { max: 3, backoff: AT_ONCE, from: 'checkpoint', ...more } },
});
/** Of what may befall any of them. */
const LOST = relaunch(['never_landed', 'launch_failed', 'gate_expired'], { max: 9 });

const run = (runsSeconds: number, ends: unknown, steps: readonly number[] = []): object => ({
  queueSeconds: 2,
  program: { runsSeconds, publishes: steps.map((step, i) => ({ atSeconds: ((i + 1) * runsSeconds) / (steps.length + 1), step })), ends },
});

interface Life {
  readonly script: readonly unknown[];
  readonly rules?: readonly unknown[];
  readonly unmatched?: string;
  readonly attempts?: number;
  readonly over?: object;
}

const LIVES: Readonly<Record<Kind, (draw: () => number, cluster: Wanted['cluster'], nowMs: number) => Life>> = {
  smooth: (draw) => ({ script: [run(5 + draw() * 60, 'completed', [10, 20])] }),
  preempted: (draw) => ({
    script: [run(30, 'preempted', [10, 20]), run(5 + draw() * 40, 'preempted', [5]), run(20, 'completed', [5])],
    rules: [relaunch(['preempted'])],
  }),
  'node lost': () => ({
    script: [run(40, { node_lost: { answers: true } }, [100]), run(20, 'completed', [1])],
    rules: [relaunch(['node_lost'], { excludeNodes: { max: 4 } })],
  }),
  // Its processes run on and publish: fenced by the next release, late from then on.
  survivor: () => ({
    script: [
      {
        program: {
          runsSeconds: 20,
          publishes: [
            { atSeconds: 10, step: 10 },
            { atSeconds: 25, step: 20 },
            { atSeconds: 400, step: 30 },
          ],
          ends: { node_lost: { survives: true, survivesSeconds: 500 } },
        },
      },
      run(30, 'completed', [7]),
    ],
    rules: [relaunch(['node_lost'])],
  }),
  'out of memory': () => ({
    script: [run(10, 'out_of_memory', [3]), run(10, { out_of_memory: { scope: 'step' } }), run(10, 'completed')],
    rules: [relaunch(['out_of_memory'], { scale: { memoryPerNode: { by: 1.5, upTo: '48Gi' } } })],
  }),
  'exit codes': () => ({
    script: [run(5, { exit: 3 }, [1]), run(5, { exit: 3 }), run(5, { exit: 4 })],
    rules: [
      { ...relaunch(['exited']), when: { exitCode: [3] } },
      { on: ['exited'], do: { stop: {} } },
    ],
  }),
  asks: (draw) => ({ script: [run(5 + draw() * 20, { exit: 1 }, [50]), run(10, 'completed', [1])], unmatched: 'escalate' }),
  'asks and expires': () => ({
    script: [run(5, { signal: 11 }), run(5, 'completed')],
    rules: [{ on: ['signalled'], do: { escalate: { options: ['stop', 'relaunch'], expiresAfter: '5m', onExpiry: 'relaunch' } } }],
  }),
  'rule asks': () => ({
    script: [run(5, { exit: 9 }, [8]), run(5, 'completed')],
    rules: [
      {
        on: ['application'],
        do: {
          escalate: { options: ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success'], expiresAfter: '2h', onExpiry: 'stop' },
        },
      },
    ],
  }),
  cancelled: () => ({ script: [run(60, 'preempted', [1]), run(600, 'hangs')], rules: [relaunch(['preempted'])], unmatched: 'escalate' }),
  // In place, by the scheduler itself or by the supervisor; only one shape knows it.
  requeued: (draw, cluster) => ({
    script: [[run(10, 'preempted', [5]), run(10, 'preempted', [5]), run(10, 'completed')], run(10, 'completed')],
    rules: [
      cluster === 'slurm'
        ? { on: ['preempted', 'launch_failed'], do: { requeue: { max: 2, by: draw() < 0.5 ? 'scheduler' : 'supervisor' } } }
        : relaunch(['preempted'], { max: 1 }),
    ],
  }),
  vanishes: () => ({ script: [run(10, 'vanishes', [4]), run(5, 'completed')], unmatched: 'escalate' }),
  limit: () => ({
    script: Array.from({ length: 5 }, () => run(4, { exit: 1 })),
    rules: [relaunch(['exited'], { max: 2 })],
  }),
  'beyond the limit': () => ({
    script: [...Array.from({ length: 2 }, () => run(4, { exit: 1 }, [2])), run(4, 'completed')],
    rules: [relaunch(['exited'])],
    unmatched: 'escalate',
    attempts: 2,
  }),
  deferred: () => ({
    script: [[{ notNow: { reason: 'QueueFull', retryAfterSeconds: 20 } }, { notNow: { reason: 'QueueFull' } }, run(5, 'completed')]],
  }),
  refused: () => ({ script: [{ refuse: { reason: 'BadConstraints', message: 'no such feature' } }] }),
  deadline: (_draw, _cluster, nowMs) => ({
    script: [run(3000, 'hangs', [1])],
    over: { deadline: new Date(nowMs + 400_000).toISOString() },
  }),
  'no room': () => ({ script: [{ queueSeconds: 'never' }], over: { patience: '3m' } }),
  'relaunch once': () => ({ script: [run(5, { exit: 1 }, [3]), run(5, { exit: 1 })], unmatched: 'relaunch_once' }),
  scratch: () => ({
    script: [run(10, 'preempted', [40]), run(10, 'preempted', [10]), run(10, 'completed', [1])],
    rules: [relaunch(['preempted'], { from: 'scratch' })],
  }),
};

export const wantedJobs = (many: number, draw: () => number, nowMs: number): readonly Wanted[] =>
  Array.from({ length: many }, (_, i) => {
    const kind = KINDS[i % KINDS.length]!;
    const cluster = Math.floor(i / KINDS.length) % 2 === 0 ? 'slurm' : 'kubernetes';
    const { script, rules = [], unmatched = 'stop', attempts = 8, over = {} } = LIVES[kind](draw, cluster, nowMs);
    const spec = {
      name: `${kind.replaceAll(' ', '-')}-${i}`,
      cluster,
      resources: { nodes: 2, tasksPerNode: 1, memoryPerNode: '16Gi' },
      program: { script: '#!/bin/sh\ntrain\n', env: { SEED: String(i) } },
      timeLimit: '1h',
      patience: '1h',
      checkpoint: {},
      policy: { rules: [...rules, LOST], unmatched, limits: { attempts } },
      labels: { kind: kind.replaceAll(' ', '-'), wave: String(i % 7) },
      extensions: { memory: { script } },
      ...over,
    };
    return { kind, cluster, spec: cluster === 'slurm' ? spec : { ...spec, program: COMMAND }, key: `load-${i}` };
  });

/** Kubernetes runs commands in an image. */
const COMMAND = { command: ['train'], image: 'registry.example/train:1' };
