/** The bus of a local process: numbered without gaps, bounded, and as durable as what was written. */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Notice } from '../../../lib/app/notices.ts';
import { openNoticeLog } from '../../../lib/local/notice-log.ts';
import { noticesRoute } from '../../../lib/local/notices-route.ts';
import { folderOf } from './folder.ts';

const told = (n: number): Notice => ({
  type: 'dispatch.cluster.unreachable',
  id: `lumi:${n}:0`,
  schema: 1,
  at: '2030-01-01T00:00:00.000Z',
  ...{ cluster: 'lumi', login: 'ml', says: 'no route' },
});
const path = async (): Promise<string> => join(await folderOf(), 'notices.jsonl');
const ids = (log: { after: (seq: number, limit: number) => { items: readonly { seq: number; notice: { id: string } }[] } }, seq = 0) =>
  log.after(seq, 1000).items.map(({ seq: number, notice }) => [number, notice.id]);

test('what was put is there in order, in this process and in the next, and what was cut off is not', async () => {
  const file = await path();
  const log = await openNoticeLog(file);
  await log.put([told(1), told(2)]);
  await log.put([told(3)]);
  expect(ids(log)).toEqual([
    [1, 'lumi:1:0'],
    [2, 'lumi:2:0'],
    [3, 'lumi:3:0'],
  ]);
  log.close();
  await appendFile(file, '{"seq":4,"notice":{"type":"dispatch');
  const next = await openNoticeLog(file);
  await next.put([told(5)]);
  expect(ids(next, 2)).toEqual([
    [3, 'lumi:3:0'],
    [4, 'lumi:5:0'],
  ]);
  next.close();
});

test('it keeps the newest so many, in memory and in the file, and numbers go on', async () => {
  const file = await path();
  const log = await openNoticeLog(file, 10);
  for (let n = 1; n <= 57; n++) await log.put([told(n)]);
  expect(log.after(0, 100).items.map(({ seq }) => seq)).toEqual([48, 49, 50, 51, 52, 53, 54, 55, 56, 57]);
  expect((await readFile(file, 'utf8')).split('\n').length).toBeLessThanOrEqual(21);
  log.close();
  const next = await openNoticeLog(file, 10);
  await next.put([told(58)]);
  expect(next.after(56, 100)).toMatchObject({ items: [{ seq: 57 }, { seq: 58 }], last: 58 });
  next.close();
});

test('a damaged line refuses the start; what is no notice is never kept (P2.6)', async () => {
  const file = await path();
  await writeFile(file, 'not JSON\n');
  await expect(openNoticeLog(file)).rejects.toThrow('line 1 is damaged');
  await writeFile(file, '');
  const log = await openNoticeLog(file);
  await expect(log.put([Object.assign(told(1), { token: 'secret' })])).rejects.toThrow();
  expect(await readFile(file, 'utf8')).toBe('');
  log.close();
});

test('GET /notices pages by number and refuses what is none', async () => {
  const log = await openNoticeLog(await path());
  await log.put([1, 2, 3, 4, 5].map(told));
  const app = noticesRoute(log);
  const get = async (query: string) => {
    const response = await app.request(`/notices${query}`);
    return [response.status, await response.json()] as const;
  };
  expect(await get('')).toMatchObject([200, { items: { length: 5 }, next: 5 }]);
  expect(await get('?after=1&limit=2')).toMatchObject([200, { items: [{ seq: 2, notice: told(2) }, { seq: 3 }], next: 3 }]);
  expect(await get('?after=5')).toEqual([200, { items: [], next: 5 }]);
  for (const bad of ['?after=-1', '?after=x', '?after=1e3', '?limit=0', '?limit=501', '?after=99999999999999999999'])
    expect(await get(bad)).toMatchObject([400, { code: 'request/invalid' }]);
  log.close();
});
