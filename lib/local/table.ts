/**
 * Table: dynalite on disk, the record of a local process. Its writes are in the operating system's hands when they are answered,
 * so a killed process loses none that was acknowledged; a machine that loses power may lose its last seconds.
 *
 * dynalite writes an item and its index rows one after the other, so a kill in between leaves a row without its item or an item that
 * no list shows: on no list, nobody would repair it. Guards promise 4: after an end that was not orderly the rows are made anew from
 * the items before anybody reads, and connection slots that the dead held are given back; likewise when this release's indexes differ from those the folder was made with.
 *
 * It listens on loopback and answers this process alone: the key that its requests carry is drawn at each start, and it refuses what
 * a browser sends, since dynalite itself lets every page read it.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { ClassicLevel } from 'classic-level';
import dynalite from 'dynalite';
import db, { type StoredTable } from 'dynalite/db/index.js';
import * as z from 'zod';
import { tableDefinition } from '../record/keys.ts';
import { StartRefused, saysOf } from './refusal.ts';

export interface Table {
  /** What `AWS_ENDPOINT_URL_DYNAMODB` has to be. */
  readonly url: string;
  close(): Promise<void>;
}

export interface TableOptions {
  readonly path: string;
  readonly name: string;
  /** The access key that requests must carry. */
  readonly accessKeyId: string;
  /** The last process closed it in order. */
  readonly clean: boolean;
}

/** Rows per batch while indexes are made anew. */
const BATCH = 500;

/** Throws StartRefused when another process holds it or it cannot be read. */
export const startTable = async ({ path, name, accessKeyId, clean }: TableOptions): Promise<Table> => {
  await mend(path, name, clean);
  const made = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const [handle] = made.listeners('request') as [RequestListener];
  made.removeAllListeners('request');
  made.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isOwn(request, accessKeyId)) handle(request, response);
    else response.writeHead(403).end();
  });
  await new Promise<void>((resolve, reject) => {
    made.once('error', reject);
    made.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, close: () => closed(made) };
};

const isOwn = ({ headers }: IncomingMessage, accessKeyId: string): boolean =>
  headers.origin === undefined && (headers.authorization ?? '').includes(`Credential=${accessKeyId}/`);

const closed = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });

const mend = async (path: string, name: string, clean: boolean): Promise<void> => {
  const level = new ClassicLevel<string, unknown>(path, { valueEncoding: 'json' });
  try {
    await level.open();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (saysOf(cause) === 'LEVEL_LOCKED') throw new StartRefused(`${path}: another process uses this data folder`);
    throw new StartRefused(`${path}: the record cannot be opened (${saysOf(cause)}): restore the folder from a copy`);
  }
  try {
    await mendTable(level, name, clean);
  } finally {
    await level.close();
  }
};

type Level = ClassicLevel<string, unknown>;

const mendTable = async (level: Level, name: string, clean: boolean): Promise<void> => {
  const key = `table~${name}`;
  const stored = (await level.get(key)) as StoredTable | undefined;
  if (!stored) return;
  const table = asDefined(stored, name);
  if (clean && isDeepStrictEqual(table, stored)) return;
  // The definition last: killed before, the next start does all of this again.
  await rebuild(level, table);
  await level.put(key, table);
};

/** With this release's indexes. A table that was being made when its process died is ready: nothing was in it. */
const asDefined = (stored: StoredTable, name: string): StoredTable => {
  const { AttributeDefinitions, GlobalSecondaryIndexes } = tableDefinition(name);
  const indexes = GlobalSecondaryIndexes.map((index) => ({
    ...stored.GlobalSecondaryIndexes?.find((one) => one.IndexName === index.IndexName),
    ...index,
    IndexStatus: 'ACTIVE',
  }));
  return { ...stored, AttributeDefinitions, GlobalSecondaryIndexes: indexes, TableStatus: 'ACTIVE' };
};

type Row = { readonly type: 'put'; readonly key: string; readonly value: unknown } | { readonly type: 'del'; readonly key: string };

const rebuild = async (level: Level, table: StoredTable): Promise<void> => {
  const { TableName, GlobalSecondaryIndexes = [] } = table;
  const prefix = `index-global~${TableName}~`;
  await level.clear({ gte: prefix, lt: `${prefix}\xff` });
  let rows: Row[] = [];
  for await (const [key, item] of level.iterator({ gte: `item-${TableName}~`, lt: `item-${TableName}~\xff` })) {
    if (isSlot(item)) rows.push({ type: 'del', key });
    const { puts } = db.getIndexActions(GlobalSecondaryIndexes, undefined, item, table);
    rows.push(...puts.map((put): Row => ({ type: 'put', key: `${prefix}${put.index}~${put.key}`, value: put.item })));
    if (rows.length < BATCH) continue;
    await level.batch(rows);
    rows = [];
  }
  await level.batch(rows);
};

const slotSchema = z.object({
  pk: z.object({ S: z.string().startsWith('CLUSTER#') }),
  sk: z.object({ S: z.string().startsWith('SLOT#') }),
});

/** Whoever held a connection is dead, and its connection with it: nobody needs to wait until the lease ends (P5.8). */
const isSlot = (item: unknown): boolean => slotSchema.safeParse(item).success;
