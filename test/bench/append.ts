/**
 * append: the store's conditional append against the same conditional PutItem by a bare client, on the same table, one after the
 * other. What is measured is what dispatch adds to a commit's write: its checks, its serialisation, its bound on time.
 */
import { deepEqual } from 'node:assert/strict';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Commit } from '../../lib/job/event.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { bareClient, dispatchClient } from './client.ts';
import { commitItem } from './item.ts';
import { live } from './life.ts';
import { speedRatio, tell } from './measure.ts';
import { startTable } from './table.ts';

const ROUNDS = 9;
const TURNS = 60;

const table = await startTable();
const store = createDynamoStore({ client: dispatchClient(table.endpoint), table: table.table });
const bare = bareClient(table.endpoint);
// The commits of a real life, in turn: from the widest (the spec) to the smallest.
const { commits } = await live();
const commitOf = (side: string, turn: number): Commit => ({ ...commits[turn % commits.length]!, job: `${side}${turn}`, version: 1 });

const ratio = await speedRatio({
  rounds: ROUNDS,
  turns: TURNS,
  warmUp: 2,
  ours: async (turn) => {
    const answer = await store.append(commitOf('ours', turn));
    if (answer !== 'appended') throw new Error(answer);
  },
  theirs: async (turn) => {
    await bare.send(
      new PutItemCommand({
        TableName: table.table,
        Item: commitItem(commitOf('theirs', turn)),
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
  },
});
/** What lies there, but for its job: a baseline that writes less would flatter nobody. */
const stored = async (side: string) => {
  const Key = { pk: { S: `JOB#${side}0` }, sk: { S: 'E#0000000001' } };
  const { Item } = await bare.send(new GetItemCommand({ TableName: table.table, Key, ConsistentRead: true }));
  return { ...Item, pk: '' };
};
deepEqual(await stored('ours'), await stored('theirs'));
bare.destroy();
table.close();
tell([{ name: 'throughput against a bare conditional PutItem', value: ratio, bound: { atLeast: 0.8 } }]);
