/** A folder of one test file, gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

export const folderOf = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'dispatch-data-'));
  made.push(folder);
  return folder;
};
