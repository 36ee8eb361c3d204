/** The thread of the DynamoDB store (twin.ts): one dynalite, a table for each world, calls in the order in which they come. */
import { parentPort } from 'node:worker_threads';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { openLocalTable, type TestTable } from '../contract/store/table.ts';

export interface Told {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly code?: string };
}
interface Call {
  readonly id: number;
  readonly name: string;
  readonly given: readonly unknown[];
}

let table: TestTable | undefined;
let store: RecordStore | undefined;

const open = async (pageItems: number): Promise<void> => {
  await table?.close();
  table = await openLocalTable();
  store = createDynamoStore({ client: table.client, table: table.table, pageItems, logPageItems: 5 });
};

const answer = async ({ id, name, given }: Call): Promise<Told> => {
  try {
    if (name === 'ready') return { id };
    if (name === 'open') {
      await open(given[0] as number);
      return { id };
    }
    const call = store?.[name as keyof RecordStore] as (...given: unknown[]) => Promise<unknown>;
    return { id, value: await call(...given) };
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return { id, error: { message, ...(code === undefined ? {} : { code }) } };
  }
};

let last: Promise<void> = Promise.resolve();
parentPort!.on('message', (call: Call) => {
  last = last.then(async () => parentPort!.postMessage(await answer(call)));
});
