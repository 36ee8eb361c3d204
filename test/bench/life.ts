/**
 * Lives on the memory cluster under virtual time: the whole system in one process, one job from its submission to its end. What
 * a life costs is then a count, the same on every machine.
 */
import { planJob } from '../../lib/app/plan-job.ts';
import { submitJob } from '../../lib/app/submit-job.ts';
import { storySpec } from '../../lib/cli/story.ts';
import { openCluster } from '../../lib/cluster/open.ts';
import type { Commit } from '../../lib/job/event.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import type { HistoryEvent } from '../../lib/local/engine/history.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { CLUSTER, TAG } from './quiet-jobs.ts';

export const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

export interface LifeOptions {
  /** What each attempt meets; undefined: the story's own. */
  readonly script?: readonly unknown[];
  readonly timeLimit?: string;
  readonly pollEverySeconds?: number;
  /** Virtual hours after which a life that has not ended is given up. */
  readonly mostHours?: number;
}

export interface Life {
  readonly commits: readonly Commit[];
  readonly history: readonly HistoryEvent[];
  readonly calls: ReadonlyMap<keyof RecordStore, number>;
}

export const live = async ({ script, timeLimit, pollEverySeconds = 1, mostHours = 1 }: LifeOptions = {}): Promise<Life> => {
  const clock = virtualClock(START_MS);
  const random = drawn(7);
  const { store, calls } = counting(createMemoryStore());
  const cluster = await openCluster(
    { id: CLUSTER, kind: 'memory', shape: 'slurm', readOnly: false, pollEverySeconds, landingBoundSeconds: 90 },
    { tag: TAG, now: clock.now, random },
  );
  const system = createSystem({ store, clusters: [cluster], tag: TAG, clock, random, log: quiet });
  const story = storySpec({ cluster: CLUSTER, kind: 'memory', steps: 1 });
  const planned = await planJob(system.ports, {
    ...story,
    // The default: a wait of the story's own hour would end within a long run, and cost a wake of its own.
    patience: '7d',
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(script === undefined ? {} : { extensions: { memory: { script } } }),
  });
  if (planned.kind === 'refused') throw new Error(`the life was refused: ${JSON.stringify(planned.refusals)}`);
  await system.start();
  const { spec, plan, login } = planned;
  const born = await submitJob(system.ports, {
    ...{ spec, plan, login, principal: 'ada', project: 'vision' },
    ...{ key: 'life', payloadHash: plan.digest },
  });
  if (born.kind !== 'submitted') throw new Error('the key of the life is taken');
  const execution = `${born.view.job}-1`;
  while (system.engine.describeExecution(execution).status === 'RUNNING') {
    if (clock.now() - START_MS > mostHours * HOUR_MS) throw new Error(`the life did not end within ${mostHours} h`);
    await clock.advance(pollEverySeconds * 1000);
  }
  system.stop();
  const counted = new Map(calls);
  return { commits: await store.read(born.view.job), history: system.engine.history(execution), calls: counted };
};

/** Errors alone are news here. */
const quiet = (level: string, message: string, fields: object): void => {
  if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
};

/** A linear congruence: the same life every time. */
export const drawn = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** The same store, and how often each of its calls was made. */
const counting = (store: RecordStore): { readonly store: RecordStore; readonly calls: ReadonlyMap<keyof RecordStore, number> } => {
  const calls = new Map<keyof RecordStore, number>();
  const counted = new Proxy(store, {
    get: (target, name: keyof RecordStore) => {
      const call = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return call.apply(target, args);
      };
    },
  });
  return { store: counted, calls };
};
