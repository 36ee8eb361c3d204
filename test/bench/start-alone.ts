/**
 * What nobody could do without: a process that opens the table on disk and the engine's port to the outside with the same libraries, and
 * nothing of dispatch: `node start-alone.ts FOLDER`. Says one line when it is ready.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { createAdaptorServer } from '@hono/node-server';
import dynalite from 'dynalite';
import { Hono } from 'hono';

const listening = async (server: import('node:net').Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const identity = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };
const port = await listening(dynalite({ path: process.argv[2]!, createTableMs: 0 }));
const client = new DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, ...identity });
await client.send(new DescribeTableCommand({ TableName: 'none' })).catch((error: unknown) => {
  if (!(error instanceof ResourceNotFoundException)) throw error;
});
new SFNClient(identity).destroy();
await listening(createServer());
await listening(createAdaptorServer({ fetch: new Hono().fetch }) as import('node:http').Server);
process.stdout.write('ready\n');
