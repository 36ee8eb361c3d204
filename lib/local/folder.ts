/**
 * Folder: everything a local process keeps, in one place that may be copied, moved or thrown away as a whole:
 *
 *   tag                the 4 characters that say which objects on a cluster are ours: made once, never changed
 *   token-key          the key that seals attempts' tokens: made once
 *   lock               who uses the folder now (lock.ts)
 *   clean              left by an orderly end; taken away while a process runs
 *   table/             the record (table.ts)
 *   notices.jsonl      the bus's log (notice-log.ts)
 *   memory-<id>.jsonl  what was done to a memory cluster (journal.ts)
 */

import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenKeys } from '../checkpoint/token.ts';
import { newTag, TAG } from '../job/identity.ts';
import { takeLock } from './lock.ts';
import { StartRefused, saysOf } from './refusal.ts';

export interface Folder {
  readonly path: string;
  readonly tag: string;
  readonly tokenKeys: TokenKeys;
  /** The last process ended in order: nothing was cut off in the middle. */
  readonly clean: boolean;
  readonly table: string;
  readonly notices: string;
  memory(cluster: string): string;
  /** `clean`: everything in it was closed in order. */
  release(clean: boolean): Promise<void>;
}

/** Makes the folder when it is missing, takes its lock, and reads or makes its tag. Throws StartRefused. */
export const openFolder = async (path: string, random: () => number): Promise<Folder> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const lock = await takeLock(path);
    try {
      const tag = await tagOf(path, random);
      const tokenKeys = await keysOf(path);
      const cleanPath = join(path, 'clean');
      const clean = await exists(cleanPath);
      await rm(cleanPath, { force: true });
      return {
        ...{ path, tag, tokenKeys, clean, table: join(path, 'table'), notices: join(path, 'notices.jsonl') },
        memory: (cluster) => join(path, `memory-${cluster}.jsonl`),
        release: async (ended) => {
          if (ended) await writeFile(cleanPath, '', { mode: 0o600 });
          await lock.release();
        },
      };
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    throw new StartRefused(`${path}: cannot be used as data folder (${saysOf(error)})`);
  }
};

const exists = (path: string): Promise<boolean> =>
  readFile(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );

/** What the file holds; made when it is missing, whole or not at all. */
const made = async (path: string, make: () => string): Promise<string> => {
  if (!(await exists(path))) {
    const aside = `${path}-new`;
    await writeFile(aside, `${make()}\n`, { mode: 0o600, flush: true });
    await link(aside, path);
    await rm(aside);
  }
  return (await readFile(path, 'utf8')).trim();
};

/** With another tag the jobs of this folder would lose their objects. */
const tagOf = async (folder: string, random: () => number): Promise<string> => {
  const path = join(folder, 'tag');
  const tag = await made(path, () => newTag(random));
  if (!TAG.test(tag)) throw new StartRefused(`${path}: must hold 4 characters of 0-9 and a-z without i, l, o, u`);
  return tag;
};

/** With another key the tokens of attempts that run would no longer be believed. */
const keysOf = async (folder: string): Promise<TokenKeys> => {
  const path = join(folder, 'token-key');
  const text = await made(path, () => randomBytes(32).toString('hex'));
  if (!/^[0-9a-f]{64}$/.test(text)) throw new StartRefused(`${path}: must hold 64 hexadecimal digits`);
  return [{ id: 'local', secret: Buffer.from(text, 'hex') }];
};
