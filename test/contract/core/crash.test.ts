/**
 * A process may die at any moment and be started again: the story ends the same, with one run per attempt (README "no state", C022).
 * First by the clock: killed at every second. Then by its calls: killed before and after every single effect on record or cluster.
 */
import { describe, expect, test } from 'vitest';
import { type Given, type Life, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

const publishing = (ends: unknown, step: number): unknown => ({
  queueSeconds: 4,
  program: { runsSeconds: 20, publishes: [{ atSeconds: 8, step }], ends },
});

/** Submitted, preempted, relaunched from its checkpoint, succeeded. */
const STORY: Given = {
  rules: [relaunch(['preempted', 'never_landed'])],
  script: [publishing('preempted', 100), publishing('completed', 50)],
  pollEverySeconds: 3,
};

/** Dead before a read is dead after the call before it: only effects are worth dying at. */
const READS = new Set([
  ...[
    'read',
    'readAt',
    'goingOn',
    'readHead',
    'readHeads',
    'readWake',
    'readWatch',
    'readLease',
    'getBlob',
    'listActive',
    'listUnended',
    'listOwed',
  ],
  ...['connect', 'close', 'clock', 'probe', 'find', 'observe', 'outputBytes', 'listPublications'],
]);

const endsAsTold = (one: Life): void => {
  expect(one.status()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
  expect(one.status().resumedFrom).toMatchObject({ attempt: 1, trainingStep: 100 });
  expect(one.world.truth().executions.map(({ n, run, base }) => [n, run, base.step])).toEqual([
    [1, 0, -1],
    [2, 0, 100],
  ]);
};

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given a process killed at any second of the story, then it ends the same, with one run per attempt (C022)', async () => {
    const whole = await life({ ...STORY, shape });
    await whole.ended();
    const seconds = Math.ceil(whole.at());
    expect(seconds).toBeGreaterThan(40);
    for (let second = 0; second <= seconds; second++) {
      const one = await life({ ...STORY, shape });
      await one.advance(second);
      await one.restartProcess(second % 7);
      await one.ended(900);
      endsAsTold(one);
      reads(one);
    }
  });

  test.each(['before', 'after'] as const)(
    'given a process killed %s any one of its effects, then it ends the same (C022)',
    async (when) => {
      const whole = await life({ ...STORY, shape });
      await whole.ended();
      for (const [i, name] of whole.process().calls.entries()) {
        if (READS.has(name)) continue;
        const one = await life({ ...STORY, shape, death: { call: i + 1, when } });
        while (one.process().alive()) await one.advance(1);
        await one.restartProcess(11);
        await one.ended(3600);
        const told = `killed ${when} call ${i + 1}, ${name}`;
        expect(one.status().state, told).toBe('succeeded');
        // One that never landed had no program: what follows it is the second of the script, and completes.
        const bases = one.world.truth().executions.map(({ base }) => base.step);
        expect(bases, told).toEqual(one.view().attempts[0]?.outcome?.cause === 'never_landed' ? [-1] : [-1, 100]);
        reads(one);
      }
    },
  );
});
