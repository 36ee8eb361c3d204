/**
 * A whole dispatch with one memory cluster and as many jobs as a test wants, in virtual time; what may be judged is the cluster's
 * record, the jobs' records, and every connection that was made, with how many were open beside it.
 */
import { joinCluster } from '../../lib/app/cluster/join.ts';
import { clusterView } from '../../lib/app/cluster/load.ts';
import { loadView } from '../../lib/app/load.ts';
import { planJob } from '../../lib/app/plan-job.ts';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { statusOf } from '../../lib/app/status.ts';
import { submitJob } from '../../lib/app/submit-job.ts';
import { adapter as memoryAdapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster, type World } from '../../lib/cluster/memory/world.ts';
import type { Adapter, Session } from '../../lib/cluster/port.ts';
import type { ClusterCommit, ClusterEvent, ClusterEventOf, ClusterEventType } from '../../lib/job/cluster-event.ts';
import type { ClusterView } from '../../lib/job/cluster-view.ts';
import { fold, type View } from '../../lib/job/view.ts';
import { type Clock, type VirtualClock, virtualClock } from '../../lib/local/clock.ts';
import { createSystem, type System } from '../../lib/local/system.ts';
import { createMemoryStore, type MemoryStore } from '../../lib/record/memory-store.ts';

export const START_MS = Date.UTC(2030, 0, 1);
export const CLUSTER = 'lab';
export const LOGIN = 'default';
export const TAG = 'c1zs';
export const HOUR = 3600;

export interface Connections {
  readonly total: number;
  readonly most: number;
  readonly open: number;
}

/** The adapter, with every connection counted while it is open. */
export const counting = (adapter: Adapter): { readonly adapter: Adapter; readonly connections: () => Connections } => {
  const seen = { total: 0, most: 0, open: 0 };
  return {
    connections: () => ({ ...seen }),
    adapter: {
      ...adapter,
      connect: async (login) => {
        seen.total += 1;
        const session: Session = await adapter.connect(login);
        seen.open += 1;
        seen.most = Math.max(seen.most, seen.open);
        return {
          ...session,
          close: async () => {
            seen.open -= 1;
            await session.close();
          },
        };
      },
    },
  };
};

/** Numbers in [0, 1), the same in every run. */
export const numbers = (seed: number) => {
  let last = seed;
  return (): number => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
};

export interface Given {
  readonly pollEverySeconds?: number;
  readonly configuration?: Partial<ClusterConfiguration>;
  /** Beside the default one. */
  readonly login?: string;
  readonly wrap?: (adapter: Adapter, clock: Clock) => Adapter;
}

export interface Cluster {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly store: MemoryStore;
  readonly system: System;
  readonly ports: Ports;
  readonly connections: () => Connections;
  /** Jobs by this script, submitted at once. */
  submit(count: number, script?: readonly unknown[], more?: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
  /** Of which the plan’s refusals are overlooked. */
  submitUnplanned(count: number, script: readonly unknown[]): Promise<readonly string[]>;
  advance(seconds: number): Promise<void>;
  view(): Promise<ClusterView>;
  job(id: string): Promise<View>;
  /** What a reader of the job is told. */
  told(id: string): Promise<{ readonly state: string; readonly why: string; readonly clusterState?: string }>;
  commits(): Promise<readonly ClusterCommit[]>;
  all<T extends ClusterEventType>(type: T): Promise<readonly ClusterEventOf<T>[]>;
}

export const spec = (name: string, script: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): unknown => ({
  name,
  cluster: CLUSTER,
  resources: { nodes: 1, tasksPerNode: 1, memoryPerNode: '1Gi' },
  program: { command: ['train'] },
  timeLimit: '20h',
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 2 } },
  extensions: { memory: { script } },
  ...more,
});

/** `anyway`: what the plan refuses is submitted nevertheless, as if it had been planned earlier. */
export const submitMany = (ports: Ports, specs: readonly unknown[], anyway = false): Promise<readonly string[]> =>
  Promise.all(
    specs.map(async (one, i) => {
      const planned = await planJob(ports, one);
      if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
      if (planned.plan.refusals.length > 0 && !anyway) throw new Error(JSON.stringify(planned.plan.refusals));
      const key = `${i}-${ports.random()}`;
      const { plan, login } = planned;
      const born = await submitJob(ports, { spec: planned.spec, plan, principal: 'ada', project: 'p', login, key, payloadHash: key });
      if (born.kind !== 'submitted') throw new Error(born.kind);
      return born.view.job;
    }),
  );

export const configurationOf = (adapter: Adapter, more: Partial<ClusterConfiguration> = {}): ClusterConfiguration => ({
  ...{ id: CLUSTER, adapter, pollEverySeconds: 60, landingBoundSeconds: 90, readOnly: false, logins: [{ id: LOGIN, user: LOGIN }] },
  ...more,
});

export const systemOf = (clock: Clock, store: MemoryStore, configuration: ClusterConfiguration, random = numbers(1)): System =>
  createSystem({ store, clusters: [configuration], tag: TAG, clock, random, log: () => undefined });

const told = (job: View, lab: ClusterView) => joinCluster(statusOf(job), lab, job.login);

export const cluster = async (given: Given = {}): Promise<Cluster> => {
  const clock = virtualClock(START_MS);
  const world = createMemoryCluster({ shape: 'slurm', clock, random: numbers(7) });
  const plain = memoryAdapter(world, { tag: TAG, cluster: CLUSTER });
  const { adapter, connections } = counting(given.wrap ? given.wrap(plain, clock) : plain);
  const store = createMemoryStore();
  const pace = given.pollEverySeconds === undefined ? {} : { pollEverySeconds: given.pollEverySeconds };
  const logins = [LOGIN, ...(given.login === undefined ? [] : [given.login])].map((id) => ({ id, user: id }));
  const system = systemOf(clock, store, configurationOf(adapter, { ...pace, logins, ...given.configuration }));
  const { ports } = system;
  const starting = system.start();
  await clock.settle();
  await starting;
  const commits = async () => (await store.readCluster<ClusterEvent>(CLUSTER)) as readonly ClusterCommit[];
  const job = async (id: string): Promise<View> => (await loadView(store, id)) as View;
  return {
    ...{ clock, world, store, system, ports, connections, commits, job },
    submitUnplanned: (count, script) =>
      submitMany(
        ports,
        Array.from({ length: count }, (_, i) => spec(`later${i}`, script)),
        true,
      ),
    submit: async (count, script = [], more = {}) => {
      const submitting = submitMany(
        ports,
        Array.from({ length: count }, (_, i) => spec(`train${i}`, script, more)),
      );
      let waits = true;
      const settled = submitting.finally(() => {
        waits = false;
      });
      settled.catch(() => undefined);
      // A plan may wait for a connection slot: its time has to pass.
      while (waits) await clock.advance(100);
      return settled;
    },
    advance: (seconds) => clock.advance(seconds * 1000),
    view: () => clusterView(store, CLUSTER),
    told: async (id) => told(await job(id), await clusterView(store, CLUSTER)),
    all: async <T extends ClusterEventType>(type: T) =>
      (await commits()).flatMap(({ events }) => events.filter((event): event is ClusterEventOf<T> => event.type === type)),
  };
};

/** The log of a job from a version on: what was committed while something lasted. */
export const since = async (store: MemoryStore, job: string, version: number): Promise<readonly string[]> =>
  (await store.read(job, version)).flatMap(({ events }) => events.map((event) => event.type));

export const folded = async (store: MemoryStore, job: string): Promise<View> => fold(await store.read(job)) as View;
