/**
 * Lock: a data folder belongs to one process at a time. The file names its owner; an owner that is dead left it behind, and whoever
 * comes next takes it. Guards promise 4 locally: two engines on one record would still be safe (protocols §2.8), two writers of one
 * table file would not; the table's own lock (table.ts) stands behind this one.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused, saysOf } from './refusal.ts';

export interface Lock {
  release(): Promise<void>;
}

/** Each try takes a dead owner's file away, or finds that somebody else was faster. */
const TRIES = 5;

/** Throws StartRefused when a living process holds it; then nothing in the folder has changed. */
export const takeLock = async (folder: string): Promise<Lock> => {
  const path = join(folder, 'lock');
  const mine = await ownerText(process.pid);
  for (let i = 0; i < TRIES; i++) {
    const holder = await readFile(path, 'utf8').catch(missing);
    if (holder !== undefined) {
      if (await isAlive(holder)) throw new StartRefused(heldBy(folder, holder));
      await takeAway(path, holder);
    }
    // Written aside and linked: exclusive, and whole for whoever reads it.
    const aside = `${path}-${randomUUID()}`;
    await writeFile(aside, mine, { mode: 0o600 });
    const linked = await link(aside, path).then(() => true, existing);
    await rm(aside, { force: true });
    if (linked) return { release: () => rm(path, { force: true }) };
  }
  throw new StartRefused(`${folder}: its lock changes hands all the time: other processes are starting on the same folder`);
};

const heldBy = (folder: string, holder: string): string =>
  `${folder}: process ${holder.split(' ', 1)[0]} uses this data folder: stop it, or give another folder with --data`;

/** Only the file that was judged dead: one that a faster process put there meanwhile is put back. */
const takeAway = async (path: string, dead: string): Promise<void> => {
  const aside = `${path}-${randomUUID()}`;
  const moved = await rename(path, aside).then(() => true, missing);
  if (!moved) return;
  if ((await readFile(aside, 'utf8')) !== dead) await link(aside, path).catch(existing);
  await rm(aside, { force: true });
};

const missing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};
const existing = (error: NodeJS.ErrnoException): false => {
  if (error.code !== 'EEXIST') throw error;
  return false;
};

/** `<pid> <boot> <start>`: a number alone comes round again, most of all in containers, where everything is process 1. */
const ownerText = async (pid: number): Promise<string> => {
  const [boot, fields] = await Promise.all([proc('/proc/sys/kernel/random/boot_id'), statOf(pid)]);
  return `${pid} ${boot?.trim() ?? '-'} ${fields?.[19] ?? '-'}\n`;
};

/** The fields of /proc/<pid>/stat after the command's name, which may hold spaces: the state, …, the 20th is the start time. */
const statOf = async (pid: number): Promise<readonly string[] | undefined> => {
  const stat = await proc(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
};

const proc = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    // Another system than Linux, or a process that is gone: the number decides alone.
    if (saysOf(error) === 'ENOENT' || saysOf(error) === 'ESRCH') return undefined;
    throw error;
  });

const isAlive = async (holder: string): Promise<boolean> => {
  const pid = Number(holder.split(' ', 1)[0]);
  // A file that was torn by a full disk names nobody.
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives under another account.
    return saysOf(error) === 'EPERM' && (await ownerText(pid)) === holder;
  }
  // Killed, and its parent does not ask after it: it keeps its number, for ever where process 1 of a container reaps nobody.
  if (/^[ZX]$/.test((await statOf(pid))?.[0] ?? '')) return false;
  return (await ownerText(pid)) === holder;
};
