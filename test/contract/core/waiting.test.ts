/** How long a job may wait, run silent, or last, and who says so; what others do to it is noticed and asked about, never answered by force. */
import { describe, expect, test } from 'vitest';
import { type Given, type Life, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

const never = (group: string, reason: string): unknown => ({ queueSeconds: 'never', pending: { group, reason } });

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given no room, then its patience ends it as no_capacity with the last reason, and a rule of that class may act (contract §4)', async () => {
    const one = await life({ shape, spec: { patience: '20m' }, rules: [relaunch(['capacity'])], script: [never('waiting', 'Priority')] });
    const status = await one.until(({ attempts }) => attempts[0]?.outcome !== undefined);
    expect(status.attempts[0]?.outcome).toBe('no capacity');
    expect(one.view().attempts[0]?.outcome).toMatchObject({ cause: 'no_capacity', ran: 'no', detail: { reason: 'Priority' } });
    expect(one.at()).toBeGreaterThanOrEqual(1200);
    expect(one.at()).toBeLessThanOrEqual(1210);
    // Where the scheduler itself destroys what waits too long, dispatch sends no cancel: one enforcer per event.
    expect(one.count('cancel_intended')).toBe(shape === 'slurm' ? 0 : 1);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    reads(one);
  });

  test.each([
    ['never', 'PartitionNodeLimit', 'unsatisfiable'],
    ['never', 'DependencyNeverSatisfied', 'dependency_failed'],
    ['launch_failed', 'launch failed requeued held', 'launch_failed'],
  ] as const)(
    'given a pending reason of the group %s (%s) that two looks see, then %s without waiting (C015, C016)',
    async (group, reason, cause) => {
      const one = await life({ shape, script: [never(group, reason)] });
      const status = await one.ended();
      expect(status).toMatchObject({ state: 'failed', outcome: { cause, ran: 'no', detail: { reason } } });
      expect(one.at()).toBeGreaterThanOrEqual(10);
      expect(one.at()).toBeLessThan(60);
      reads(one);
    },
  );

  test('given an account without budget beyond its patience, then budget, not capacity (contract §3)', async () => {
    const one = await life({ shape, spec: { patience: '20m' }, script: [never('budget', 'AssocGrpGRESMinutes')] });
    const status = await one.ended();
    expect(status.outcome).toMatchObject({ cause: 'budget', class: 'limit', ran: 'no', detail: { reason: 'AssocGrpGRESMinutes' } });
    reads(one);
  });

  test.each([
    ['blocked', 'PartitionDown'],
    ['held', 'JobHeldAdmin'],
    ['admitted', 'PodsNotReady'],
  ] as const)(
    'given one that waits as %s (%s), then after 20 minutes people are asked, and the job goes on waiting (contract §10)',
    async (group, reason) => {
      const one = await life({ shape, spec: { patience: '4h' }, script: [never(group, reason)] });
      await one.until((_, view) => view.questions.length > 0, 1300);
      expect(one.question()).toMatchObject({ kind: 'stuck', blocks: false, options: ['wait', 'cancel'] });
      expect(one.status().state).toBe('queued');
      await one.answer('cancel');
      expect(await one.ended()).toMatchObject({ state: 'cancelled', outcome: { ran: 'no' } });
      expect(one.view().cancel).toMatchObject({ principal: 'ada', reason: 'answer to q1' });
      reads(one);
    },
  );

  test('given one that ends for more than an hour, then people are asked; when it is over the question is withdrawn (C014)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 60, endingSeconds: 9000 } }], spec: { timeLimit: '10m' } });
    await one.until((_, view) => view.questions.length > 0, 3800);
    expect(one.question()).toMatchObject({ kind: 'stuck', blocks: false });
    expect(one.status()).toMatchObject({ state: 'running', attempt: { state: 'ending' } });
    expect((await one.ended(9000)).state).toBe('succeeded');
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn' });
    reads(one);
  });

  test('given no output for stalledAfter, then it is cancelled as stalled, and a rule for it relaunches (contract §5)', async () => {
    const limits = { stalledAfter: '10m' };
    const script = [
      { program: { ends: 'hangs', silentAfterSeconds: 300, publishes: [{ atSeconds: 200, step: 9 }] } },
      { program: { runsSeconds: 1200 } },
    ];
    const one = await life({ shape, limits, rules: [relaunch(['stalled'])], script });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'succeeded', resumedFrom: { trainingStep: 9 } });
    expect(one.view().attempts[0]?.outcome).toMatchObject({ cause: 'stalled', class: 'limit', ran: 'yes' });
    const ended = one.all('attempt_ended')[0]!;
    expect(ended.outcome.detail['since']).toBe(new Date(one.clock.now() - (one.at() - 300) * 1000).toISOString());
    expect(one.all('cancel_intended')).toMatchObject([{ why: 'stall' }]);
    reads(one);
  });
});

interface Phase {
  readonly phase: string;
  readonly life?: Given;
  readonly reached: (one: Life) => Promise<unknown>;
  readonly ran: 'yes' | 'no';
  readonly attempts: number;
}

const PHASES: readonly Phase[] = [
  {
    phase: 'nothing planned yet',
    life: { first: (world) => world.unreachable(true) },
    reached: (one) => one.until((status) => status.attempt === undefined),
    ran: 'no',
    attempts: 0,
  },
  {
    phase: 'deferred',
    life: { script: [Array.from({ length: 200 }, () => ({ notNow: { reason: 'queue full', retryAfterSeconds: 600 } }))] },
    reached: (one) => one.until((status) => status.why.includes('waits to be sent again')),
    ran: 'no',
    attempts: 1,
  },
  {
    phase: 'gated',
    life: { first: (world) => world.faults.choose((call) => (call.verb === 'fence' && call.n ? { kind: 'unreachable' } : undefined)) },
    reached: (one) => one.until((status) => status.attempt?.state === 'gated'),
    ran: 'no',
    attempts: 1,
  },
  {
    phase: 'queued',
    life: { script: [never('waiting', 'Resources')] },
    reached: (one) => one.until(({ state }) => state === 'queued'),
    ran: 'no',
    attempts: 1,
  },
  {
    phase: 'running',
    life: { script: [{ program: { ends: 'hangs' } }] },
    reached: (one) => one.until(({ attempt }) => attempt?.state === 'running'),
    ran: 'yes',
    attempts: 1,
  },
  {
    phase: 'recovering',
    life: {
      rules: [relaunch(['exited'], { backoff: { initial: '100h', factor: 1, max: '100h' } })],
      script: [{ program: { ends: { exit: 1 } } }],
    },
    reached: (one) => one.until(({ state }) => state === 'recovering'),
    ran: 'yes',
    attempts: 1,
  },
  {
    phase: 'awaiting',
    life: { unmatched: 'escalate', script: [{ program: { ends: { exit: 1 } } }] },
    reached: (one) => one.until(({ state }) => state === 'awaiting'),
    ran: 'yes',
    attempts: 1,
  },
];

describe.each([
  ['the deadline', { spec: { deadline: '2030-01-01T02:00:00Z', timeLimit: '8h', patience: '8h' } }, 'deadline'],
  ['the wall clock', { limits: { wallClock: '2h' }, spec: { timeLimit: '8h', patience: '8h' } }, 'wall_clock'],
] as const)('%s', (_, given, because) => {
  test.each(PHASES)(
    'given it passes while $phase, then nothing more is planned or released and the job ends by it (contract §5)',
    async (row) => {
      const one = await life({ pollEverySeconds: 20, ...given, ...row.life });
      await row.reached(one);
      await one.advance(7200 - one.at() - 1);
      expect(one.view().ended).toBeUndefined();
      one.world.unreachable(false);
      const status = await one.ended(1000);
      expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'deadline', ran: row.ran, detail: { by: because } } });
      expect(one.view().ended?.because).toEqual({ kind: because });
      expect(status.attempts).toHaveLength(row.attempts);
      expect(one.at()).toBeGreaterThanOrEqual(7200);
      reads(one);
    },
  );
});

describe('what others do to it (contract §10 foreign_change)', () => {
  test('given one that others hold, then it is never released by us, and people are asked at once (P4.3)', async () => {
    const one = await life({ script: [never('waiting', 'Resources')], spec: { patience: '4h' } });
    await one.until(({ state }) => state === 'queued');
    const releases = one.process().calls.filter((call) => call === 'release').length;
    one.world.foreign.hold(one.object());
    await one.until((_, view) => view.questions.length > 0);
    expect(one.question()).toMatchObject({ kind: 'foreign_change', blocks: false, options: ['wait', 'cancel'] });
    await one.advance(1800);
    expect(one.process().calls.filter((call) => call === 'release')).toHaveLength(releases);
    await one.answer('cancel');
    expect((await one.ended()).state).toBe('cancelled');
    reads(one);
  });

  test.each(SHAPES)('given a limit that others edit on a %s cluster, then people are told, and the program goes on', async (shape) => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 600 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    one.world.foreign.edit(one.object(), { timeLimitSeconds: 1800 });
    await one.until((_, view) => view.questions.length > 0);
    expect(one.question()).toMatchObject({ kind: 'foreign_change', says: 'attempt 1 was changed by others: time limit is 1800 s' });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn' });
    reads(one);
  });

  test('given one released by others while no mark can be written, then its guard lets nothing begin (P4.2)', async () => {
    const first = (world: Life['world']): void =>
      world.faults.choose((call) => (call.verb === 'fence' ? { kind: 'unreachable' } : undefined));
    const one = await life({ first, script: [{ queueSeconds: 20, program: { runsSeconds: 60 } }] });
    await one.until(({ attempt }) => attempt?.state === 'gated');
    one.world.foreign.release(one.object());
    await one.until(({ attempts }) => attempts[0]?.outcome !== undefined);
    one.world.faults.choose(() => undefined);
    expect(await one.ended()).toMatchObject({
      state: 'failed',
      outcome: { cause: 'launch_failed', ran: 'no', detail: { stage: 'guard' } },
    });
    expect(one.world.truth().executions).toEqual([]);
    reads(one);
  });

  test.each(SHAPES)(
    'given one released by others before we meant to on a %s cluster, then one run follows, told as it was',
    async (shape) => {
      const one = await life({
        shape,
        script: [{ queueSeconds: 120, program: { runsSeconds: 60 } }],
        death: { call: 'release_intended', when: 'before' },
      });
      one.world.foreign.release('1');
      await one.restartProcess(60);
      expect((await one.ended()).state).toBe('succeeded');
      expect(one.world.truth().executions).toHaveLength(1);
      reads(one);
    },
  );

  test('given one that others put back in its queue, then the same attempt goes on as run 1, and people are asked (P4.6)', async () => {
    const one = await life({ script: [[{ program: { runsSeconds: 600 } }, { program: { runsSeconds: 60 } }]] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    one.world.foreign.requeue(one.object());
    await one.until((_, view) => view.questions.length > 0);
    expect(one.question()).toMatchObject({ kind: 'foreign_change' });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'succeeded', attempt: { n: 1, run: 1 } });
    reads(one);
  });

  test('given one that others requeue after its end, then active_after_end is asked about and nothing is reopened (contract §8)', async () => {
    const backoff = { initial: '4h', factor: 1, max: '4h' };
    const script = [[{ program: { ends: { exit: 1 } } }, { program: { runsSeconds: 60 } }], { program: { runsSeconds: 60 } }];
    const one = await life({ unmatched: 'escalate', rules: [relaunch(['exited'], { backoff })], script });
    await one.until(({ state }) => state === 'recovering');
    one.world.foreign.requeue(one.object());
    const status = await one.ended(30_000);
    expect(status).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    reads(one, { foreign: true });
  });
});
