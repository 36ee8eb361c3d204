/** One process per folder, whatever its last owner left behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openFolder } from '../../../lib/local/folder.ts';
import { takeLock } from '../../../lib/local/lock.ts';
import { StartRefused } from '../../../lib/local/refusal.ts';
import { folderOf } from './folder.ts';

test('given a living owner, then the second is refused and nothing has changed; after its release the next has it', async () => {
  const folder = await folderOf();
  const lock = await takeLock(folder);
  const before = await readFile(join(folder, 'lock'), 'utf8');
  await expect(takeLock(folder)).rejects.toThrow(`process ${process.pid} uses this data folder`);
  expect(await readdir(folder)).toEqual(['lock']);
  expect(await readFile(join(folder, 'lock'), 'utf8')).toBe(before);
  await lock.release();
  await (await takeLock(folder)).release();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['a process that is gone', '4194304 boot 1\n'],
  ['a process whose number came round again', `${process.pid} another-boot 1\n`],
  ['nobody, since the disk was full', ''],
  ['nonsense', 'abc\n'],
])('given a lock of %s, then it is taken over', async (_, text) => {
  const folder = await folderOf();
  await writeFile(join(folder, 'lock'), text);
  await (await takeLock(folder)).release();
});

test('given a lock of a process that was killed and that nobody reaps, then it is taken over', async () => {
  const folder = await folderOf();
  // The shell becomes a program that asks after no child; the child ends only after that, since a shell would still reap it.
  const child = 'while [ "$(cat /proc/$$/comm)" = sh ]; do sleep 0.01; done';
  const parent = spawn('sh', ['-c', `(${child}) & echo $!; exec sleep 60`], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString());
    const stat = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!;
    await vi.waitFor(() => expect(stat()).toMatch(/^Z/), 10_000);
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    await writeFile(join(folder, 'lock'), `${pid} ${boot} ${stat().split(' ')[19]}\n`);
    await (await takeLock(folder)).release();
  } finally {
    parent.kill('SIGKILL');
  }
});

test('of ten that start at once on a dead owner’s folder exactly one has it', async () => {
  const folder = await folderOf();
  await writeFile(join(folder, 'lock'), '4194304 boot 1\n');
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => takeLock(folder)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of all) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(StartRefused);
  expect(await readdir(folder)).toEqual(['lock']);
});

test('the tag is made once; one that is damaged refuses the start and is left as it is', async () => {
  const data = join(await folderOf(), 'a', 'b');
  const first = await openFolder(data, () => 0.3);
  await first.release(true);
  const second = await openFolder(data, () => 0.7);
  expect([second.tag, second.clean]).toEqual([first.tag, true]);
  expect(second.tokenKeys).toEqual(first.tokenKeys);
  await second.release(false);
  await writeFile(join(data, 'tag'), 'not a tag\n');
  await expect(openFolder(data, () => 0.3)).rejects.toThrow('must hold 4 characters');
  expect(await readdir(data)).not.toContain('lock');
});

test('a folder that cannot be is refused in one line', async () => {
  const file = join(await folderOf(), 'file');
  await writeFile(file, '');
  await expect(openFolder(join(file, 'data'), () => 0.3)).rejects.toThrow(/cannot be used as data folder \(ENOTDIR\)$/);
});
