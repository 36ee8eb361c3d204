import { createDynamoStore } from '../../../lib/record/dynamodb-store.ts';
import { storeContract } from './suite.ts';
import { openTable } from './table.ts';

storeContract('DynamoDB, over its wire protocol', async ({ pageItems }) => {
  const { client, table, close } = await openTable();
  return { store: createDynamoStore({ client, table, pageItems, logPageItems: 5 }), close };
});
