/**
 * Store: where a local process keeps its record: in memory, or in the DynamoDB that `AWS_ENDPOINT_URL_DYNAMODB` names (table
 * `DISPATCH_TABLE`, made when it is missing). In the second case nothing is lost with the process.
 */
import {
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { clientLimits, createDynamoStore } from '../record/dynamodb-store.ts';
import { connectionSlotKey, tableDefinition } from '../record/keys.ts';
import { createMemoryStore } from '../record/memory-store.ts';
import { type RecordStore, SLOTS } from '../record/port.ts';

const WAITS = 50;

export const openStore = async (environment: NodeJS.ProcessEnv, clusters: readonly Place[]): Promise<RecordStore> => {
  if (!environment['AWS_ENDPOINT_URL_DYNAMODB']) return createMemoryStore();
  const client = new DynamoDBClient(clientLimits);
  const table = environment['DISPATCH_TABLE'] ?? 'dispatch';
  await ensureTable(client, table);
  for (const { id, logins } of clusters) for (const login of logins) await freeSlots(client, table, id, login.id);
  return createDynamoStore({ client, table });
};

interface Place {
  readonly id: string;
  readonly logins: readonly { readonly id: string }[];
}

/**
 * A local process is alone with its table, so the connection slots that it finds taken were a killed predecessor's: given back, or
 * it would wait for their leases. Were it not alone, this would only let a few connections more through for three minutes.
 */
const freeSlots = async (client: DynamoDBClient, table: string, cluster: string, login: string): Promise<void> => {
  for (const slot of Object.values(SLOTS).flat()) {
    const { pk, sk } = connectionSlotKey(cluster, login, slot);
    await client.send(new DeleteItemCommand({ TableName: table, Key: { pk: { S: pk }, sk: { S: sk } } }));
  }
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
