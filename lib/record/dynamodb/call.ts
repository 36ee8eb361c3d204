/**
 * Calls: the six DynamoDB requests that the record is made of, and what each way of failing means.
 * A condition that failed is an answer (false). A request that DynamoDB calls invalid is our mistake: an assertion. All else, from
 * throttling to a lost line, is `record/unavailable`: the caller knows nothing, and the write may have happened.
 */
import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { AssertionFailed } from '../../job/assertion.ts';
import { RecordFailure } from '../../job/failure.ts';
import type { ItemKey } from '../keys.ts';
import { type Change, type Condition, conditional, type Look, looking, updating } from './expression.ts';
import { fromItem, type Item, toItem } from './item.ts';

export interface TableCalls {
  /** Consistent. */
  get(key: ItemKey): Promise<Item | undefined>;
  put(item: ItemKey & Item, condition?: Condition): Promise<boolean>;
  /** False when the condition failed; else, where something was added to a number, the attributes as they are now. */
  update(key: ItemKey, change: Change): Promise<Item | false>;
  remove(key: ItemKey, condition?: Condition): Promise<boolean>;
  /** One page: consistent on the table, eventual on an index. `next` is where the following page begins, if there is one. */
  query(look: Look): Promise<{ readonly items: readonly Item[]; readonly next?: Item }>;
  /** Like query, but only how many items the page holds. */
  countPage(look: Look): Promise<{ readonly count: number; readonly next?: Item }>;
  /** At most BATCH_LIMIT different keys; in no order, and without those that are not there. Of each item, the attributes named, or all. */
  getEach(
    keys: readonly ItemKey[],
    how: { readonly attributes?: readonly string[]; readonly consistent: boolean },
  ): Promise<readonly Item[]>;
}

const failureOf = (error: unknown): Error => {
  const name = error instanceof Error && /^\w{1,80}$/.test(error.name) ? error.name : 'unknown error';
  // Its message tells which expression or attribute is wrong; our expressions hold placeholders, never values.
  if (name === 'ValidationException') return new AssertionFailed(`the table refuses a request of ours: ${String(error).slice(0, 300)}`);
  // Only the name is shown: other messages may carry account numbers and addresses.
  return new RecordFailure('record/unavailable', `the record did not answer (${name})`, error);
};

/** A batch comes back in parts when it is larger than 16 MB, which a hundred heads never are, or when the table is throttled. */
const BATCH_TRIES = 4;

const CONDITION_FAILED = Symbol('condition failed');

export const tableCalls = (client: DynamoDBClient, table: string, callMs: number): TableCalls => {
  const asked = async <T>(request: (abortSignal: AbortSignal) => Promise<T>): Promise<T | typeof CONDITION_FAILED> => {
    try {
      // Bounds a call with all its retries, whatever the client was configured with.
      return await request(AbortSignal.timeout(callMs));
    } catch (error) {
      if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return CONDITION_FAILED;
      throw failureOf(error);
    }
  };
  const TableName = table;
  return {
    async get(key) {
      const command = new GetItemCommand({ TableName, Key: toItem({ ...key }), ConsistentRead: true });
      const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
      return answer !== CONDITION_FAILED && answer.Item ? fromItem(answer.Item) : undefined;
    },
    async put(item, condition) {
      const command = new PutItemCommand({ TableName, Item: toItem(item), ...(condition && conditional(condition)) });
      return (await asked((abortSignal) => client.send(command, { abortSignal }))) !== CONDITION_FAILED;
    },
    async update(key, change) {
      // Only a sum is news to its writer; anything else would be sent back, and read, for nothing.
      const returns = change.plus && { ReturnValues: 'UPDATED_NEW' as const };
      const command = new UpdateItemCommand({ TableName, Key: toItem({ ...key }), ...updating(change), ...returns });
      const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
      return answer === CONDITION_FAILED ? false : fromItem(answer.Attributes ?? {});
    },
    async remove(key, condition) {
      const command = new DeleteItemCommand({ TableName, Key: toItem({ ...key }), ...(condition && conditional(condition)) });
      return (await asked((abortSignal) => client.send(command, { abortSignal }))) !== CONDITION_FAILED;
    },
    async query(look) {
      const command = new QueryCommand({ TableName, ...looking(look) });
      const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
      if (answer === CONDITION_FAILED) return { items: [] };
      const items = (answer.Items ?? []).map(fromItem);
      return answer.LastEvaluatedKey ? { items, next: fromItem(answer.LastEvaluatedKey) } : { items };
    },
    async countPage(look) {
      const command = new QueryCommand({ TableName, ...looking(look), Select: 'COUNT' });
      const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
      if (answer === CONDITION_FAILED) return { count: 0 };
      const count = answer.Count ?? 0;
      return answer.LastEvaluatedKey ? { count, next: fromItem(answer.LastEvaluatedKey) } : { count };
    },
    async getEach(keys, { attributes, consistent }) {
      const names = Object.fromEntries((attributes ?? []).map((name) => [`#${name}`, name]));
      const projection = attributes && { ExpressionAttributeNames: names, ProjectionExpression: Object.keys(names).join(', ') };
      const items: Item[] = [];
      let left = keys.map((key) => toItem({ ...key }));
      for (let i = 0; i < BATCH_TRIES && left.length > 0; i++) {
        const command = new BatchGetItemCommand({
          RequestItems: { [TableName]: { Keys: left, ConsistentRead: consistent, ...projection } },
        });
        const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
        if (answer === CONDITION_FAILED) break;
        items.push(...(answer.Responses?.[TableName] ?? []).map(fromItem));
        left = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
      }
      if (left.length > 0) throw new RecordFailure('record/unavailable', 'the record answered for a part of the keys only');
      return items;
    },
  };
};
