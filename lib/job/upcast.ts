/**
 * Upcast: old commits are read as if written today; the record itself is never rewritten (contract §8).
 * A commit of a newer schema stops the reader before it changes anything.
 */
import type { Commit } from './event.ts';
import { EVENT_TYPES, SCHEMA } from './event.ts';
import { RecordFailure } from './failure.ts';

/** Per schema s, what turns a commit of s into one of s + 1. Entries are never removed. */
const STEPS: Readonly<Record<number, (commit: Commit) => Commit>> = {};
const KNOWN = new Set<string>(EVENT_TYPES);

/** The commit in today's schema; throws `record/newer_schema` for one that this release does not understand. */
export const upcast = (commit: Commit, steps = STEPS, schema = SCHEMA): Commit => {
  if (commit.schema > schema) {
    throw new RecordFailure(
      'record/newer_schema',
      `job ${commit.job}: version ${commit.version} has schema ${commit.schema}, this release reads up to ${schema}`,
    );
  }
  let now = commit;
  for (let s = commit.schema; s < schema; s++) {
    const step = steps[s];
    if (!step) throw new RecordFailure('record/newer_schema', `no upcast from schema ${s}`);
    now = { ...step(now), schema: s + 1 };
  }
  const unknown = now.events.find((event) => !KNOWN.has(event.type));
  if (unknown)
    throw new RecordFailure('record/newer_schema', `job ${now.job}: version ${now.version} holds an unknown event '${unknown.type}'`);
  return now;
};
