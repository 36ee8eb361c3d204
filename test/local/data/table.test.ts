/** The record on disk: nothing acknowledged is lost, and what a kill left half done is mended before anybody reads. */
import { ClassicLevel } from 'classic-level';
import { expect, test } from 'vitest';
import { openFolder } from '../../../lib/local/folder.ts';
import { StartRefused } from '../../../lib/local/refusal.ts';
import { connectStore } from '../../../lib/local/services.ts';
import { startTable } from '../../../lib/local/table.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aCommit, aHead, aMove, aSummary, T0 } from '../../contract/store/given.ts';
import { folderOf } from './folder.ts';

const around = { environment: {}, log: () => undefined };

/** One process's time with the folder; `clean` as it would leave it. */
const during = async <T>(data: string, use: (store: RecordStore) => Promise<T>, clean = true): Promise<T> => {
  const folder = await openFolder(data, Math.random);
  const { store, close } = await connectStore(folder, around);
  try {
    return await use(store);
  } finally {
    await close();
    await folder.release(clean);
  }
};

const JOB = '0123456789abcdef';
const born = async (store: RecordStore): Promise<void> => {
  await store.createHead(aHead(JOB));
  await store.append(aCommit(JOB, 1));
  await store.moveHead(JOB, aMove(1, { at: T0, summary: aSummary({ active: 'demo#ml', state: 'queued' }) }));
};

/** The table's own files, as a kill between two of dynalite's writes leaves them. */
const meddle = async (data: string, change: (level: ClassicLevel<string, unknown>) => Promise<void>): Promise<void> => {
  const level = new ClassicLevel<string, unknown>(`${data}/table`, { valueEncoding: 'json' });
  await change(level);
  await level.close();
};

const lists = async (store: RecordStore) => ({
  active: (await store.listActive('demo', 'ml')).items.map(({ job }) => job),
  unended: (await store.listUnended()).items,
  queued: (await store.listJobs({ by: 'state', state: 'queued' }, { limit: 10 })).items.map(({ job }) => job),
  running: (await store.listJobs({ by: 'state', state: 'running' }, { limit: 10 })).items.map(({ job }) => job),
  unsent: await store.listUnnotified(T0 + 1, 10),
});
const WHOLE = { active: [JOB], unended: [JOB], queued: [JOB], running: [], unsent: [JOB] };

test('what was written is there in the next process, after an orderly end and after another one', async () => {
  const data = await folderOf();
  await during(data, born);
  for (const clean of [true, false]) {
    expect(
      await during(
        data,
        async (store) => [(await store.read(JOB)).length, (await store.readHead(JOB))?.version, await lists(store)],
        clean,
      ),
    ).toEqual([1, 1, WHOLE]);
  }
});

test('given index rows that a kill lost or left over, then the next process makes them anew from the items (P1.6)', async () => {
  const data = await folderOf();
  await during(data, born, false);
  await meddle(data, async (level) => {
    const rows: [string, unknown][] = [];
    for await (const row of level.iterator({ gte: 'index-global~', lt: 'index-global~\xff' })) rows.push(row);
    expect(rows.length).toBeGreaterThan(3);
    for (const [key, value] of rows) {
      await level.del(key);
      // The row of a state that the head never reached.
      if (key.includes('~state~')) await level.put(`${key}00`, { ...(value as object), state: { S: 'running' } });
    }
  });
  expect(await during(data, lists)).toEqual(WHOLE);
});

test('given connection slots that a dead process held, then nobody waits for their leases (P5.8)', async () => {
  const data = await folderOf();
  const take = (owner: string) => (store: RecordStore) => store.takeSlot('demo', 'ml', { slots: ['1'], owner, at: T0 });
  expect(await during(data, take('dead'), false)).toEqual({ kind: 'taken', slot: '1' });
  expect(await during(data, take('next'), true)).toEqual({ kind: 'taken', slot: '1' });
});

test('given a table whose making was cut off, or of an older release with fewer indexes, then it is brought up to date', async () => {
  const data = await folderOf();
  await during(data, born);
  await meddle(data, async (level) => {
    const table = (await level.get('table~dispatch')) as { GlobalSecondaryIndexes: { IndexName: string }[] };
    const older = table.GlobalSecondaryIndexes.filter(({ IndexName }) => IndexName !== 'unsent');
    await level.put('table~dispatch', { ...table, TableStatus: 'CREATING', GlobalSecondaryIndexes: older });
    await level.clear({ gte: 'index-global~dispatch~unsent~', lt: 'index-global~dispatch~unsent~\xff' });
  });
  expect(await during(data, lists)).toEqual(WHOLE);
});

test('it answers its own process alone: no other key, and no page', async () => {
  const data = await folderOf();
  const table = await startTable({ path: `${data}/table`, name: 'dispatch', accessKeyId: 'MINE', clean: true });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(table.url, { method: 'POST', body: '{}', headers: { 'x-amz-target': 'DynamoDB_20120810.ListTables', ...headers } }))
      .status;
  expect(await status({ authorization: 'AWS4-HMAC-SHA256 Credential=OTHER/x' })).toBe(403);
  expect(await status({ authorization: 'AWS4-HMAC-SHA256 Credential=MINE/x', origin: 'http://evil.example' })).toBe(403);
  expect(await status({})).toBe(403);
  expect(await status({ authorization: 'AWS4-HMAC-SHA256 Credential=MINE/x' })).not.toBe(403);
  await table.close();
});

test('a table that somebody else has open is refused in one line', async () => {
  const data = await folderOf();
  const level = new ClassicLevel(`${data}/table`);
  await level.open();
  const options = { path: `${data}/table`, name: 'dispatch', accessKeyId: 'MINE', clean: true };
  await expect(startTable(options)).rejects.toThrow(StartRefused);
  await level.close();
});
