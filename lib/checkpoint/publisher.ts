/**
 * `dispatch-publish` as text: the one file that announces a save from within a run (protocols §8.3). It is POSIX sh because compute
 * nodes have no Node; it is kept as a file of its own so that a shell, an editor and a test read the very bytes that a node runs.
 * Guards promise 5 on the node: nothing is announced that is not complete, durable and, as far as the node can see, in time.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its name on the PATH of every run, and beside this module (a bundle carries a copy beside itself). */
export const PUBLISHER = 'dispatch-publish';

/** What it exits with: fixed words between a program and us. */
export const PUBLISHER_EXIT = { published: 0, exists: 1, invalid: 2, incomplete: 3, late: 4 } as const;

/** What it can tell the completeness of by itself: the values that `--framework` takes. */
export const FRAMEWORKS = ['torch-dcp', 'deepspeed', 'megatron', 'huggingface', 'orbax'] as const;

/** Throws when the file is missing or cut: a run must not start with half of it on its PATH. */
export const publisherText = (folder: string = import.meta.dirname): string => {
  const text = readFileSync(join(folder, `${PUBLISHER}.sh`), 'utf8');
  if (!text.startsWith('#!/bin/sh\n{\n') || !text.endsWith('\n}\n')) throw new Error(`${PUBLISHER}.sh in ${folder} is not whole`);
  return text;
};

/** For an adapter's `helpers`: what is put on the PATH of every run. */
export const publisherFile = (folder?: string): { readonly name: string; readonly text: string } => ({
  name: PUBLISHER,
  text: publisherText(folder),
});
