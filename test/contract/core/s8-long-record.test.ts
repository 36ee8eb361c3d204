/** A record has an end (contract §8): what repeats itself for days must not fill it, and its last part is kept for ends, cancels and answers. */
import { describe, expect, test } from 'vitest';
import { newCommitId } from '../../../lib/app/commit.ts';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { SCHEMA } from '../../../lib/job/event.ts';
import { LOG_COMMITS } from '../../../lib/record/port.ts';
import { type Life, life } from './life.ts';

const DAY = 86_400;

/** Reports of the program fill the record up to this version; heads and readers follow with the next commit. */
const fillTo = async (one: Life, version: number): Promise<void> => {
  const from = one.commits().length + 1;
  for (let v = from; v <= version; v++) {
    const events = [{ type: 'checkpoint_published' as const, epoch: 1_000_000, step: v, path: 'a' }];
    const of = { job: one.job(), version: v, commitId: newCommitId(Math.random), at: one.clock.now(), actor: 'attempt:1', schema: SCHEMA };
    await one.store.append({ ...of, events });
  }
  await one.advance(0);
};

test('P3.4: given submissions that cannot be sent for days, then the tries grow apart, and the record stays short', async () => {
  const never = (world: World): void => world.faults.choose(({ verb }) => (verb === 'find' ? { kind: 'unreachable' } : undefined));
  const one = await life({ first: never, spec: { patience: '7d' }, pollEverySeconds: 3600 });
  await one.advance(2 * DAY);
  const tries = one.count('attempt_planned');
  expect(tries).toBeGreaterThan(150);
  expect(tries).toBeLessThan(500);
  one.world.faults.choose(() => undefined);
  expect((await one.ended(DAY)).state).toBe('succeeded');
});

test('given a record that is nearly full and a submission that cannot be sent, then it is given up, and the job ends', async () => {
  const busy = { notNow: { reason: 'queue full', retryAfterSeconds: 600 } };
  const one = await life({ script: [Array.from({ length: 200 }, () => busy)], spec: { patience: '90d' }, pollEverySeconds: 60 });
  await one.until(({ why }) => why.includes('waits to be sent again'));
  await fillTo(one, 9500);
  expect(await one.ended(3600)).toMatchObject({ state: 'failed', outcome: { cause: 'no_capacity', ran: 'no' } });
});

describe('given a run that is suspended and resumed without end', () => {
  const flapping = async (): Promise<Life> => {
    const one = await life({
      script: [{ program: { runsSeconds: 1500 } }],
      pollEverySeconds: 5,
      spec: { timeLimit: '12h', patience: '12h' },
    });
    await one.until(({ attempt }) => attempt?.state === 'running');
    await fillTo(one, LOG_COMMITS - 104);
    for (let i = 0; i < 8; i++) {
      one.world.suspend(one.object());
      await one.advance(5);
      one.world.resume(one.object());
      await one.advance(5);
    }
    expect(one.view().version).toBeLessThanOrEqual(LOG_COMMITS - 95);
    return one;
  };

  test('then its end is still recorded', async () => {
    const one = await flapping();
    expect((await one.ended()).state).toBe('succeeded');
  });

  test('then a cancel is still recorded', async () => {
    const one = await flapping();
    await one.cancel();
    expect((await one.ended()).state).toBe('cancelled');
  });
});
