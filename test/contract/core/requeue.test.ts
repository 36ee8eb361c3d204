/** A requeue keeps the attempt: the same object, run + 1, whoever does it; whether it happened is decided by a look (contract §5). */
import { describe, expect, test } from 'vitest';
import { type Given, life } from './life.ts';
import { reads } from './reader.ts';

const OWNED = ['preempted', 'node_lost', 'boot_failed', 'launch_failed'];
const by = (who: 'scheduler' | 'supervisor', max = 2): unknown[] => [
  { on: who === 'scheduler' ? OWNED : ['preempted'], do: { requeue: { max, by: who } } },
];
const run = (ends: unknown, step: number): unknown => ({
  program: { runsSeconds: 300, publishes: [{ atSeconds: 60, step }], ends },
});
const given = (who: 'scheduler' | 'supervisor', ...runs: unknown[]): Given => ({ shape: 'slurm', rules: by(who), script: [runs] });

describe.each(['scheduler', 'supervisor'] as const)('by the %s', (who) => {
  test('given a preemption, then the same attempt runs again from its latest checkpoint (P4.6, C013, C024)', async () => {
    const one = await life(given(who, run('preempted', 10), run('completed', 5)));
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
    expect(status.attempts).toHaveLength(1);
    expect(one.world.truth().executions.map(({ n, run: r, base }) => [n, r, base.step])).toEqual([
      [1, 0, -1],
      [1, 1, 10],
    ]);
    expect(one.count('attempt_planned')).toBe(1);
    expect(one.count('release_intended')).toBe(1);
    reads(one);
  });

  test('given as many preemptions as allowed, then each is a run and none counts for limits.attempts', async () => {
    const one = await life({ ...given(who, run('preempted', 10), run('preempted', 10), run('completed', 5)), limits: { attempts: 1 } });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 2 } });
    reads(one);
  });

  test('given one more than allowed, then the rule is used up, and `why` names it', async () => {
    const one = await life(given(who, ...Array.from({ length: 5 }, () => run('preempted', 10))));
    const status = await one.ended(20_000);
    expect(status.state).toBe('failed');
    expect(one.view().ended?.because).toMatchObject({ kind: 'limit' });
    expect(status.why).toMatch(who === 'scheduler' ? /requeued it 3 times, 2 are allowed/ : /rule 0 was used 2 of 2 times/);
    expect(one.world.truth().executions.filter((e) => e.startedAtMs > 0).length).toBeLessThanOrEqual(4);
    if (who === 'scheduler') expect(one.all('cancel_intended')).toMatchObject([{ why: 'limit' }]);
    reads(one);
  });

  test('given a cancel while it waits for its next run, then it ends and does not come back', async () => {
    const one = await life(given(who, run('preempted', 10), run('completed', 5)));
    await one.until(({ attempt }) => attempt?.run === 1);
    await one.cancel();
    expect(await one.ended()).toMatchObject({ state: 'cancelled' });
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  test('given a completed run, then nothing is requeued', async () => {
    const one = await life(given(who, run('completed', 10)));
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 0 } });
    reads(one);
  });
});

describe('by the supervisor', () => {
  test('given a requeue whose answer is lost, then the look decides: run 1, once', async () => {
    const one = await life({
      ...given('supervisor', run('preempted', 10), run('completed', 5)),
      first: (w) => w.faults.next('requeue', { kind: 'reply_lost' }),
    });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
    reads(one);
  });

  test('given a requeue whose request is lost, then it is sent again', async () => {
    const one = await life({
      ...given('supervisor', run('preempted', 10), run('completed', 5)),
      first: (w) => w.faults.next('requeue', { kind: 'request_lost' }),
    });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
    expect(one.count('requeue_intended')).toBe(1);
    reads(one);
  });

  test('given an object that the scheduler has forgotten, then the requeue is refused, and that uses the rule up', async () => {
    const one = await life({
      ...given('supervisor', run('preempted', 10), run('completed', 5)),
      first: (w) =>
        w.faults.choose(({ verb }) => {
          if (verb === 'requeue') w.purge('1');
          return undefined;
        }),
    });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'preempted' } });
    expect(status.why).toContain('the requeue was refused: Invalid job id specified');
    expect(one.count('requeue_refused')).toBe(1);
    reads(one);
  });
});

describe('by the scheduler', () => {
  test('given a launch that failed, then it is requeued and held, which only a person can end: told as launch_failed (C015)', async () => {
    const one = await life(given('scheduler', { program: { ends: 'launch_failed' } }));
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'launch_failed' } });
    reads(one);
  });

  test('given an end that the scheduler does not requeue, then its cause is the program’s own', async () => {
    const one = await life(given('scheduler', run({ exit: 2 }, 10)));
    expect(await one.ended()).toMatchObject({ state: 'failed', outcome: { cause: 'exited' } });
    reads(one);
  });
});
