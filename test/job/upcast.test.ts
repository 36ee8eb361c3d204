import { describe, expect, test } from 'vitest';
import type { Commit, Event } from '../../lib/job/event.ts';
import { SCHEMA } from '../../lib/job/event.ts';
import { RecordFailure } from '../../lib/job/failure.ts';
import { upcast } from '../../lib/job/upcast.ts';

const commit = (changes: Partial<Commit> = {}): Commit => ({
  job: '01hq2m7v5k8x3c9d',
  version: 4,
  commitId: 'c4',
  at: 1,
  actor: 'supervisor',
  schema: SCHEMA,
  events: [{ type: 'attempt_released', n: 1 }],
  ...changes,
});

const failureOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (failure) {
    return failure;
  }
};

describe('old commits are read as if written today, newer ones stop the reader (contract §8)', () => {
  test("today's schema is read as it is", () => expect(upcast(commit())).toEqual(commit()));

  test('a newer schema throws record/newer_schema, retryable', () => {
    const failure = failureOf(() => upcast(commit({ schema: SCHEMA + 1 })));
    expect(failure).toBeInstanceOf(RecordFailure);
    expect(failure).toMatchObject({ code: 'record/newer_schema', retryable: true });
  });

  test('an unknown event of a known schema throws too, and names it', () => {
    const events = [{ type: 'attempt_teleported', n: 1 } as unknown as Event];
    expect(() => upcast(commit({ events }))).toThrow(/attempt_teleported/);
  });

  test('every step between the two schemas is taken in order, and the commit that was read stays as it was', () => {
    const old = Object.freeze(commit({ schema: 1 }));
    const named = (word: string) => (read: Commit) => ({ ...read, actor: `${read.actor} ${word}` });
    expect(upcast(old, { 1: named('one'), 2: named('two') }, 3)).toMatchObject({ schema: 3, actor: 'supervisor one two' });
    expect(old).toEqual(commit({ schema: 1 }));
  });

  test('a gap between the schemas is refused, never skipped', () => {
    expect(() => upcast(commit({ schema: 1 }), { 2: (read) => read }, 3)).toThrow(/no upcast from schema 1/);
  });
});
