/** A requeue is decided by a look (contract §5, P4.6): its settle time begins when it was sent, and no run is begun beyond the rule's max. */
import { expect, test } from 'vitest';
import { newCommitId } from '../../../lib/app/commit.ts';
import { cancel } from '../../../lib/app/step/cancel.ts';
import { SCHEMA } from '../../../lib/job/event.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { fold } from '../../../lib/job/view.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import { type Life, life } from './life.ts';
import { reads } from './reader.ts';

const run = (ends: unknown, seconds = 60): unknown => ({ program: { runsSeconds: seconds, ends } });
const rules = [{ on: ['preempted'], do: { requeue: { max: 1, by: 'supervisor' } } }];
const requeues = (one: Life) => one.world.truth().acts.filter(({ verb, result }) => verb === 'requeue' && result === 'done');

test('given a requeue that could be sent only after ten minutes, and looks that are late, then its settle time begins with it', async () => {
  const one = await life({ rules, script: [[run('preempted'), run('completed')]], pollEverySeconds: 600 });
  one.world.faults.choose(({ verb }) => {
    if (verb !== 'requeue') return undefined;
    if (one.at() < 1500) return { kind: 'unreachable' };
    // The controller has it; what it lists is a moment older.
    one.world.freezeView(true);
    return undefined;
  });
  await one.until((_, view) => view.attempts[0]?.requeueIntendedAt !== undefined, 3600);
  while (requeues(one).length === 0) await one.advance(1);
  await one.advance(20);
  expect(one.count('requeue_refused')).toBe(0);
  one.world.faults.choose(() => undefined);
  one.world.freezeView(false);
  expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
  expect(requeues(one)).toHaveLength(1);
  reads(one);
});

test('given a next run that began and ended between two looks, then it counts, and no third one is begun', async () => {
  const script = [[run('preempted'), run('preempted', 5), run('completed')]];
  const one = await life({ rules, script, pollEverySeconds: 3000, cluster: { requeueDelaySeconds: 1 } });
  one.world.faults.choose(({ verb }) => {
    if (verb === 'requeue' && requeues(one).length === 0) one.world.freezeView(true);
    return undefined;
  });
  while (requeues(one).length === 0) await one.advance(1);
  // Meanwhile the second run begins and ends; every look is from before.
  const before = one.world.truth().executions.length;
  while (one.world.truth().executions.filter(({ endedAtMs }) => endedAtMs !== undefined).length === before) await one.advance(0.25);
  one.world.freezeView(false);
  await one.ended(20_000);
  expect(one.world.truth().executions.map(({ run: r }) => r)).toEqual([0, 1]);
  expect(requeues(one)).toHaveLength(1);
  expect(one.view().ended?.because).toMatchObject({ kind: 'limit' });
  reads(one);
});

test('given a requeue that is refused because another one landed first, then the look decides: run 1, once', async () => {
  const one = await life({ rules, script: [[run('preempted'), run('completed')]] });
  one.world.faults.choose(({ verb }) => {
    // Between the look and the act: a person's, or an earlier request whose answer was lost.
    if (verb === 'requeue') one.world.foreign.requeue(one.world.truth().objects[0]!.id);
    return undefined;
  });
  expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
  expect(one.count('requeue_refused')).toBe(0);
  expect(
    one.world
      .truth()
      .acts.filter(({ verb }) => verb === 'requeue')
      .map(({ result }) => result),
  ).toContain('refused');
  expect(one.world.truth().executions.map(({ run: r }) => r)).toEqual([0, 1]);
  reads(one);
});

test('given such a refusal, and looks that are late, then nothing is decided until one is of its time', async () => {
  const one = await life({ rules, script: [[run('preempted'), run('completed')]] });
  one.world.faults.choose(({ verb }) => {
    if (verb !== 'requeue' || one.world.truth().objects[0]!.run > 0) return undefined;
    one.world.freezeView(true);
    one.world.jumpClock(1000);
    one.world.foreign.requeue(one.world.truth().objects[0]!.id);
    return undefined;
  });
  const refused = () => one.world.truth().acts.some(({ verb, result }) => verb === 'requeue' && result === 'refused');
  while (!refused()) await one.advance(1);
  await one.advance(60);
  expect(one.count('requeue_refused')).toBe(0);
  one.world.freezeView(false);
  expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
  expect(one.world.truth().executions.map(({ run: r }) => r)).toEqual([0, 1]);
  reads(one);
});

test('P4.5: given an attempt with the id of the one before, then the run of that one is no run of its own', async () => {
  const script = [
    [run('preempted'), run({ exit: 3 })],
    [run('preempted'), run('completed')],
  ];
  const again = { on: ['exited'], do: { relaunch: { max: 1, from: 'scratch', backoff: { initial: '1s' } } } };
  const one = await life({ rules: [{ on: ['preempted'], do: { requeue: { max: 5, by: 'supervisor' } } }, again], script });
  await one.until((_, view) => view.attempts[0]?.run === 1, 3600);
  one.world.reuseIds(Number(one.world.truth().objects[0]!.id));
  expect(await one.ended(20_000)).toMatchObject({ state: 'succeeded', attempt: { n: 2, run: 1 } });
  expect(new Set(one.world.truth().objects.map(({ id }) => id)).size).toBe(1);
  expect(requeues(one)).toHaveLength(2);
  reads(one);
});

test('P7: given a cancel that is committed while a requeue looks, then the cancel wins and nothing is requeued', async () => {
  const store = createMemoryStore();
  const one = await life({ rules, script: [[run('preempted'), run('completed')]], store });
  let cancelled = false;
  one.world.faults.choose(({ verb }) => {
    const commits = store.dump().jobs.get(one.job())?.commits ?? [];
    if (verb === 'find' && !cancelled && commits.at(-1)?.events.some(({ type }) => type === 'requeue_intended')) {
      cancelled = true;
      const events = [{ type: 'cancel_requested' as const, principal: 'ada', reason: 'no longer wanted' }];
      const of = { job: one.job(), version: commits.length + 1, at: one.clock.now(), actor: 'user:ada', schema: SCHEMA };
      void store.append({ ...of, commitId: newCommitId(Math.random), events });
    }
    return undefined;
  });
  expect(await one.ended()).toMatchObject({ state: 'cancelled' });
  expect(cancelled).toBe(true);
  expect(requeues(one)).toEqual([]);
});

test('P1.3: given two supervisors that decided from the same version, then a cancel is intended once, by the faster one', async () => {
  const store = createMemoryStore();
  const one = await life({ script: [run('completed', 3000)], spec: { timeLimit: '2h' }, store });
  await one.until(({ attempt }) => attempt?.state === 'running');
  const events = [{ type: 'cancel_requested' as const, principal: 'ada', reason: 'no longer wanted' }];
  const of = { job: one.job(), version: one.view().version + 1, at: one.clock.now(), actor: 'user:ada', schema: SCHEMA };
  await store.append({ ...of, commitId: newCommitId(Math.random), events });
  const decidedFrom = fold(store.dump().jobs.get(one.job())!.commits)!;
  one.world.faults.choose(({ verb }) => (verb === 'cancel' ? { kind: 'request_lost' } : undefined));
  // The slower one comes when the cancel is due to be repeated, so that its step is the next one again.
  for (const afterSeconds of [0, TIMING.cancelAgainSeconds]) {
    await one.advance(afterSeconds);
    let over = false;
    const cancels = cancel(one.ports(), decidedFrom, { n: 1, why: 'request' }).finally(() => (over = true));
    while (!over) await one.advance(0.1);
    await cancels;
  }
  one.world.faults.choose(() => undefined);
  expect(await one.ended()).toMatchObject({ state: 'cancelled' });
  expect(one.count('cancel_intended')).toBe(1);
});
