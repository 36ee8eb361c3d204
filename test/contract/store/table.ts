/**
 * A table for tests: in a dynalite of its own, or, when AWS_ENDPOINT_URL_DYNAMODB names an emulator or the service, there under a
 * random name. Closing removes it.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { clientLimits } from '../../../lib/record/dynamodb-store.ts';
import { tableDefinition } from '../../../lib/record/keys.ts';

export interface TestTable {
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  readonly table: string;
  close(): Promise<void>;
}

/** dynalite checks that there is a signature, not whose it is. */
const ANY_CREDENTIALS = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };

export const clientOf = (endpoint: string): DynamoDBClient => new DynamoDBClient({ endpoint, ...ANY_CREDENTIALS, ...clientLimits });

const startDynalite = async () => {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve()))),
  };
};

/** A table in a dynalite of its own whatever the environment names: for tests that stand between client and table. */
export const openLocalTable = (): Promise<TestTable> => openTable('');

export const openTable = async (given = process.env['AWS_ENDPOINT_URL_DYNAMODB']): Promise<TestTable> => {
  const server = given ? undefined : await startDynalite();
  const endpoint = server?.endpoint ?? given!;
  const client = server ? clientOf(endpoint) : new DynamoDBClient({ endpoint, ...clientLimits });
  const table = `dispatch-test-${randomUUID()}`;
  await client.send(new CreateTableCommand(tableDefinition(table)));
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 2 }, { TableName: table });
  return {
    endpoint,
    client,
    table,
    async close() {
      await client.send(new DeleteTableCommand({ TableName: table }));
      client.destroy();
      await server?.close();
    },
  };
};
