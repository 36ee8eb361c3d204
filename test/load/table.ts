/**
 * Table: dynalite in memory, asked without sockets: what a client of the SDK would send goes to the very code that checks and carries out a
 * request there. Signing and HTTP cost six times what the table does; two hundred lives would take a minute of nothing else. The wire
 * itself is under test elsewhere (test/contract/store, test/local).
 */
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { CreateTableCommand, DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../../lib/record/keys.ts';
import type { RawItem } from './reader/items.ts';

export const TABLE = 'dispatch';

interface Refused {
  readonly statusCode?: number;
  readonly body: { readonly __type: string; readonly message?: string };
}
interface Validation {
  readonly types: object;
  readonly custom: unknown;
}
interface Validations {
  checkTypes(data: unknown, types: object): unknown;
  checkValidations(data: unknown, types: object, custom: unknown, store: Store): void;
}
interface Store {
  readonly db: { iterator(): AsyncIterable<readonly [string, unknown]> };
}
type Action = (store: Store, data: unknown, done: (error: (Error & Refused) | undefined, answer: unknown) => void) => void;

const part = createRequire(import.meta.url);
const validations = part('dynalite/validations') as Validations;
const { create } = part('dynalite/db') as { create(options: object): Store };
const NAMES = ['CreateTable', 'DescribeTable', 'GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'BatchGetItem'] as const;
const ACTIONS: ReadonlyMap<string, { readonly act: Action; readonly check: Validation }> = new Map(
  NAMES.map((name) => {
    const file = name.charAt(0).toLowerCase() + name.slice(1);
    return [
      `${name}Command`,
      { act: part(`dynalite/actions/${file}`) as Action, check: part(`dynalite/validations/${file}`) as Validation },
    ] as const;
  }),
);

export interface DirectTable {
  readonly client: DynamoDBClient;
  /** Everything that lies there, as it lies there: items, and the rows of indexes as text. */
  rows(): Promise<{ readonly items: readonly RawItem[]; readonly indexRows: readonly string[] }>;
}

export const openTable = async (): Promise<DirectTable> => {
  const store = create({ createTableMs: 0 });
  const send = (command: { readonly input: unknown }): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const failed = (error: Error & Refused): void => reject(error.statusCode ? named(error) : error);
      const action = ACTIONS.get(command.constructor.name);
      if (!action) throw new Error(`the record does not use ${command.constructor.name}`);
      const { act, check } = action;
      let data: unknown;
      try {
        data = validations.checkTypes(JSON.parse(JSON.stringify(command.input)), check.types);
        validations.checkValidations(data, check.types, check.custom, store);
      } catch (error) {
        failed(error as Error & Refused);
        return;
      }
      act(store, data, (error, answer) => (error ? failed(error) : resolve(answer)));
    });
  const client = { send } as unknown as DynamoDBClient;
  await client.send(new CreateTableCommand(tableDefinition(TABLE)));
  while ((await client.send(new DescribeTableCommand({ TableName: TABLE }))).Table?.TableStatus !== 'ACTIVE') await pause(5);
  return {
    client,
    rows: async () => {
      const rows: (readonly [string, unknown])[] = [];
      for await (const row of store.db.iterator()) rows.push(row);
      const of = (kind: string): unknown[] => rows.flatMap(([key, value]) => (key.startsWith(kind) ? [value] : []));
      return { items: of('item-') as RawItem[], indexRows: of('index-').map((row) => JSON.stringify(row)) };
    },
  };
};

/** As the SDK names what DynamoDB refuses. */
const named = ({ body }: Refused): Error => Object.assign(new Error(body.message), { name: body.__type.split('#')[1] });
