/** What the indexes really hold, read from the table itself. */
import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { LOG_COMMITS, type RecordStore, watchlineBytes } from '../../lib/record/port.ts';
import { aHead, aMove, aSummary, aWake, T0 } from '../contract/store/given.ts';
import { openTable, type TestTable } from '../contract/store/table.ts';

const JOB = '01hzy00000000abc';
const OTHER = '01hzy00000000abd';
const TOKEN = 'a-token-that-nobody-may-list';

/** As DynamoDB counts: names and texts by their bytes, numbers by two digits a byte and one more. */
const weight = (item: Record<string, AttributeValue>): number =>
  Object.entries(item).reduce((sum, [name, { S, N }]) => {
    const value = S === undefined ? Math.ceil(N!.length / 2) + 1 : Buffer.byteLength(S);
    return sum + Buffer.byteLength(name) + value;
  }, 0);

describe('the indexes', () => {
  let table: TestTable;
  let store: RecordStore;
  beforeAll(async () => {
    table = await openTable();
    store = createDynamoStore({ client: table.client, table: table.table });
  });
  afterAll(() => table.close());

  const rows = async (index: string, value: string) => {
    const names = { '#key': index };
    const values = { ':value': { S: value } };
    const asked = { TableName: table.table, IndexName: index, KeyConditionExpression: '#key = :value' };
    const answer = await table.client.send(
      new QueryCommand({ ...asked, ExpressionAttributeNames: names, ExpressionAttributeValues: values }),
    );
    return answer.Items ?? [];
  };

  it.each([
    ['short names', JOB, 'meluxina#trainer', 200],
    ['long names', OTHER, `${'c'.repeat(63)}#${'é'.repeat(16)}`, 120],
  ])('P1.6, P2.6: with %s the active index holds at most 256 bytes per job, and no index holds a token', async (_, job, active, bytes) => {
    expect(watchlineBytes(active)).toBe(bytes);
    await store.createHead(aHead(job));
    await store.moveHead(job, aMove(1));
    await store.park(job, '', aWake(TOKEN, T0));
    await store.park(job, 'q1', aWake(TOKEN, T0, { question: 'q1' }));
    await store.takeWake(job, 'q1', TOKEN, T0, 2);
    const summary = aSummary({
      asked: true,
      active,
      state: 'running',
      watchline: 'x'.repeat(watchlineBytes(active)),
      name: 'n'.repeat(200),
      project: 'p'.repeat(200),
    });
    await store.moveHead(job, aMove(LOG_COMMITS, { summary, token: TOKEN, take: true }));

    const [row] = await rows('active', active);
    expect(Object.keys(row!).sort()).toEqual(['active', 'pk', 'sk', 'v', 'w']);
    expect(weight(row!)).toBeLessThanOrEqual(256);

    const shown = [
      ['active', active],
      ['state', 'running'],
      ['unended', 'yes'],
      ['owed', 'yes'],
      ['listed', 'yes'],
      ['unsent', 'yes'],
    ] as const;
    const more = [
      ['project', summary.project],
      ['unendedIn', summary.project],
      ['cluster', 'lumi'],
      ['asked', 'yes'],
    ] as const;
    const all = await Promise.all([...shown, ...more].map(([index, value]) => rows(index, value)));
    expect(all.map((held) => held.filter(({ pk }) => pk?.S === `JOB#${job}`).length)).toEqual([1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
    expect(JSON.stringify(all)).not.toContain(TOKEN);
  });

  it('P2.4: the index of owed tokens is empty while none is owed', async () => {
    for (const job of [JOB, OTHER]) {
      await store.clearWake(job, '', TOKEN);
      await store.clearWake(job, 'q1', TOKEN);
    }
    expect(await rows('owed', 'yes')).toEqual([]);
  });

  it('P2.7: the index of unsent heads is empty while all is sent, and nothing of it stays on a head', async () => {
    for (const job of [JOB, OTHER]) expect(await store.setNotified(job, LOG_COMMITS)).toBe('noted');
    expect(await rows('unsent', 'yes')).toEqual([]);
  });

  it('§11: an index by which people list is not written when a commit moves the head', async () => {
    const [before] = await rows('listed', 'yes');
    expect(Object.keys(before!).sort()).toEqual(['listed', 'pk', 'sk']);
    for (const [index, value] of [
      ['project', 'p'.repeat(200)],
      ['unendedIn', 'p'.repeat(200)],
      ['cluster', 'lumi'],
    ] as const) {
      for (const row of await rows(index, value)) expect(Object.keys(row).sort()).toEqual([index, 'pk', 'sk'].sort());
    }
  });
});
