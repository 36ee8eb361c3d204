/** What a reconcile costs: reads that do not grow with the jobs that need nothing (protocols §2.4). */
import { expect, test } from 'vitest';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import { BATCH_LIMIT, type RecordStore } from '../../lib/record/port.ts';
import { aCommit, aJob, aMove, aSummary, aWake, HOUR, T0 } from '../contract/store/given.ts';

const JOBS = 2 * BATCH_LIMIT + 1;

/** The store, and how often each of its calls was made. */
const counted = (store: RecordStore): { readonly store: RecordStore; readonly calls: Record<string, number> } => {
  const calls: Record<string, number> = {};
  const entries = Object.entries(store).map(([name, call]) => [
    name,
    (...given: unknown[]) => {
      calls[name] = (calls[name] ?? 0) + 1;
      return (call as (...given: unknown[]) => unknown)(...given);
    },
  ]);
  return { store: Object.fromEntries(entries), calls };
};

const portsOf = (store: RecordStore, named: readonly string[], log: Ports['log'] = () => {}): Ports => ({
  store,
  supervisors: {
    start: () => Promise.reject(new Error('nobody is silent')),
    signal: () => Promise.reject(new Error('nothing is owed')),
  },
  clusters: new Map(named.map((id) => [id, { logins: [{ id: 'ml', user: 'svc-ml' }] } as unknown as ClusterConfiguration])),
  probeOf: async () => undefined,
  tag: 'aaaa',
  now: () => T0 + 10 * 60_000,
  random: () => 0.5,
  sleep: async () => {},
  log,
});

/** Waits beside a token that is good for an hour. */
const quiet = async (store: RecordStore, head: Parameters<typeof aJob>[2] = {}): Promise<string> => {
  const job = await aJob(store, 1, head);
  await store.append(aCommit(job, 1));
  await store.moveHead(job, aMove(1));
  await store.setNotified(job, 1);
  await store.park(job, '', aWake(`token-${job}`, T0, { until: T0 + HOUR }));
  return job;
};

test('P2.4: given jobs that wait, then two reads for each hundred of them and none for one alone', async () => {
  const { store, calls } = counted(createMemoryStore());
  for (let i = 0; i < JOBS; i++) await quiet(store);
  for (const name of Object.keys(calls)) delete calls[name];
  expect(await reconcile(portsOf(store, ['lumi']))).toEqual({
    ...{ jobs: JOBS, repaired: 0, restarted: 0, births: 0, owed: 0, stranded: 0 },
    ...{ questions: 0, oldestQuestionSeconds: 0, oldestHeadSeconds: 600, failing: 0 },
  });
  expect(calls).toEqual({ listOwed: 1, listUnended: 1, readHeads: 3, goingOn: 3, readCluster: 1 });
});

test('P7: given jobs of a cluster that the configuration no longer names, then one error names it, and they are counted', async () => {
  const store = createMemoryStore();
  for (let i = 0; i < 3; i++) await quiet(store);
  const lines: unknown[] = [];
  const log: Ports['log'] = (level, _, fields) => void lines.push({ level, ...fields });
  expect(await reconcile(portsOf(store, [], log))).toMatchObject({ jobs: 3, stranded: 3 });
  expect(lines).toEqual([{ level: 'error', jobs: 3, places: ['lumi'] }]);
});

test('P7: given jobs of a login that the configuration no longer names, then they are counted like those of a cluster', async () => {
  const store = createMemoryStore();
  await quiet(store, { summary: aSummary({ login: 'old' }) });
  await quiet(store);
  const lines: unknown[] = [];
  expect(await reconcile(portsOf(store, ['lumi'], (_, __, fields) => void lines.push(fields)))).toMatchObject({ jobs: 2, stranded: 1 });
  expect(lines).toEqual([{ jobs: 1, places: ['lumi/old'] }]);
});

/** A job beside whose token hours are left. */
const waiting = async (failures: number): Promise<{ readonly store: RecordStore; readonly job: string }> => {
  const store = createMemoryStore();
  const job = await quiet(store);
  for (let i = 1; i <= failures; i++) await store.raiseGeneration(job, i, T0);
  await store.park(
    job,
    '',
    aWake('token-long', T0 + failures, { until: T0 + 12 * HOUR, order: { generation: 1 + failures, enteredAt: T0, retry: 0 } }),
  );
  return { store, job };
};

const starting = (store: RecordStore): { readonly ports: Ports; readonly started: [string, number][] } => {
  const started: [string, number][] = [];
  const ports = portsOf(store, ['lumi']);
  const start: Ports['supervisors']['start'] = async (job, generation) => {
    started.push([job, generation]);
    return 'started';
  };
  return { ports: { ...ports, supervisors: { ...ports.supervisors, start } }, started };
};

test('P2.8: given an execution that ended badly beside a promise hours ahead, then the next generation starts at once, for that job alone', async () => {
  const { store, job } = await waiting(0);
  const { ports, started } = starting(store);
  expect(await reconcile(ports)).toMatchObject({ jobs: 1, restarted: 0 });
  expect(await reconcile(ports, { ended: { job, generation: 1 } })).toMatchObject({ jobs: 1, restarted: 1 });
  expect(started).toEqual([[job, 2]]);
});

test.each([
  ['a predecessor failed, too: it waits its turn', 1, 2],
  ['it is not the generation that supervises now', 0, 7],
])('P2.8: given an execution that ended badly, and %s, then nothing starts at once', async (_, failures, generation) => {
  const { store, job } = await waiting(failures);
  const { ports, started } = starting(store);
  expect(await reconcile(ports, { ended: { job, generation } })).toMatchObject({ restarted: 0 });
  expect(started).toEqual([]);
});

test('given jobs that wait for people and supervisors that keep failing, then they are counted, with the age of the oldest', async () => {
  const store = createMemoryStore();
  for (const minutes of [3, 1]) {
    const job = await aJob(store);
    await store.moveHead(job, aMove(2, { summary: aSummary({ asked: true, updatedAt: T0 + (10 - minutes) * 60_000 }) }));
    await store.setNotified(job, 2);
    for (let i = 1; i <= 2; i++) await store.raiseGeneration(job, i, T0 + 9 * 60_000);
  }
  const { ports } = starting(store);
  expect(await reconcile(ports)).toMatchObject({ jobs: 2, questions: 2, oldestQuestionSeconds: 180, oldestHeadSeconds: 60, failing: 2 });
});
