/** What the indexes really hold, read from the table itself. */
import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { LOG_COMMITS, type RecordStore } from '../../lib/record/port.ts';
import { aHead, aMove, aSummary, aWake, T0 } from '../contract/store/given.ts';
import { openTable, type TestTable } from '../contract/store/table.ts';

const JOB = '01hzy00000000abc';
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

  it('P1.6, P2.6: the active index holds at most 256 bytes per job, and no index holds a token', async () => {
    const active = 'meluxina#trainer';
    await store.createHead(aHead(JOB));
    await store.moveHead(JOB, aMove(1));
    await store.park(JOB, '', aWake(TOKEN, T0));
    await store.park(JOB, 'q1', aWake(TOKEN, T0, { question: 'q1' }));
    await store.takeWake(JOB, 'q1', TOKEN, T0, 2);
    const summary = aSummary({ active, state: 'running', watchline: 'é'.repeat(100), name: 'n'.repeat(200), project: 'p'.repeat(200) });
    await store.moveHead(JOB, aMove(LOG_COMMITS, { summary, token: TOKEN, take: true }));

    const [row] = await rows('active', active);
    expect(Object.keys(row!).sort()).toEqual(['active', 'pk', 'sk', 'v', 'w']);
    // The index's own key is the same for every row; names longer than these 16 bytes weigh that much more.
    expect(active).toHaveLength(16);
    expect(weight(row!)).toBeLessThanOrEqual(256);

    const all = [await rows('active', active), await rows('state', 'running'), await rows('unended', 'yes'), await rows('owed', 'yes')];
    expect(all.map((held) => held.length)).toEqual([1, 1, 1, 2]);
    expect(JSON.stringify(all)).not.toContain(TOKEN);
  });

  it('P2.4: the index of owed tokens is empty while none is owed', async () => {
    await store.clearWake(JOB, '', TOKEN);
    await store.clearWake(JOB, 'q1', TOKEN);
    expect(await rows('owed', 'yes')).toEqual([]);
  });
});
