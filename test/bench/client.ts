/**
 * Clients for benchmarks: dispatch's own, with the limits it is deployed with, and a bare one, as the SDK makes it. And a count
 * of what a client was asked, by the name of the request.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientLimits } from '../../lib/record/dynamodb-store.ts';

/** dynalite checks that there is a signature, not whose it is. */
const ANYONE = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };

export const dispatchClient = (endpoint: string): DynamoDBClient => new DynamoDBClient({ endpoint, ...ANYONE, ...clientLimits });
export const bareClient = (endpoint: string): DynamoDBClient => new DynamoDBClient({ endpoint, ...ANYONE });

export interface Requests {
  readonly reads: number;
  readonly writes: number;
  readonly byName: Readonly<Record<string, number>>;
}

const WRITES = /^(Put|Update|Delete|BatchWrite|TransactWrite)/;

/** Counts from now on; the call that it gives says what was counted since the last time, and begins anew. */
export const countRequests = (client: DynamoDBClient): (() => Requests) => {
  let byName: Record<string, number> = {};
  client.middlewareStack.add(
    (next, context) => (args) => {
      const name = (context.commandName ?? 'unknown').replace(/Command$/, '');
      byName[name] = (byName[name] ?? 0) + 1;
      return next(args);
    },
    { step: 'initialize', name: 'countRequests' },
  );
  return () => {
    const counted = byName;
    byName = {};
    const sum = (writes: boolean): number =>
      Object.entries(counted).reduce((total, [name, count]) => total + (WRITES.test(name) === writes ? count : 0), 0);
    return { reads: sum(false), writes: sum(true), byName: counted };
  };
};
