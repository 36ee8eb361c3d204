/**
 * Whatever is asked of them, in whatever order, the memory store and the DynamoDB store answer the same: the simulator's findings about
 * one are findings about the other.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDynamoStore } from '../../../lib/record/dynamodb-store.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aCommit, aHead, aKey, aMove, aSummary, aWake, HOUR, PAGE_ITEMS, T0 } from './given.ts';
import { allPages } from './lists.ts';
import { openTable, type TestTable } from './table.ts';

const RUNS = 60;
const CALLS = 40;

/** A call on one run's own jobs: `run` prefixes every name, since the runs share a table. */
type Call = (store: RecordStore, run: string) => Promise<unknown>;

const job = fc.constantFrom('a', 'b');
const version = fc.nat({ max: 4 });
const token = fc.constantFrom('t1', 't2', 't3');
const slot = fc.constantFrom('', '', 'q');
const generation = fc.integer({ min: 1, max: 3 });
const at = fc.integer({ min: 0, max: 30 }).map((hours) => T0 + hours * HOUR);
const small = fc.nat({ max: 2 });

const wake = fc.record({ token, slot, generation, enteredAt: fc.nat({ max: 3 }), retry: small, version });
const move = fc.record({
  version,
  token: fc.option(token, { nil: undefined }),
  take: fc.boolean(),
  at,
  ended: fc.boolean(),
  active: fc.boolean(),
});

const summaryOf = (run: string, { active, ended }: { active: boolean; ended: boolean }) =>
  aSummary({ active: active ? `${run}#ml` : '', state: `${run}-${active}`, ended });

const calls: fc.Arbitrary<readonly [string, Call]>[] = [
  fc
    .tuple(job, version, small)
    .map(([j, v, id]) => [`append ${j} ${v} ${id}`, (s, r) => s.append(aCommit(r + j, v, { commitId: `c${id}` }))]),
  job.map((j) => [`read ${j}`, (s, r) => s.read(r + j)]),
  fc.tuple(job, version).map(([j, v]) => [`readAt ${j} ${v}`, (s, r) => s.readAt(r + j, v)]),
  fc
    .tuple(job, fc.constantFrom('a', 'b'), at)
    .map(([j, hash, when]) => [
      `createHead ${j} ${hash} ${when}`,
      (s, r) => s.createHead(aHead(r + j, { payloadHash: hash, triedAt: when, summary: summaryOf(r, { active: false, ended: false }) })),
    ]),
  fc.tuple(job, at).map(([j, when]) => [`removeHead ${j} ${when}`, (s, r) => s.removeHead(r + j, when)]),
  fc.tuple(job, at).map(([j, when]) => [`claimKey ${j} ${when}`, (s, r) => s.claimKey(aKey(r + j, { key: `${r}k`, at: when }))]),
  fc
    .tuple(job, job, at)
    .map(([to, from, when]) => [`moveKey ${from} ${to}`, (s, r) => s.moveKey(aKey(r + to, { key: `${r}k`, at: when }), r + from)]),
  fc
    .tuple(job, move)
    .map(([j, m]) => [
      `moveHead ${j} ${JSON.stringify(m)}`,
      (s, r) => s.moveHead(r + j, aMove(m.version, { token: m.token, take: m.take, at: m.at, summary: summaryOf(r, m) })),
    ]),
  fc.tuple(job, wake).map(([j, w]) => [
    `park ${j} ${JSON.stringify(w)}`,
    (s, r) =>
      s.park(
        r + j,
        w.slot,
        aWake(w.token, T0, {
          version: w.version,
          question: w.slot,
          order: { generation: w.generation, enteredAt: w.enteredAt, retry: w.retry },
        }),
      ),
  ]),
  fc
    .tuple(job, slot, token, at, version)
    .map(([j, q, t, when, v]) => [`takeWake ${j} ${q} ${t} ${when} ${v}`, (s, r) => s.takeWake(r + j, q, t, when, v)]),
  fc.tuple(job, slot, token).map(([j, q, t]) => [`clearWake ${j} ${q} ${t}`, (s, r) => s.clearWake(r + j, q, t)]),
  fc.tuple(job, version).map(([j, v]) => [`countTry ${j} ${v}`, (s, r) => s.countTry(r + j, v)]),
  fc.tuple(job, generation, at).map(([j, g, when]) => [`seen ${j} ${g} ${when}`, (s, r) => s.seen(r + j, g, 1, when)]),
  fc.tuple(job, generation, at).map(([j, g, when]) => [`raise ${j} ${g}`, (s, r) => s.raiseGeneration(r + j, g, when)]),
  job.map((j) => [`resetFailures ${j}`, (s, r) => s.resetFailures(r + j)]),
  fc
    .tuple(job, fc.option(fc.string({ maxLength: 5 }), { nil: undefined }))
    .map(([j, text]) => [`writeWatch ${j} ${text}`, (s, r) => s.writeWatch(r + j, text)]),
  fc
    .tuple(small, at)
    .map(([fence, when]) => [`renewLease ${fence}`, (s, r) => s.renewLease(r, 'ml', { fence, at: when, answeredAt: when })]),
  fc.constant(['listActive', (s, r) => s.listActive(r, 'ml')]),
];

/** What everyone may see of a run: compared after its last call. */
const seenOf = async (store: RecordStore, run: string) => ({
  heads: [await store.readHead(`${run}a`), await store.readHead(`${run}b`)],
  wakes: [await store.readWake(`${run}a`, 'q'), await store.readWake(`${run}b`, 'q')],
  watches: [await store.readWatch(`${run}a`), await store.readWatch(`${run}b`)],
  lease: await store.readLease(run, 'ml'),
  active: await store.listActive(run, 'ml'),
  states: [await store.listByState(`${run}-true`), await store.listByState(`${run}-false`)],
  unended: (await allPages((cursor) => store.listUnended(cursor))).rows.filter(({ job: id }) => id.startsWith(run)),
  owed: (await store.listOwed(T0 + 100 * HOUR, 1000)).filter(({ job: id }) => id.startsWith(run)),
});

/** A refusal is an answer, too; its kind must agree, its stack cannot. */
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
  const sequence = fc.array(fc.oneof(...calls), { minLength: 10, maxLength: CALLS, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const run = `run${String(++runs).padStart(4, '0')}`;
      // Half of what is interesting needs two born jobs.
      for (const store of [memory, dynamo]) for (const j of ['a', 'b']) await store.createHead(aHead(run + j));
      for (const [name, call] of steps) {
        const [left, right] = [await answerOf(call(memory, run)), await answerOf(call(dynamo, run))];
        expect(right, name).toEqual(left);
      }
      expect(await seenOf(dynamo, run)).toEqual(await seenOf(memory, run));
    }),
    { numRuns: RUNS, seed: 20_261_129 },
  );
});
