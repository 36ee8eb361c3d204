/**
 * A table for benchmarks: dynalite in another process, on loopback, gone with the process that started it.
 * `seed` writes items as they are, twenty-five at a time, so that ten thousand jobs are there within seconds.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AttributeValue, BatchWriteItemCommand, CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../../lib/record/keys.ts';
import { dispatchClient } from './client.ts';

export interface BenchTable {
  readonly endpoint: string;
  readonly table: string;
  readonly client: DynamoDBClient;
  seed(items: readonly Record<string, AttributeValue>[]): Promise<void>;
  close(): void;
}

const TABLE = 'dispatch-bench';
const START_MS = 10_000;
/** DynamoDB's own limit. */
const BATCH = 25;
const AT_ONCE = 4;

export const startTable = async (): Promise<BenchTable> => {
  const server = fork(new URL('./table-process.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [port] = (await once(server, 'message', { signal: AbortSignal.timeout(START_MS) })) as [number];
  const endpoint = `http://127.0.0.1:${port}`;
  const client = dispatchClient(endpoint);
  await client.send(new CreateTableCommand(tableDefinition(TABLE)));
  return {
    endpoint,
    table: TABLE,
    client,
    seed: (items) => seed(client, items),
    close: () => {
      client.destroy();
      server.kill();
    },
  };
};

const seed = async (client: DynamoDBClient, items: readonly Record<string, AttributeValue>[]): Promise<void> => {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < items.length) {
      const batch = items.slice(next, next + BATCH);
      next += BATCH;
      const RequestItems = { [TABLE]: batch.map((Item) => ({ PutRequest: { Item } })) };
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems }));
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the table did not take every item');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, write));
};
