/**
 * The log's own rules, pure: what may be appended, and what a read must look like (contract §8).
 * Guards promise 4: a log is versions 1, 2, 3, … without a gap, and no item outgrows the table before it is sent.
 */
import { createHash } from 'node:crypto';
import { assert } from '../job/assertion.ts';
import type { Commit } from '../job/event.ts';
import { type ClusterCommit, COMMIT_BYTES, LOG_COMMITS } from './port.ts';

const bytes = (text: string): number => Buffer.byteLength(text);

/** Whose log it is, in the words of an assertion. */
export const jobLog = (job: string): string => `job ${job}`;
export const clusterLog = (cluster: string): string => `cluster ${cluster}`;

/** The commit as JSON; asserts its version and size, before any write. */
export const commitText = (whose: string, commit: Commit | ClusterCommit): string => {
  assert(
    Number.isInteger(commit.version) && commit.version >= 1 && commit.version <= LOG_COMMITS,
    `${whose}: version ${commit.version} is outside of the log`,
  );
  assert(commit.events.length > 0, `${whose}: a commit carries at least one event`);
  const text = JSON.stringify(commit);
  assert(bytes(text) <= COMMIT_BYTES, `${whose}: a commit of ${bytes(text)} bytes is larger than ${COMMIT_BYTES}`);
  return text;
};

/** Asserts that `commits` are the versions after `afterVersion`, each once and in order. */
export const gapFree = <T extends { readonly version: number }>(
  whose: string,
  afterVersion: number,
  commits: readonly T[],
): readonly T[] => {
  for (const [i, commit] of commits.entries()) {
    assert(commit.version === afterVersion + 1 + i, `${whose}: the log has no version ${afterVersion + 1 + i}`);
  }
  assert(commits.length <= LOG_COMMITS, `${whose}: the log has more than ${LOG_COMMITS} commits`);
  return commits;
};

/** Blobs and watches are one item each, like a commit. */
export const checkText = (whose: string, text: string): void =>
  assert(bytes(text) <= COMMIT_BYTES, `${whose}: a text of ${bytes(text)} bytes is larger than ${COMMIT_BYTES}`);

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
