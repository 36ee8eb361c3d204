/**
 * Store: where a local process keeps its record: in memory, or in the DynamoDB that `AWS_ENDPOINT_URL_DYNAMODB` names (table
 * `DISPATCH_TABLE`, made when it is missing). In the second case nothing is lost with the process.
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { clientLimits, createDynamoStore } from '../record/dynamodb-store.ts';
import { tableDefinition } from '../record/keys.ts';
import { createMemoryStore } from '../record/memory-store.ts';
import type { RecordStore } from '../record/port.ts';

const WAITS = 50;

export const openStore = async (environment: NodeJS.ProcessEnv): Promise<RecordStore> => {
  if (!environment['AWS_ENDPOINT_URL_DYNAMODB']) return createMemoryStore();
  const client = new DynamoDBClient(clientLimits);
  const table = environment['DISPATCH_TABLE'] ?? 'dispatch';
  await ensureTable(client, table);
  return createDynamoStore({ client, table });
};

/** Makes the table unless it is there, and waits until it takes items. */
export const ensureTable = async (client: DynamoDBClient, table: string): Promise<void> => {
  for (let i = 0; i < WAITS; i++) {
    try {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
      if (Table?.TableStatus === 'ACTIVE') return;
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      await client.send(new CreateTableCommand(tableDefinition(table))).catch((made: unknown) => {
        if (!(made instanceof ResourceInUseException)) throw made;
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`table ${table} did not become active`);
};
