/** What follows an ended attempt is decided by the policy alone, and every relaunch resumes from the latest checkpoint of its branch. */
import { describe, expect, test } from 'vitest';
import { AT_ONCE, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

const publishing = (ends: unknown, ...steps: number[]): unknown => ({
  program: { runsSeconds: 100, publishes: steps.map((step, i) => ({ atSeconds: 10 * (i + 1), step })), ends },
});
const plain = (ends: unknown): unknown => publishing(ends);

describe.each(SHAPES)('resuming on a %s cluster', (shape) => {
  test('given a preempted attempt that published, then the next resumes from its latest and the status says so (promise 5, P6.2)', async () => {
    const one = await life({
      shape,
      rules: [relaunch(['preempted'])],
      script: [publishing('preempted', 100, 200), publishing('completed', 100)],
    });
    const status = await one.ended();
    expect(status.state).toBe('succeeded');
    expect(status.resumedFrom).toEqual({ attempt: 1, trainingStep: 200, path: 'exec/1-0/step-200' });
    expect(status.attempts).toEqual([
      { n: 1, outcome: 'preempted', decision: 'rule 0 (1 of 3 uses): relaunch' },
      { n: 2, outcome: 'completed' },
    ]);
    const { executions } = one.world.truth();
    expect(executions.map(({ base }) => base.step)).toEqual([-1, 200]);
    expect(executions[1]?.environment['DISPATCH_RESUME_STEP']).toBe('200');
    reads(one);
  });

  test('given an attempt that published nothing, then its successor resumes from the one before (P8.2)', async () => {
    const one = await life({
      shape,
      rules: [relaunch(['preempted'])],
      script: [publishing('preempted', 100), plain('preempted'), plain('completed')],
    });
    expect((await one.ended()).resumedFrom).toMatchObject({ attempt: 1, trainingStep: 100 });
    reads(one);
  });

  test('given `from: scratch`, then publications of earlier epochs do not count from then on (contract §5)', async () => {
    const rules = [relaunch(['out_of_memory'], { from: 'scratch' }), relaunch(['preempted'])];
    const script = [publishing('out_of_memory', 900), publishing('preempted', 10), plain('completed')];
    const one = await life({ shape, rules, script });
    const status = await one.ended();
    expect(one.world.truth().executions.map(({ base }) => base.step)).toEqual([-1, -1, 10]);
    expect(status.resumedFrom).toMatchObject({ attempt: 2, trainingStep: 10 });
    reads(one);
  });

  test('given a program that ignores its resume point, then what it publishes below it is never picked (P8.2)', async () => {
    const script = [
      publishing('preempted', 500),
      { program: { runsSeconds: 60, publishes: [{ atSeconds: 10, step: 20 }], ignoresResume: true, ends: 'preempted' } },
      plain('completed'),
    ];
    const one = await life({ shape, rules: [relaunch(['preempted'])], script });
    expect((await one.ended()).resumedFrom).toMatchObject({ attempt: 1, trainingStep: 500 });
    reads(one);
  });

  test('given `pub/` that cannot be read, then the end waits, then nothing is planned until it can (P2.1, P5.7)', async () => {
    const one = await life({ shape, rules: [relaunch(['preempted'])], script: [publishing('preempted', 100), plain('completed')] });
    await one.until((status) => status.state === 'running');
    one.world.faults.pubUnreadable = true;
    await one.until((status) => status.state === 'recovering', 900);
    await one.advance(3600);
    expect(one.status()).toMatchObject({ state: 'recovering', attempt: { n: 1 } });
    one.world.faults.pubUnreadable = false;
    expect((await one.ended()).resumedFrom).toMatchObject({ attempt: 1, trainingStep: 100 });
    reads(one);
  });
});

describe('rules', () => {
  test.each([
    ['the exit code matches', { exitCode: [3, 75] }, true],
    ['the exit code does not', { exitCode: [4] }, false],
    ['a signal is asked for and there is none', { signal: [9] }, false],
  ])('given %s, then the rule is %s followed (contract §5)', async (_, when, followed) => {
    const rules = [{ ...(relaunch(['exited']) as object), when }];
    const one = await life({ rules, script: [plain({ exit: 3 }), plain('completed')] });
    expect((await one.ended()).state).toBe(followed ? 'succeeded' : 'failed');
    reads(one);
  });

  test('given two rules that match, then the first one acts and the status names it', async () => {
    const rules = [{ on: ['infrastructure'], do: { stop: {} } }, relaunch(['preempted'])];
    const one = await life({ rules, script: [plain('preempted')] });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'preempted' } });
    expect(status.why).toContain('rule 0 says stop');
    reads(one);
  });

  test('given a rule that names people, then even a cancel by an administrator is relaunched', async () => {
    const one = await life({ rules: [relaunch(['cancelled_by_admin'])], script: [plain('completed'), plain('completed')] });
    await one.until((status) => status.state === 'running');
    one.world.foreign.cancel(one.object(), 'admin');
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    reads(one);
  });

  test('given an application failure and a rule for node loss only, then it is never retried (P6.4, C027)', async () => {
    const script = [{ program: { runsSeconds: 7000, ends: 'node_lost' } }, { program: { runsSeconds: 20, ends: { exit: 1 } } }];
    const one = await life({ rules: [relaunch(['node_lost'])], script, spec: { timeLimit: '4h' } });
    const status = await one.ended(20_000);
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'exited' }, attempt: { n: 2 } });
    reads(one);
  });

  test('given a backoff, then nothing is planned before its moment and `why` says when (P6.1)', async () => {
    const backoff = { initial: '10m', factor: 2, max: '1h' };
    const one = await life({ rules: [relaunch(['preempted'], { backoff })], script: [plain('preempted'), plain('completed')] });
    const status = await one.until(({ state }) => state === 'recovering');
    expect(status.why).toMatch(/^Attempt 1 was preempted: rule 0 \(1 of 3 uses\) relaunches it from checkpoint, not before 2030-/);
    await one.ended();
    const [decided] = one.all('recovery_decided');
    expect(decided!.notBefore).toBeGreaterThan(one.view().attempts[0]!.endedAt!);
    reads(one);
  });

  test('given a node that the evidence names as failed, then the next attempt is kept off it (contract §5)', async () => {
    const script = [plain({ node_lost: { nodes: ['n1'], answers: true } }), plain('completed')];
    const one = await life({ rules: [relaunch(['node_lost'], { excludeNodes: { max: 4 } })], script });
    await one.ended();
    const { executions } = one.world.truth();
    expect(executions.map(({ environment }) => environment['DISPATCH_MASTER_ADDR'])).toEqual(['n1', 'n2']);
    reads(one);
  });
});

describe('limits', () => {
  const scaling = (upTo: string): unknown => relaunch(['out_of_memory'], { scale: { memoryPerNode: { by: 1.5, upTo } } });
  const oom = plain('out_of_memory');

  test('given no memory and a rule that scales, then the next attempt has more, up to its limit (contract §5)', async () => {
    const one = await life({ rules: [scaling('30Gi')], script: [oom, oom, plain('completed')] });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.view().attempts.map(({ resources }) => resources.memoryPerNodeMi)).toEqual([16_384, 24_576, 30_720]);
    reads(one);
  });

  test.each([
    ['escalate', 'awaiting'],
    ['stop', 'failed'],
  ] as const)(
    'given a second end for memory at the same memory and unmatched: %s, then %s, and which limit it was (C033)',
    async (unmatched, state) => {
      const one = await life({ unmatched, rules: [relaunch(['out_of_memory'])], script: [oom, oom, oom] });
      const status = await one.until((now) => now.state === state);
      expect(status.why).toContain('out of memory twice with 16384 MiB per node');
      expect(status.attempts).toHaveLength(2);
      if (state === 'awaiting') expect(status.question).toMatchObject({ kind: 'limit_reached', options: ['stop', 'relaunch'] });
      else expect(status.outcome).toMatchObject({ cause: 'out_of_memory' });
      reads(one);
    },
  );

  test('given a used-up rule, then the limit is named', async () => {
    const one = await life({ rules: [relaunch(['preempted'], { max: 1 })], script: [plain('preempted'), plain('preempted')] });
    const status = await one.ended();
    expect(status.why).toContain('rule 0 was used 1 of 1 times');
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'preempted' } });
    reads(one);
  });

  test('given attempts that never ran, then they use up `limits.attempts` and no rule (contract §5)', async () => {
    const launch = { program: { ends: 'launch_failed' } };
    const rules = [relaunch(['launch_failed'], { max: 1 })];
    const one = await life({ rules, limits: { attempts: 4 }, script: [launch, launch, launch, launch, plain('completed')] });
    const status = await one.ended();
    expect(status.attempts).toHaveLength(4);
    expect(status.why).toContain('4 of 4 attempts are used');
    reads(one);
  });

  test('given attempts in a row without progress, then the limit; progress in between counts anew; what never ran does neither', async () => {
    const limits = { attempts: 20, attemptsWithoutProgress: 2 };
    const rules = [relaunch(['preempted', 'launch_failed'], { max: 20 })];
    const script = [
      plain('preempted'),
      publishing('preempted', 10),
      plain('preempted'),
      { program: { ends: 'launch_failed' } },
      plain('preempted'),
    ];
    const one = await life({ rules, limits, script });
    const status = await one.ended();
    expect(status.attempts).toHaveLength(5);
    expect(status.why).toContain('2 attempts in a row made no progress');
    reads(one);
  });

  test('given a required checkpoint and none published, then a limit instead of a start from scratch (contract §4)', async () => {
    const spec = { checkpoint: { required: true } };
    const one = await life({ spec, unmatched: 'escalate', rules: [relaunch(['preempted'])], script: [plain('preempted')] });
    const status = await one.until((now) => now.state === 'awaiting');
    expect(status.question).toMatchObject({ kind: 'limit_reached' });
    expect(status.question?.says).toContain('a checkpoint is required and none was published');
    reads(one);
  });

  test('given unmatched: relaunch_once, then once per job, from the checkpoint, with the default backoff', async () => {
    const one = await life({ unmatched: 'relaunch_once', script: [publishing({ exit: 1 }, 50), plain({ exit: 2 })] });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'exited', detail: { code: 2 } }, resumedFrom: { trainingStep: 50 } });
    expect(status.why).toContain('relaunch_once was used');
    expect(status.why).toContain('`unmatched: relaunch_once` relaunched it from step 50');
    const [decided] = one.all('recovery_decided');
    expect(decided!.notBefore - one.view().attempts[0]!.endedAt!).toBeLessThanOrEqual(30_000);
    reads(one);
  });

  test('given many preemptions, then every one is recovered with the backoff it was promised and nothing is counted twice', async () => {
    const rules = [relaunch(['preempted'], { max: 12, backoff: { initial: '30s', factor: 2, max: '15m' } })];
    const script = Array.from({ length: 12 }, (_, i) => publishing('preempted', i + 1));
    const one = await life({ rules, limits: { attempts: 50 }, script: [...script, plain('completed')] });
    const status = await one.ended(40_000);
    expect(status.attempts).toHaveLength(13);
    // Steps count from the base of each run: 1 + 2 + … + 12.
    expect(status.resumedFrom).toMatchObject({ attempt: 12, trainingStep: 78 });
    // Told as it was then: the third of twelve uses stays the third.
    expect(status.attempts.slice(0, 12).map(({ decision }) => decision)).toEqual(
      Array.from({ length: 12 }, (_, i) => `rule 0 (${i + 1} of 12 uses): relaunch`),
    );
    reads(one);
  });
});

test('given the same seed, then the same life, to the letter: decisions hang on nothing else', async () => {
  const story = async (): Promise<string> => {
    const one = await life({
      rules: [relaunch(['preempted'], { backoff: { ...AT_ONCE, initial: '5m', max: '5m' } })],
      script: [plain('preempted')],
    });
    await one.ended();
    return JSON.stringify(one.commits());
  };
  expect(await story()).toBe(await story());
});
