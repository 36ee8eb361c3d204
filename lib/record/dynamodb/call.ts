/**
 * Calls: the five DynamoDB requests that the record is made of, and what each way of failing means.
 * A condition that failed is an answer (false). A request that DynamoDB calls invalid is our mistake: an assertion. All else, from
 * throttling to a lost line, is `record/unavailable`: the caller knows nothing, and the write may have happened.
 */
import {
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
import { fromItem, type Item, toItem, type Value } from './item.ts';

/** `when` is a condition expression over `#attribute` and `:value`; the names follow from it. */
export interface Condition {
  readonly when: string;
  readonly values?: Item;
}

export interface Change extends Condition {
  readonly set?: Item;
  /** Adds to a number that is there. */
  readonly plus?: Readonly<Record<string, number>>;
  readonly remove?: readonly string[];
}

export interface Look {
  readonly when: string;
  readonly values: Item;
  readonly index?: string;
  readonly limit?: number;
  readonly after?: Item;
}

export interface TableCalls {
  /** Consistent. */
  get(key: ItemKey): Promise<Item | undefined>;
  put(item: ItemKey & Item, condition?: Condition): Promise<boolean>;
  /** False when the condition failed; else, where something was added to a number, the attributes as they are now. */
  update(key: ItemKey, change: Change): Promise<Item | false>;
  remove(key: ItemKey, condition?: Condition): Promise<boolean>;
  /** One page: consistent on the table, eventual on an index. `next` is where the following page begins, if there is one. */
  query(look: Look): Promise<{ readonly items: readonly Item[]; readonly next?: Item }>;
}

/** Every attribute goes by a placeholder: the list of reserved words grows, ours need not. */
const named = (...expressions: string[]): { ExpressionAttributeNames?: Record<string, string> } => {
  const names = expressions.flatMap((expression) => [...expression.matchAll(/#(\w+)/g)].map(([place, name]) => [place, name]));
  return names.length ? { ExpressionAttributeNames: Object.fromEntries(names) } : {};
};

const valued = (values: Record<string, Value>) =>
  Object.keys(values).length
    ? { ExpressionAttributeValues: Object.fromEntries(Object.entries(toItem(values)).map(([name, value]) => [`:${name}`, value])) }
    : {};

const conditional = ({ when, values = {} }: Condition) => ({ ConditionExpression: when, ...named(when), ...valued(values) });

const updating = ({ set = {}, plus = {}, remove = [], when, values = {} }: Change) => {
  const sets = [
    ...Object.keys(set).map((name) => `#${name} = :to_${name}`),
    ...Object.keys(plus).map((name) => `#${name} = #${name} + :plus_${name}`),
  ];
  const expression = [sets.length && `SET ${sets.join(', ')}`, remove.length && `REMOVE ${remove.map((name) => `#${name}`).join(', ')}`]
    .filter(Boolean)
    .join(' ');
  const all: Record<string, Value> = { ...values };
  for (const [name, value] of Object.entries(set)) all[`to_${name}`] = value;
  for (const [name, value] of Object.entries(plus)) all[`plus_${name}`] = value;
  return { UpdateExpression: expression, ConditionExpression: when, ...named(expression, when), ...valued(all) };
};

const failureOf = (error: unknown): Error => {
  const name = error instanceof Error && /^\w{1,80}$/.test(error.name) ? error.name : 'unknown error';
  // Its message tells which expression or attribute is wrong; our expressions hold placeholders, never values.
  if (name === 'ValidationException') return new AssertionFailed(`the table refuses a request of ours: ${String(error).slice(0, 300)}`);
  // Only the name is shown: other messages may carry account numbers and addresses.
  return new RecordFailure('record/unavailable', `the record did not answer (${name})`, error);
};

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
    async query({ when, values, index, limit, after }) {
      const command = new QueryCommand({
        TableName,
        KeyConditionExpression: when,
        ...named(when),
        ...valued(values),
        // Indexes cannot be read consistently; that is why lists are hints.
        ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
        ...(limit !== undefined && { Limit: limit }),
        ...(after && { ExclusiveStartKey: toItem(after) }),
      });
      const answer = await asked((abortSignal) => client.send(command, { abortSignal }));
      if (answer === CONDITION_FAILED) return { items: [] };
      const items = (answer.Items ?? []).map(fromItem);
      return answer.LastEvaluatedKey ? { items, next: fromItem(answer.LastEvaluatedKey) } : { items };
    },
  };
};
