/** A table in this process whose every request is counted in units, and that tells when nothing is under way: virtual time waits for it. */
import type { AddressInfo } from 'node:net';
import {
  type BatchGetItemCommandOutput,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  type GetItemCommandOutput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { clientLimits } from '../../lib/record/dynamodb-store.ts';
import { tableDefinition } from '../../lib/record/keys.ts';
import { type Item, itemBytes, readUnits, writeUnits } from './units.ts';

export const TABLE = 'dispatch';

export interface Units {
  readonly reads: number;
  readonly writes: number;
}

export interface MeteredTable {
  readonly client: DynamoDBClient;
  /** So far. */
  units(): Units;
  /** Bytes of everything that lies there, keys of indexes aside. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand']);
const IDENTITY = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };

interface Input {
  readonly ConsistentRead?: boolean;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly RequestItems?: Readonly<Record<string, { readonly ConsistentRead?: boolean; readonly Keys: readonly Item[] }>>;
}

export const meteredTable = async (): Promise<MeteredTable> => {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** Looks at items without being counted. */
  const bare = new DynamoDBClient({ endpoint, ...IDENTITY, ...clientLimits });
  const client = new DynamoDBClient({ endpoint, ...IDENTITY, ...clientLimits });
  await bare.send(new CreateTableCommand(tableDefinition(TABLE)));
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

  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = context.commandName ?? '';
      const input = args.input as Input;
      const key = input.Key ?? input.Item;
      underWay += 1;
      const before = WRITES.has(name) && key ? await itemAt(key) : undefined;
      try {
        const result = await next(args);
        if (WRITES.has(name) && key) sum.writes += writeUnits(before, await itemAt(key));
        else sum.reads += read(name, input, result.output);
        return result;
      } catch (error) {
        // A condition that failed is paid like the write that it prevented.
        if (WRITES.has(name)) sum.writes += writeUnits(before, before) || 1;
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    { step: 'initialize', name: 'meter' },
  );
  return {
    client,
    units: () => ({ ...sum }),
    idle: async () => {
      // Twice in a row: what an answer sets going begins its next request only after a few turns.
      for (let quiet = 0; quiet < 3; ) {
        await new Promise((resolve) => setImmediate(resolve));
        quiet = underWay === 0 ? quiet + 1 : 0;
      }
    },
    close: async () => {
      client.destroy();
      bare.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
