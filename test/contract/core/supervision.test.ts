/** What supervising costs, and what happens when it is lost, doubled, late, or cannot look: nothing but time (protocols §2, §10). */
import { describe, expect, test } from 'vitest';
import { TIMING } from '../../../lib/job/timing.ts';
import { type Life, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

/** States entered by all supervisors of the job, in order: what Step Functions bills. */
const entered = (one: Life): readonly string[] => {
  const { engine } = one.system();
  return engine
    .listExecutions({ maxResults: 1000 })
    .toReversed()
    .flatMap(({ name }) => engine.history(name).flatMap(({ type, state }) => (type.endsWith('StateEntered') ? [state] : [])));
};

const publishing = (ends: unknown): unknown => ({
  queueSeconds: 600,
  program: { runsSeconds: 3000, publishes: [{ atSeconds: 100, step: 1 }], ends },
});

/** The default: where dispatch itself keeps the patience, its end is a wake that most lives never see. */
const WEEK = { spec: { patience: '7d' } };

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given a life without failure, then at most 8 transitions', async () => {
    const one = await life({ shape, script: [publishing('completed')], ...WEEK });
    await one.ended();
    expect(entered(one)).toEqual(['Advance', 'Route', 'AwaitWake', 'Advance', 'Route', 'Done']);
    reads(one);
  });

  test.each([1, 3, 6])('given %i recoveries, then at most 8 transitions more for each', async (times) => {
    const backoff = { initial: '2m', factor: 1, max: '2m' };
    const script = [...Array.from({ length: times }, () => publishing('preempted')), publishing('completed')];
    const one = await life({
      shape,
      limits: { attempts: 10 },
      rules: [relaunch(['preempted'], { max: 9, backoff })],
      script,
      pollEverySeconds: 30,
      ...WEEK,
    });
    await one.ended(40_000);
    expect(one.status().attempts).toHaveLength(times + 1);
    expect(entered(one).length).toBeLessThanOrEqual(8 + 8 * times);
    reads(one);
  });

  test('given a long wait, then the supervisor wakes for safety only, every 12 h, and the record does not grow (README 7)', async () => {
    const one = await life({ shape, pollEverySeconds: 600, spec: { patience: '7d' }, script: [{ queueSeconds: 5 * 86_400, program: {} }] });
    await one.until(({ why }) => why.includes('Resources'));
    const { version } = one.view();
    const before = entered(one).length;
    await one.advance(4 * 86_400);
    expect(one.view().version).toBe(version);
    const wakes = (4 * 86_400) / TIMING.safetyWakeSeconds;
    expect(entered(one).length - before).toBeLessThanOrEqual(3 * (wakes + 1));
    expect((await one.ended(3 * 86_400)).state).toBe('succeeded');
    reads(one);
  });

  test('given a quiet poll, then one look and one write, however long it stays quiet (README 7)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 3000 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    await one.advance(10);
    const before = one.process().calls.length;
    await one.advance(5);
    const made = one.process().calls.slice(before);
    expect(made.filter((call) => call === 'observe')).toHaveLength(1);
    expect(made.filter((call) => ['append', 'moveHead', 'renewLease', 'writeWatch', 'park'].includes(call))).toEqual(['renewLease']);
    await one.ended();
    reads(one);
  });

  test('given a cluster that cannot be reached for two days, then states keep, nothing ends, and it goes on (P5.4)', async () => {
    const one = await life({ shape, pollEverySeconds: 60, script: [{ program: { runsSeconds: 600 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    const { version } = one.view();
    one.world.unreachable(true);
    await one.advance(2 * 86_400);
    expect(one.status()).toMatchObject({ state: 'running', version });
    one.world.unreachable(false);
    expect((await one.ended()).state).toBe('succeeded');
    reads(one);
  });

  test('given a look that keeps answering as of an hour ago, then it teaches nothing, and nothing is lost (P5.2)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 1200 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    one.world.freezeView(true);
    await one.advance(3600);
    expect(one.status()).toMatchObject({ state: 'running' });
    one.world.freezeView(false);
    expect((await one.ended()).state).toBe('succeeded');
    reads(one);
  });

  test('given a supervisor that is lost without a trace, then reconcile starts the next generation, which carries it on (P2.8)', async () => {
    const one = await life({ shape, rules: [relaunch(['preempted'])], script: [publishing('preempted'), publishing('completed')] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    expect(one.system().engine.kill(`${one.job()}-1`)).toBe(true);
    expect((await one.ended(20_000)).state).toBe('succeeded');
    const names = one
      .system()
      .engine.listExecutions()
      .map(({ name }) => name);
    expect(names).toContain(`${one.job()}-2`);
    reads(one);
  });

  test('given two supervisors at once, then one commit per version wins and the older generation leaves (P2.8)', async () => {
    const one = await life({ shape, rules: [relaunch(['preempted'])], script: [publishing('preempted'), publishing('completed')] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    await one.store.raiseGeneration(one.job(), 1, one.clock.now());
    await one.ports().supervisors.start(one.job(), 2);
    expect((await one.ended(20_000)).state).toBe('succeeded');
    await one.advance(2 * TIMING.safetyWakeSeconds);
    const ends = one
      .system()
      .engine.listExecutions()
      .map(({ status }) => status);
    expect(ends).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    reads(one);
  });

  test('given more loops than one execution may have, then it continues as new and the job does not notice (contract §13)', async () => {
    // Tried again at least every 15 min, for longer than 1,500 times.
    const one = await life({ shape, first: (world) => world.unreachable(true), pollEverySeconds: 3600 });
    await one.advance(16 * 86_400);
    expect(one.status()).toMatchObject({ state: 'pending', version: 1 });
    one.world.unreachable(false);
    expect(await one.ended(20_000)).toMatchObject({ state: 'succeeded', attempt: { n: 1 } });
    const supervisors = one
      .system()
      .engine.listExecutions()
      .map(({ name, status }) => [name, status]);
    expect(supervisors).toEqual([
      [`${one.job()}-2`, 'SUCCEEDED'],
      [`${one.job()}-1`, 'SUCCEEDED'],
    ]);
    reads(one);
  });
});

test('given the loop cap, then the next generation takes over from the record alone, mid-story (P2.8)', async () => {
  const one = await life({ rules: [relaunch(['preempted'])], script: [publishing('preempted'), publishing('completed')] });
  await one.until(({ attempt }) => attempt?.state === 'running');
  one.system().engine.kill(`${one.job()}-1`);
  await one.store.raiseGeneration(one.job(), 1, one.clock.now());
  const input = { answer: {}, generation: 2, job: one.job(), loops: TIMING.loopsPerExecution };
  one.system().engine.startExecution({ name: `${one.job()}-2`, input: JSON.stringify(input) });
  expect((await one.ended(20_000)).state).toBe('succeeded');
  const states = one
    .system()
    .engine.history(`${one.job()}-2`)
    .flatMap(({ type, state }) => (type.endsWith('StateEntered') ? [state] : []));
  expect(states).toEqual(['Advance', 'Route', 'ContinueAsNew', 'Done']);
  expect(one.system().engine.describeExecution(`${one.job()}-3`).status).toBe('SUCCEEDED');
  reads(one);
});

describe('a submission by a caller who asks twice (P1.5)', () => {
  test('given a process that dies at any step of a birth, then the same key finds the same job, once', async () => {
    for (const call of ['job_submitted'] as const)
      for (const when of ['before', 'after'] as const) {
        const one = await life({ death: { call, when }, script: [{ program: { runsSeconds: 30 } }] });
        await one.restartProcess(30);
        expect((await one.ended()).state).toBe('succeeded');
        expect(one.count('job_submitted')).toBe(1);
        reads(one);
      }
  });
});
