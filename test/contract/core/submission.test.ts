/** Whatever becomes of a submission or of its answer: one run at most, found or proved absent before anything follows (protocols §3, S8). */
import { describe, expect, test } from 'vitest';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

const BOUND = 90;
const CREDENTIAL = 300;
const MARGIN = 30;
const fine = { program: { runsSeconds: 60 } };
const again = [relaunch(['never_landed'])];
/** Answers of the look-up just before a submission are as good as any: only what `choose` says of the others counts. */
const lost =
  (times: number) =>
  (world: World): void =>
    world.faults.next('submit', { kind: 'request_lost' }, times);

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test('given a lost answer of a submission that landed, then it is found by its identity and bound: one run (C019)', async () => {
    const one = await life({ shape, script: [fine], first: (world) => world.faults.next('submit', { kind: 'reply_lost' }) });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.whys()).toContainEqual({ state: 'pending', why: 'Attempt 1 was sent and its answer was lost: looking whether it landed.' });
    expect(one.world.truth().objects).toHaveLength(1);
    expect(one.at()).toBeLessThan(120);
    reads(one);
  });

  test.each([1, 15, 60, BOUND - 1, BOUND, BOUND + 1, BOUND + MARGIN])(
    'given an answer lost and a landing %i s late, then exactly one run, found before anything is decided',
    async (seconds) => {
      const one = await life({ shape, rules: again, script: [fine, fine], first: (world) => world.delaySubmission(seconds) });
      expect((await one.ended()).state).toBe('succeeded');
      expect(one.world.truth().executions).toHaveLength(1);
      expect(one.view().attempts).toHaveLength(1);
      reads(one);
    },
  );

  test('given not now, then the same attempt is sent again, try 2, not before its moment, and no attempt is used (P3.4)', async () => {
    const busy = { notNow: { reason: 'QOSMaxSubmitJobPerUserLimit', retryAfterSeconds: 120 } };
    const one = await life({ shape, limits: { attempts: 1 }, script: [[busy, busy, fine]] });
    const status = await one.until(({ why }) => why.includes('waits to be sent again'));
    expect(status).toMatchObject({ state: 'pending', attempt: { n: 1 } });
    expect(status.why).toBe('Attempt 1 waits to be sent again: QOSMaxSubmitJobPerUserLimit.');
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1 } });
    expect(one.all('attempt_planned').map((planned) => planned.try)).toEqual([1, 2, 3]);
    expect(new Set(one.all('attempt_planned').map((planned) => planned.identity)).size).toBe(1);
    expect(one.at()).toBeGreaterThanOrEqual(240);
    reads(one);
  });

  test('given not now for longer than the patience, then it ends as no_capacity, ran: no, without a look (P3.4)', async () => {
    const busy = { notNow: { reason: 'queue full', retryAfterSeconds: 600 } };
    const one = await life({ shape, spec: { patience: '30m' }, script: [Array.from({ length: 50 }, () => busy)] });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'no_capacity', ran: 'no', detail: { reason: 'queue full' } } });
    expect(one.at()).toBeGreaterThanOrEqual(1800);
    reads(one);
  });

  test('given a cluster that is down just before sending, then nothing was sent: deferred, and sent again (P3.4)', async () => {
    const one = await life({ shape, script: [fine], first: (world) => world.faults.next('find', { kind: 'unreachable' }) });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.count('attempt_submission_deferred')).toBe(1);
    expect(one.count('attempt_uncertain')).toBe(0);
    reads(one);
  });

  test('given look-ups that say themselves that they are incomplete, then an absence is not believed (P3.6, C020)', async () => {
    let sent = 0;
    const first = (world: World): void =>
      world.faults.choose(({ verb }) => {
        if (verb !== 'submit') return undefined;
        world.lie({ hides: () => true, complete: false });
        return sent++ === 0 ? { kind: 'reply_lost' } : { kind: 'unreachable' };
      });
    const one = await life({ shape, rules: again, script: [fine, fine], first });
    await one.advance(1800);
    expect(one.status()).toMatchObject({ attempt: { n: 1, state: 'uncertain' } });
    one.world.lie(undefined);
    one.world.faults.choose(() => undefined);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1 } });
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  test('given an empty answer once, twice, or for four minutes, then nothing changes (C020)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 1200 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    const version = one.view().version;
    for (const seconds of [5, 10, 240]) {
      one.world.lie({ hides: () => true, complete: true });
      await one.advance(seconds);
      one.world.lie(undefined);
      await one.advance(5);
    }
    expect(one.view().version).toBe(version);
    expect((await one.ended()).state).toBe('succeeded');
    reads(one);
  });
});

describe('where a name can be created once (P3.3, P3.5)', () => {
  test.each([1, 2, 5])(
    'given %i lost requests, then the same create is repeated until it is answered: one attempt, one object',
    async (times) => {
      const one = await life({ shape: 'kubernetes', script: [fine], first: lost(times) });
      expect(await one.ended()).toMatchObject({ state: 'succeeded', attempts: [{ n: 1 }] });
      expect(one.world.truth().objects).toHaveLength(1);
      expect(one.count('attempt_never_landed')).toBe(0);
      reads(one);
    },
  );

  test('given a create that arrives hours late, after its repetition, then it finds its name taken: one object', async () => {
    const one = await life({
      shape: 'kubernetes',
      script: [{ program: { runsSeconds: 3000 } }],
      first: (world) => world.delaySubmission(2400),
    });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.world.truth().objects).toHaveLength(1);
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  const full = { refuse: { reason: 'Forbidden', message: 'exceeded quota' } };
  test('given a repeat that is refused while the first create is under way, then that refuses nothing: one object, and it runs', async () => {
    const first = (world: World): void => world.delaySubmission(BOUND - 1);
    const one = await life({ shape: 'kubernetes', script: [[...Array.from({ length: 5 }, () => full), fine]], first });
    await one.advance(BOUND - 2);
    expect(one.status()).toMatchObject({ state: 'pending', attempt: { n: 1, state: 'uncertain' } });
    const refused = one.world.truth().acts.filter(({ result }) => result === 'refused').length;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThanOrEqual(5);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempts: [{ n: 1 }] });
    expect(one.world.truth().objects).toHaveLength(1);
    reads(one);
  });

  test('given nothing that lands, then a refused repeat is the answer once the settle time is over, and not a look later', async () => {
    const one = await life({ shape: 'kubernetes', script: [Array.from({ length: 50 }, () => full)], first: lost(1) });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'rejected', ran: 'no', detail: { message: 'exceeded quota' } } });
    const { plannedAt, endedAt, clusterSettleAt, clusterNow } = one.view().attempts[0]!;
    expect(endedAt! - plannedAt).toBeGreaterThan(clusterSettleAt - clusterNow);
    expect(endedAt! - plannedAt).toBeLessThanOrEqual(clusterSettleAt - clusterNow + 2000);
    reads(one);
  });

  test('given a cluster that is down after a lost request, then nothing is concluded, however long it lasts', async () => {
    const first = (world: World): void =>
      world.faults.choose(({ verb }) => {
        if (verb !== 'submit') return undefined;
        world.unreachable(true);
        return { kind: 'request_lost' };
      });
    const one = await life({ shape: 'kubernetes', script: [fine], pollEverySeconds: 60, first });
    await one.advance(6 * 3600);
    expect(one.status()).toMatchObject({ state: 'pending', attempt: { n: 1, state: 'uncertain' } });
    one.world.faults.choose(() => undefined);
    one.world.unreachable(false);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1 } });
    reads(one);
  });
});

describe('where only the bound ends a doubt (P3.5)', () => {
  test('given one that never reached the scheduler, then that is proved after bound, credential life and two looks, and a rule may act', async () => {
    const one = await life({ rules: again, script: [fine, fine], first: lost(1) });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    const settle = BOUND + CREDENTIAL + MARGIN;
    const first = one.view().attempts[0]!;
    expect(first.outcome).toMatchObject({ cause: 'never_landed', ran: 'no' });
    expect(first.endedAt! - first.plannedAt).toBeGreaterThanOrEqual((settle + 30) * 1000);
    expect(first.endedAt! - first.plannedAt).toBeLessThanOrEqual((settle + 30 + 2 * 120) * 1000);
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  test('given three submissions in a row that never landed, then people are asked; `wait` is the default (contract §10)', async () => {
    const one = await life({ unmatched: 'escalate', rules: again, first: lost(3), script: [fine, fine, fine, fine] });
    const status = await one.until(({ state }) => state === 'awaiting');
    expect(status.question).toMatchObject({ kind: 'outcome_unknown', options: ['wait', 'stop', 'relaunch', 'accept_success'] });
    expect(status.question?.says).toContain('3 submissions in a row never reached the scheduler');
    expect(status.attempts).toHaveLength(3);
    await one.answer('relaunch');
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 4 } });
    expect(one.world.truth().executions).toHaveLength(1);
    reads(one);
  });

  test('given look-ups that cannot be made, then nothing is concluded, however long it lasts (P3.6)', async () => {
    const one = await life({ rules: again, script: [fine, fine], pollEverySeconds: 60, first: lost(1) });
    await one.until(({ attempt }) => attempt?.state === 'uncertain');
    one.world.unreachable(true);
    await one.advance(6 * 3600);
    expect(one.status()).toMatchObject({ state: 'pending', attempt: { n: 1, state: 'uncertain' } });
    one.world.unreachable(false);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    reads(one);
  });
});

describe('by the clock of the cluster (P3.1)', () => {
  test.each([-7200, -95, 95, 7200])(
    'given a clock that is %i s off, then a lost submission is settled all the same, and once',
    async (seconds) => {
      const one = await life({ cluster: { clockOffsetMs: seconds * 1000 }, rules: again, script: [fine, fine], first: lost(1) });
      expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
      expect(one.world.truth().executions).toHaveLength(1);
      reads(one);
    },
  );

  test.each([150, 300, BOUND + CREDENTIAL - 1])(
    'given a landing %i s late under a live credential, then it is found: one run',
    async (seconds) => {
      const one = await life({ rules: again, script: [fine, fine], first: (world) => world.delaySubmission(seconds) });
      expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 1 } });
      expect(one.world.truth().executions).toHaveLength(1);
      reads(one);
    },
  );

  test('given a request that comes after its credential died, then it never lands, and the next attempt is the one run', async () => {
    const one = await life({ rules: again, script: [fine, fine], first: (world) => world.delaySubmission(BOUND + CREDENTIAL + 1) });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    expect(one.world.truth().acts.filter(({ result }) => result === 'expired')).toHaveLength(1);
    reads(one);
  });

  test('given a refusal of which the scheduler keeps a record and whose answer is lost, then that record is the refusal', async () => {
    const refused = { refuse: { reason: 'Reason', message: 'no such partition', leavesRecord: true } };
    const one = await life({ script: [refused], first: (world) => world.faults.next('submit', { kind: 'reply_lost' }) });
    expect(await one.ended()).toMatchObject({ state: 'failed', outcome: { cause: 'rejected', ran: 'no' } });
    expect(one.count('attempt_refused')).toBe(1);
    reads(one);
  });
});

describe('a release (P4.3)', () => {
  test.each(SHAPES)(
    'given its answer lost on a %s cluster, then it is repeated while the gate is seen closed, and runs once',
    async (shape) => {
      const one = await life({ shape, script: [fine], first: (world) => world.faults.next('release', { kind: 'reply_lost' }) });
      expect((await one.ended()).state).toBe('succeeded');
      expect(one.count('release_intended')).toBe(1);
      reads(one);
    },
  );

  test.each(SHAPES)('given its request lost three times on a %s cluster, then it is sent until a look sees it', async (shape) => {
    const one = await life({ shape, script: [fine], first: (world) => world.faults.next('release', { kind: 'request_lost' }, 3) });
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.process().calls.filter((call) => call === 'release').length).toBeGreaterThanOrEqual(4);
    reads(one);
  });

  test('given an attempt that is never released, then it destroys itself by its patience: gate_expired, ran: no (P4.1)', async () => {
    const first = (world: World): void => world.faults.choose((call) => (call.verb === 'release' ? { kind: 'request_lost' } : undefined));
    const one = await life({ script: [fine], spec: { patience: '30m' }, first });
    expect(await one.ended()).toMatchObject({ state: 'failed', outcome: { cause: 'gate_expired', ran: 'no' } });
    reads(one);
  });
});
