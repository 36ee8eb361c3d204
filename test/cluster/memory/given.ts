/** Givens of the memory cluster's tests: a spec with every default, a world on a clock that only the test moves. */
import { adapter } from '../../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster, type MemoryClusterOptions, type World } from '../../../lib/cluster/memory/world.ts';
import type { RenderOptions, Session, Submission, Target } from '../../../lib/cluster/port.ts';
import { NOTHING, type Point, type Receipt } from '../../../lib/job/event.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import type { Spec } from '../../../lib/job/spec.ts';

export const TAG = 'mem0';
export const LOGIN = 'alice';
export const JOB = '0123456789abcdef';

export const specOf = (overrides: Partial<Spec> = {}): Spec => ({
  name: 'train',
  cluster: 'memory',
  resources: { nodes: 2, tasksPerNode: 1, gpusPerNode: 0 },
  program: { command: ['train'], env: {}, secrets: {} },
  timeLimitSeconds: 3600,
  patienceSeconds: 3600,
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 3 } },
  labels: {},
  extensions: {},
  ...overrides,
});

/** A spec whose attempts 1, 2, … meet these items. */
export const scripted = (...attempts: unknown[]): Spec => specOf({ extensions: { memory: { script: attempts } } });

export interface Given {
  readonly world: World;
  readonly session: Session;
  at(seconds: number): void;
  readonly clock: { nowMs: number };
  submission(options?: SubmissionOptions): Promise<Submission>;
  launch(options?: SubmissionOptions): Promise<Receipt>;
  /** Launched and released under its mark. */
  released(options?: SubmissionOptions): Promise<Receipt>;
  target(receipt: Receipt, seen?: Partial<Target>): Target;
}

export interface SubmissionOptions {
  readonly job?: string;
  readonly n?: number;
  readonly spec?: Spec;
  readonly requeue?: RenderOptions['requeue'];
  readonly resume?: Point;
  readonly patienceSeconds?: number;
}

export const START_MS = Date.UTC(2030, 0, 1);

/** Numbers in [0, 1), the same for the same seed. */
export const seeded = (seed: number) => {
  let last = seed;
  return (): number => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
};

/** `at(s)` moves to s seconds after the start: tests speak of moments, not of waits. */
export const given = async (options: Partial<MemoryClusterOptions> = {}): Promise<Given> => {
  const clock = { nowMs: START_MS };
  const world = createMemoryCluster({ shape: 'slurm', clock: { now: () => clock.nowMs }, random: seeded(1), ...options });
  const session = await adapter(world, { tag: TAG }).connect(LOGIN);
  const probe = await session.probe(clock.nowMs);
  const submission = async (of: SubmissionOptions = {}): Promise<Submission> => {
    const { job = JOB, n = 1, spec = specOf(), requeue = 'never', resume = NOTHING(), patienceSeconds = 3600 } = of;
    const clusterNow = clock.nowMs + (options.clockOffsetMs ?? 0);
    return {
      ...{ job, n, spec, probe, requeue, resume, patienceSeconds, clusterNow },
      identity: identityOf(TAG, job, n),
      gate: session.gateFor(spec, probe, { requeue, patienceSeconds }, clusterNow),
      resources: { timeLimitSeconds: spec.timeLimitSeconds },
      excludeNodes: [],
      clusterBoundAt: clusterNow + 90_000,
    };
  };
  const launch = async (of: SubmissionOptions = {}): Promise<Receipt> => {
    const answer = await session.submit(await submission(of));
    if (answer.kind !== 'accepted') throw new Error(`submit answered ${JSON.stringify(answer)}`);
    return answer.receipt;
  };
  return {
    ...{ world, session, clock, submission, launch },
    at(seconds) {
      clock.nowMs = START_MS + seconds * 1000;
    },
    async released(of = {}) {
      const receipt = await launch(of);
      const { job = JOB, n = 1, requeue = 'never', spec = specOf(), patienceSeconds = 3600 } = of;
      await session.fence(job, { n, schedulerId: receipt.schedulerId });
      await session.release(receipt, session.gateFor(spec, probe, { requeue, patienceSeconds }, clock.nowMs));
      return receipt;
    },
    target: (receipt, seen = {}) => ({
      job: receipt.identity.slice(6, 22),
      n: Number(receipt.identity.slice(23)),
      receipt,
      released: true,
      requeueable: false,
      run: 0,
      seen: '',
      timeLimitSeconds: 3600,
      ...seen,
    }),
  };
};
