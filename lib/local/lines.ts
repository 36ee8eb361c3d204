/**
 * Lines: a file that grows by whole lines. A killed process keeps every line that was written, since the system has it by then; of a
 * line that was cut off nobody has heard, and readers leave it out.
 */
import { fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StartRefused, saysOf } from './refusal.ts';

/** Without their ends; none for a file that is not there. Throws StartRefused for one that cannot be read. */
export const wholeLines = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (saysOf(error) !== 'ENOENT') throw new StartRefused(`${path}: cannot be read (${saysOf(error)})`);
    return '';
  });
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
};

/** All of it or nothing: half a line in the middle would make the file unreadable. */
export const appendWhole = (file: number, text: string): void => {
  const bytes = Buffer.from(text);
  const { size } = fstatSync(file);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
};
