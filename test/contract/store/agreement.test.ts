/**
 * Whatever is asked of them, in whatever order, the memory store and the DynamoDB store answer the same: the simulator's findings about
 * one are findings about the other. Calls are made of where the job stands now and a small deviation, so that most of them are near misses
 * or near hits.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDynamoStore } from '../../../lib/record/dynamodb-store.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import { type JobFilter, type RecordStore, SLOT_LEASE_MS, SLOTS } from '../../../lib/record/port.ts';
import { aCommit, aHead, aKey, aMove, aSummary, aWake, HOUR, PAGE_ITEMS, T0 } from './given.ts';
import { allPages } from './lists.ts';
import { openTable, type TestTable } from './table.ts';

const RUNS = 30;
const CALLS = 90;
const ODD = 1000;

/** Where a run stands, as the memory store knows it. */
const standOf = async (store: RecordStore, run: string) => {
  const head = await store.readHead(run);
  const question = await store.readWake(run, 'q');
  return {
    version: head?.version ?? 0,
    log: (await store.read(run)).length,
    clusterLog: (await store.readCluster(run)).length,
    token: head?.wake?.token,
    parked: head?.wake?.state === 'parked' ? head.wake.token : undefined,
    entered: head?.lastOrder?.enteredAt ?? 0,
    generation: head?.supervisor.generation ?? 1,
    triedAt: head?.triedAt ?? T0,
    asked: question?.token,
    askedAt: question?.version ?? 0,
    askedEntered: question?.order.enteredAt ?? 0,
    fence: (await store.readLease(run, 'ml'))?.fence ?? 0,
  };
};
type Stand = Awaited<ReturnType<typeof standOf>>;
type Call = readonly [name: string, ask: (store: RecordStore, run: string, now: Stand) => Promise<unknown>];

/** Mostly 0 or 1, sometimes off. */
const near = fc.constantFrom(0, 0, 0, 1, 1, 1, -1, 2);
const rarely = fc.constantFrom(false, false, false, true);
const at = fc.integer({ min: 0, max: 30 }).map((hours) => T0 + hours * HOUR);
const fresh = fc.constantFrom('t1', 't2', 't3', 't4', 't5');

const named = <T>(name: string, given: fc.Arbitrary<T>, ask: (store: RecordStore, run: string, now: Stand, given: T) => Promise<unknown>) =>
  given.map((chosen): Call => [`${name} ${JSON.stringify(chosen)}`, (store, run, now) => ask(store, run, now, chosen)]);

const summaryOf = (run: string, { active, ended }: { active: boolean; ended: boolean }) =>
  aSummary({
    active: active ? `${run}#ml` : '',
    state: active ? `${run}-on` : '',
    ended,
    project: run,
    cluster: active ? run : '',
    login: ended ? 'other' : 'ml',
    cause: ended ? 'preempted' : '',
  });

const log = [
  named('append', fc.tuple(near, rarely), (store, run, now, [off, other]) => {
    // The next version, one already written, never one that leaves a hole.
    const version = Math.max(1, now.log + (off === 2 ? 1 : off));
    return store.append(aCommit(run, version, { commitId: `${other ? 'other' : 'same'}-${version}` }));
  }),
  named('read', near, (store, run, now, off) => store.read(run, Math.max(0, now.log - 3 + off))),
  named('readAt', near, (store, run, now, off) => store.readAt(run, now.log + off)),
  named('writeWatch', fc.option(fc.string({ maxLength: 5 }), { nil: undefined }), (store, run, _, text) => store.writeWatch(run, text)),
];

const birth = [
  named('createHead', fc.tuple(rarely, at), (store, run, _, [clash, triedAt]) =>
    store.createHead(
      aHead(run, { triedAt, payloadHash: clash ? 'other' : 'f00d', summary: summaryOf(run, { active: true, ended: false }) }),
    ),
  ),
  named('removeHead', fc.tuple(rarely), (store, run, now, [off]) => store.removeHead(run, now.triedAt + (off ? ODD : 0))),
  // Steps of six hours meet the edge of a day exactly.
  named('claimKey', fc.nat({ max: 6 }), (store, run, _, n) => store.claimKey(aKey(`${run}-${n}`, { key: run, at: T0 + n * 6 * HOUR }))),
  named('readKey', fc.nat({ max: 12 }), (store, run, _, n) => store.readKey('ada', run, T0 + n * 6 * HOUR)),
  named('moveKey', fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 })), (store, run, _, [to, from]) =>
    store.moveKey(aKey(`${run}-${to}`, { key: run }), `${run}-${from}`),
  ),
];

const head = [
  named(
    'moveHead',
    fc.record({ off: near, wrong: rarely, take: fc.boolean(), at, ended: rarely, active: fc.boolean() }),
    (store, run, now, { off, wrong, take, at: when, ...shown }) => {
      // Wrong is: one where none is parked, none where one is, and an owed one as if it were parked.
      const token = wrong ? (now.parked ? undefined : (now.token ?? 't1')) : now.parked;
      const move = { token, take: take && token !== undefined, at: when, summary: summaryOf(run, shown) };
      return store.moveHead(run, aMove(Math.max(1, now.version + off), move));
    },
  ),
  named('countTry', fc.tuple(rarely), (store, run, now, [off]) => store.countTry(run, now.version + (off ? 1 : 0))),
  named('seen', fc.tuple(near, at), (store, run, now, [off, when]) => store.seen(run, now.generation + off, 7, when)),
  named('raiseGeneration', fc.tuple(rarely, at), (store, run, now, [off, when]) =>
    store.raiseGeneration(run, now.generation - (off ? 1 : 0), when),
  ),
  named('resetFailures', fc.constant(0), (store, run) => store.resetFailures(run)),
];

const aPark = fc.record({ token: fresh, again: rarely, entered: near, retry: fc.nat({ max: 1 }), off: rarely, old: rarely });
const parked = (now: Stand, last: number, { entered, retry, old }: { entered: number; retry: number; old: boolean }) => ({
  generation: Math.max(0, now.generation - (old ? 1 : 0)),
  enteredAt: Math.max(0, last + entered),
  retry,
});

const wakes = [
  named('park', aPark, (store, run, now, given) => {
    const token = given.again ? (now.token ?? given.token) : given.token;
    const version = now.version + (given.off ? 1 : 0);
    return store.park(run, '', aWake(token, T0, { version, order: parked(now, now.entered, given) }));
  }),
  named('park q', aPark, (store, run, now, given) => {
    const token = given.again ? (now.asked ?? given.token) : given.token;
    const version = Math.max(0, now.version - (given.off ? 1 : 0));
    return store.park(run, 'q', aWake(token, T0, { version, question: 'q', order: parked(now, now.askedEntered, given) }));
  }),
  named('takeWake', fc.tuple(rarely, at), (store, run, now, [off, when]) =>
    store.takeWake(run, '', off ? 't1' : (now.token ?? 't2'), when, now.version),
  ),
  named('takeWake q', fc.tuple(near, rarely, at), (store, run, now, [version, off, when]) =>
    store.takeWake(run, 'q', off ? 't1' : (now.asked ?? 't2'), when, now.askedAt + version),
  ),
  named('clearWake', rarely, (store, run, now, off) => store.clearWake(run, '', off ? 't1' : (now.token ?? 't2'))),
  named('clearWake q', rarely, (store, run, now, off) => store.clearWake(run, 'q', off ? 't1' : (now.asked ?? 't2'))),
  named('listOwed', at, async (store, run, _, before) => (await store.listOwed(before, 1000)).filter(({ job }) => job === run)),
];

const lease = [
  named('renewLease', fc.tuple(rarely, at), (store, run, now, [off, when]) =>
    store.renewLease(run, 'ml', { fence: Math.max(0, now.fence - (off ? 1 : 0)), at: when, answeredAt: when }),
  ),
];

const plans = [
  // Steps of a day meet the end of a plan's life exactly.
  named('putPlan', fc.nat({ max: 16 }), (store, run, _, day) => store.putPlan(run, `plan of day ${day}`, T0 + day * 24 * HOUR)),
  named('getPlan', fc.nat({ max: 16 }), (store, run, _, day) => store.getPlan(run, T0 + day * 24 * HOUR)),
];

const clusters = [
  named('appendCluster', fc.tuple(near, rarely), (store, run, now, [off, other]) => {
    const version = Math.max(1, now.clusterLog + (off === 2 ? 1 : off));
    const { job: _, ...commit } = aCommit(run, version, { commitId: `${other ? 'other' : 'same'}-${version}` });
    return store.appendCluster({ cluster: run, ...commit });
  }),
  named('readCluster', near, (store, run, now, off) => store.readCluster(run, Math.max(0, now.clusterLog - 3 + off))),
];

const owner = fc.constantFrom('ada', 'bob', 'eve', 'sue');
const slots = fc.subarray([...SLOTS.poll, ...SLOTS.work, ...SLOTS.output], { minLength: 1 });
// Halves of a lease, so that its end is met exactly.
const soon = fc.nat({ max: 8 }).map((halves) => T0 + (halves * SLOT_LEASE_MS) / 2);
const connections = [
  named('takeSlot', fc.record({ owner, slots, at: soon }), (store, run, _, take) => store.takeSlot(run, 'ml', take)),
  named('returnSlot', fc.tuple(fc.constantFrom('0', '1', '2', '3', 'output'), owner), (store, run, _, [slot, who]) =>
    store.returnSlot(run, 'ml', slot, who),
  ),
];

const notices = [
  named('setNotified', near, (store, run, now, off) => store.setNotified(run, Math.max(1, now.version - 1 + off))),
  named('listUnnotified', at, async (store, run, _, before) => (await store.listUnnotified(before, 1000)).filter((job) => job === run)),
];

const aFilter = fc.constantFrom('project', 'state', 'cluster', 'login', 'label');
const filterOf = (run: string, by: 'project' | 'state' | 'cluster' | 'login' | 'label'): JobFilter => {
  switch (by) {
    case 'project':
      return { by, project: run };
    case 'state':
      return { by, state: `${run}-on` };
    case 'cluster':
      return { by, cluster: run };
    case 'login':
      return { by: 'cluster', cluster: run, login: 'ml' };
    case 'label':
      return { by, key: 'run', value: run };
  }
};
const FILTERS = (['project', 'state', 'cluster', 'login', 'label'] as const).map((by) => (run: string) => filterOf(run, by));

const jobs = [
  named('listJobs', fc.tuple(aFilter, fc.integer({ min: 1, max: 3 })), (store, run, _, [by, limit]) =>
    store.listJobs(filterOf(run, by), { limit }),
  ),
  named('putLabels', fc.tuple(fc.constantFrom('', '-b', '-c')), (store, run, _, [other]) => store.putLabels(`${run}${other}`, { run })),
  // A second job of the same project, state and cluster, so that there is an order, and a page beyond the first.
  named('createHead b', fc.boolean(), (store, run, _, ended) =>
    store.createHead(aHead(`${run}-b`, { summary: summaryOf(run, { active: true, ended }) })),
  ),
  named('removeHead b', fc.constant(0), (store, run) => store.removeHead(`${run}-b`, T0)),
  named('countActive', fc.integer({ min: 1, max: 3 }), (store, run, _, atMost) => store.countActive(run, atMost)),
];

/** What everyone may see of a run: compared after each call, as far as it is cheap, and whole at the end. */
const seenOf = async (store: RecordStore, run: string) => ({
  log: await store.read(run),
  head: await store.readHead(run),
  asked: await store.readWake(run, 'q'),
  watch: await store.readWatch(run),
  active: await store.listActive(run, 'ml'),
  cluster: await store.readCluster(run),
  connections: await store.readConnections(run, 'ml', T0),
  listed: await Promise.all(
    FILTERS.map((filter) => allPages((cursor) => store.listJobs(filter(run), { limit: 1, ...(cursor !== undefined && { cursor }) }))),
  ),
  counted: await store.countActive(run, 10),
  unsent: (await store.listUnnotified(T0 + 1000 * HOUR, 1000)).includes(run),
  unended: (await allPages((cursor) => store.listUnended(cursor))).rows.filter((job) => job === run),
});

/** A refusal is an answer, too; its words must agree, its stack cannot. */
const answerOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => `${error}`);

let table: TestTable;
beforeAll(async () => {
  table = await openTable();
});
afterAll(() => table.close());

it('promise 4: any sequence of calls has the same answers in memory and in DynamoDB', async () => {
  const memory = createMemoryStore({ pageItems: PAGE_ITEMS });
  const dynamo = createDynamoStore({ client: table.client, table: table.table, pageItems: PAGE_ITEMS, logPageItems: 2 });
  let runs = 0;
  const asked = [...log, ...birth, ...head, ...wakes, ...wakes, ...lease, ...plans, ...clusters, ...connections, ...notices, ...jobs];
  const sequence = fc.array(fc.oneof(...asked), { minLength: CALLS, maxLength: CALLS });
  await fc.assert(
    fc.asyncProperty(sequence, async (calls) => {
      const run = `run${String(++runs).padStart(4, '0')}`;
      for (const store of [memory, dynamo]) await store.createHead(aHead(run));
      for (const [name, ask] of calls) {
        const now = await standOf(memory, run);
        const expected = await answerOf(ask(memory, run, now));
        expect(await answerOf(ask(dynamo, run, now)), name).toEqual(expected);
        expect(await dynamo.readHead(run), name).toEqual(await memory.readHead(run));
      }
      expect(await seenOf(dynamo, run)).toEqual(await seenOf(memory, run));
    }),
    { numRuns: RUNS, seed: 20_261_129 },
  );
});
