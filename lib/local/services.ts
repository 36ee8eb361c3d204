/**
 * Services: the record and the supervisors of a local process as its handlers see them: over HTTP, through the SDK clients and the
 * adapters that a deployment uses too. `AWS_ENDPOINT_URL_DYNAMODB` and `AWS_ENDPOINT_URL_SFN` alone say where; so what runs here is
 * what is deployed, with its time limits, its repeats and its names of errors, and production code has no branch for it. It costs a
 * millisecond per call. Region and credentials are given by hand, since those of the environment belong to real services (buckets).
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
  point(environment, 'AWS_ENDPOINT_URL_DYNAMODB', table.url);
  const client = new DynamoDBClient({ ...clientLimits, region: REGION, credentials: { accessKeyId, secretAccessKey: 'local' } });
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
  point(environment, 'AWS_ENDPOINT_URL_SFN', url);
  const client = sfnClient({ region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  const onInvalidToken = (says: string): void => log('error', 'a stored task token is not one', { says });
  return { supervisors: stepFunctionsSupervisors({ client, machineArn, onInvalidToken }), close: () => client.destroy() };
};

const point = (environment: NodeJS.ProcessEnv, name: string, url: string): void => {
  environment[name] = url;
  // Set by somebody who wants real services everywhere; here it would send the record to one.
  delete environment['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'];
};

/** The engine is made with what signals it, which is reached through the engine: looked up when it is needed. */
export const later = (made: () => Supervisors): Supervisors => ({
  start: (job, generation) => made().start(job, generation),
  signal: (token) => made().signal(token),
});
