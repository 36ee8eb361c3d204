/**
 * Services: the record and the supervisors of a local process as its handlers see them: over HTTP, through the SDK clients and the
 * adapters that a deployment uses too. So what runs here is what is deployed, with its time limits, its repeats and its names of errors,
 * and production code has no branch for it; it costs a millisecond per call. `AWS_ENDPOINT_URL_DYNAMODB` and `AWS_ENDPOINT_URL_SFN` are
 * set for whatever else this process loads; these two clients are told by hand, so that no setting of the environment can send a record
 * to a real service, and so that the environment's credentials stay for those that are real (buckets).
 */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Ports, Supervisors } from '../app/ports.ts';
import { sfnClient, stepFunctionsSupervisors } from '../aws/supervisors.ts';
import { clientLimits, createDynamoStore } from '../record/dynamodb-store.ts';
import type { RecordStore } from '../record/port.ts';
import type { Folder } from './folder.ts';
import { ensureTable } from './store.ts';
import { startTable } from './table.ts';

const TABLE = 'dispatch';
const REGION = 'us-east-1';

interface Around {
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Ports['log'];
}

/** Throws StartRefused when the folder's table cannot be used. */
export const connectStore = async (
  folder: Folder,
  { environment }: Around,
): Promise<{ readonly store: RecordStore; readonly close: () => Promise<void> }> => {
  // Nobody but this process knows it, so nobody but this process gets at the table's port.
  const accessKeyId = randomBytes(10).toString('hex').toUpperCase();
  const table = await startTable({ path: folder.table, name: TABLE, accessKeyId, clean: folder.clean });
  environment['AWS_ENDPOINT_URL_DYNAMODB'] = table.url;
  const client = new DynamoDBClient({
    ...clientLimits,
    endpoint: table.url,
    region: REGION,
    credentials: { accessKeyId, secretAccessKey: 'local' },
  });
  const close = async (): Promise<void> => {
    client.destroy();
    await table.close();
  };
  try {
    await ensureTable(client, TABLE);
    return { store: createDynamoStore({ client, table: TABLE }), close };
  } catch (error) {
    await close();
    throw error;
  }
};

export const connectSupervisors = (
  url: string,
  machineArn: string,
  { environment, log }: Around,
): { readonly supervisors: Supervisors; readonly close: () => void } => {
  environment['AWS_ENDPOINT_URL_SFN'] = url;
  const client = sfnClient({ endpoint: url, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  const onInvalidToken = (says: string): void => log('error', 'a stored task token is not one', { says });
  return { supervisors: stepFunctionsSupervisors({ client, machineArn, onInvalidToken }), close: () => client.destroy() };
};

/** The engine is made with what signals it, which is reached through the engine: looked up when it is needed. */
export const later = (made: () => Supervisors): Supervisors => ({
  start: (job, generation) => made().start(job, generation),
  signal: (token) => made().signal(token),
});
