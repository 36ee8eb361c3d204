/**
 * Clients for benchmarks: dispatch's own, with the limits it is deployed with, and a bare one, as the SDK makes it. And a count
 * of what a client was asked, by the name of the request.
 */
import { type AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
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

export interface BytesRead {
  readonly items: number;
  readonly bytes: number;
  /** The largest item. */
  readonly most: number;
}

/** What the table counts of the items that queries of an index gave, from now on: the bytes of names and values. */
export const indexBytesRead = (client: DynamoDBClient): (() => BytesRead) => {
  let read: BytesRead = { items: 0, bytes: 0, most: 0 };
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      if (!('IndexName' in args.input)) return answer;
      for (const item of (answer.output as { Items?: Record<string, AttributeValue>[] }).Items ?? []) {
        const bytes = sizeOf(item);
        read = { items: read.items + 1, bytes: read.bytes + bytes, most: Math.max(read.most, bytes) };
      }
      return answer;
    },
    { step: 'initialize', name: 'indexBytesRead' },
  );
  return () => {
    const counted = read;
    read = { items: 0, bytes: 0, most: 0 };
    return counted;
  };
};

/** A number takes about a byte per two digits and one more; the text of it is never less. */
const sizeOf = (item: Record<string, AttributeValue>): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value.S ?? value.N ?? ''), 0);
