/** The same lives on DynamoDB's own answers: what the record says does not depend on where it is kept. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDynamoStore } from '../../../lib/record/dynamodb-store.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { openLocalTable, type TestTable } from '../store/table.ts';
import { type Given, type Life, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

let table: TestTable;
beforeAll(async () => {
  table = await openLocalTable();
});
afterAll(() => table.close());

const STORES: readonly (readonly [string, () => RecordStore])[] = [
  ['memory', createMemoryStore],
  ['DynamoDB', () => createDynamoStore({ client: table.client, table: table.table })],
];

const preempted = { queueSeconds: 20, program: { runsSeconds: 60, publishes: [{ atSeconds: 30, step: 70 }], ends: 'preempted' } };
const STORY: Given = {
  rules: [relaunch(['preempted', 'never_landed'])],
  script: [preempted, { program: { runsSeconds: 40 } }],
  pollEverySeconds: 20,
};

/** What a reader sees, without ids, digests and moments of this very run. */
const told = (one: Life): unknown => ({
  status: { ...one.status(), id: '', attempt: { ...one.status().attempt, receipt: undefined } },
  whys: one.whys(),
  events: one.events().map(({ type }) => type),
});

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given the story on either store, then a reader is told the same, word for word', async () => {
    const lives: Life[] = [];
    for (const [seed, [, open]] of STORES.entries()) {
      // Another seed: another job id, since a table is shared by all of its jobs.
      const one = await life({ ...STORY, shape, store: open(), seed: 100 + 10 * SHAPES.indexOf(shape) + seed });
      await one.ended();
      reads(one);
      lives.push(one);
    }
    const [a, b] = lives.map(told) as [{ events: unknown; whys: { state: string }[] }, { events: unknown; whys: { state: string }[] }];
    expect(b.events).toEqual(a.events);
    expect(b.whys.map(({ state }) => state)).toEqual(a.whys.map(({ state }) => state));
    expect(lives[1]!.status()).toMatchObject({ state: 'succeeded', resumedFrom: { attempt: 1, trainingStep: 70 } });
  });
});

describe('on DynamoDB', () => {
  const store = (): RecordStore => STORES[1]![1]();

  test('given a question, then an answer by its token is committed once, and the late one is refused', async () => {
    const exits = { program: { runsSeconds: 20, ends: { exit: 3 } } };
    const one = await life({ store: store(), seed: 7, unmatched: 'escalate', script: [exits, { program: {} }], pollEverySeconds: 20 });
    await one.until(({ state }) => state === 'awaiting');
    expect(await one.answerByToken({ answer: 'relaunch' })).toBe('sent');
    expect(await one.answer('stop', 'q1')).toMatchObject({ kind: 'refused', code: 'escalation/closed' });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    reads(one);
  });

  test('given a process killed at commits of the story, then the next one carries it on from the table alone (C022)', async () => {
    const calls = ['job_submitted', 'attempt_planned', 'attempt_bound', 'release_intended', 'attempt_ended', 'recovery_decided'] as const;
    for (const [i, call] of calls.entries()) {
      const one = await life({ ...STORY, store: store(), seed: 200 + i, death: { call, when: 'after' } });
      for (let seconds = 0; one.process().alive() && seconds < 300; seconds += 5) await one.advance(5);
      expect(one.process().alive()).toBe(false);
      await one.restartProcess(15);
      expect((await one.ended()).state, call).toBe('succeeded');
      reads(one);
    }
  });

  test('given a cancel while it runs, then it ends cancelled', async () => {
    const one = await life({ store: store(), seed: 9, script: [{ program: { runsSeconds: 3000 } }], pollEverySeconds: 20 });
    await one.until(({ attempt }) => attempt?.state === 'running');
    await one.cancel();
    expect((await one.ended()).state).toBe('cancelled');
    reads(one);
  });
});
