/**
 * A table in this process whose every request is counted in units, and that tells when nothing is under way: virtual time waits for it.
 * It is asked without sockets (test/load/table.ts): a day has ten thousand requests.
 */
import {
  type BatchGetItemCommandOutput,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandOutput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { openTable, TABLE } from '../load/table.ts';
import { type Item, itemBytes, readUnits, writeUnits } from './units.ts';

export { TABLE };

export interface Units {
  readonly reads: number;
  readonly writes: number;
}

export interface MeteredTable {
  readonly client: DynamoDBClient;
  /** So far. */
  units(): Units;
  /** Until nothing is under way. */
  idle(): Promise<void>;
}

const WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand']);

interface Input {
  readonly ConsistentRead?: boolean;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean; readonly Keys: readonly Item[] }>>;
}

export const meteredTable = async (): Promise<MeteredTable> => {
  const { client: bare } = await openTable();
  const sum = { reads: 0, writes: 0 };
  let underWay = 0;

  const itemAt = async (key: Item): Promise<Item | undefined> => {
    const { pk, sk } = key;
    return (await bare.send(new GetItemCommand({ TableName: TABLE, Key: { pk: pk!, sk: sk! }, ConsistentRead: true }))).Item;
  };
  const read = (name: string, input: Input, output: unknown): number => {
    const consistent = input.ConsistentRead ?? false;
    if (name === 'GetItemCommand') return readUnits(itemBytes((output as GetItemCommandOutput).Item ?? {}), consistent);
    if (name === 'QueryCommand') {
      const { Items = [], Count = 0 } = output as QueryCommandOutput;
      // A count reads what it counts; of rows of keys alone, about this much each.
      const weight = Items.length > 0 ? Items.reduce((all, item) => all + itemBytes(item), 0) : Count * 100;
      return readUnits(weight, consistent);
    }
    if (name === 'BatchGetItemCommand') {
      const asked = Object.values(input.RequestItems ?? {})[0];
      const items = Object.values((output as BatchGetItemCommandOutput).Responses ?? {}).flat();
      // Each key is a read of its own, whether there is something or not.
      const found = items.reduce((all, item) => all + readUnits(itemBytes(item), asked?.ConsistentRead ?? false), 0);
      return found + ((asked?.Keys.length ?? 0) - items.length) * readUnits(0, asked?.ConsistentRead ?? false);
    }
    throw new Error(`${name} is not counted here`);
  };

  const send = async (command: { readonly input: unknown }): Promise<unknown> => {
    const name = command.constructor.name;
    const input = command.input as Input;
    const key = input.Key ?? input.Item;
    underWay += 1;
    try {
      const before = WRITES.has(name) && key ? await itemAt(key) : undefined;
      try {
        const result = await bare.send(command as GetItemCommand);
        if (WRITES.has(name) && key) sum.writes += writeUnits(before, await itemAt(key));
        else sum.reads += read(name, input, result);
        return result;
      } catch (error) {
        // A condition that failed is paid like the write that it prevented.
        if (WRITES.has(name)) sum.writes += writeUnits(before, before) || 1;
        throw error;
      }
    } finally {
      underWay -= 1;
    }
  };
  return {
    client: { send } as unknown as DynamoDBClient,
    units: () => ({ ...sum }),
    idle: async () => {
      // Twice in a row: what an answer sets going begins its next request only after a few turns.
      for (let quiet = 0; quiet < 3; ) {
        await new Promise((resolve) => setImmediate(resolve));
        quiet = underWay === 0 ? quiet + 1 : 0;
      }
    },
  };
};
