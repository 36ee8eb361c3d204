/** A cancel wins against everything not yet committed, in every state; the job ends only when nothing of it can run (protocols §7). */
import { describe, expect, test } from 'vitest';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { type Given, type Life, life, relaunch, SHAPES } from './life.ts';
import { reads } from './reader.ts';

const long = { queueSeconds: 300, program: { runsSeconds: 3000, publishes: [{ atSeconds: 10, step: 5 }], ends: 'preempted' } };

interface Row {
  readonly given: string;
  readonly life?: Given;
  /** Brings the life to the moment of the cancel. */
  readonly arrange: (one: Life) => Promise<unknown> | unknown;
  readonly state: string;
  readonly ran: 'yes' | 'no';
  readonly executions: number;
}

const ROWS: readonly Row[] = [
  {
    given: 'no attempt planned, the cluster being down',
    life: { first: (world) => world.unreachable(true) },
    arrange: (one) => one.until((status) => status.state === 'pending' && status.attempt === undefined),
    state: 'pending',
    ran: 'no',
    executions: 0,
  },
  {
    given: 'a gated attempt whose release cannot be sent',
    life: { first: (world) => world.faults.choose((call) => (call.verb === 'fence' ? { kind: 'unreachable' } : undefined)) },
    arrange: (one) => one.until((status) => status.attempt?.state === 'gated'),
    state: 'pending',
    ran: 'no',
    executions: 0,
  },
  {
    given: 'a queued attempt',
    arrange: (one) => one.until((status) => status.state === 'queued'),
    state: 'queued',
    ran: 'no',
    executions: 0,
  },
  {
    given: 'a running attempt',
    arrange: (one) => one.until((status) => status.attempt?.state === 'running'),
    state: 'running',
    ran: 'yes',
    executions: 1,
  },
  {
    given: 'a suspended attempt',
    arrange: async (one) => {
      await one.until((status) => status.attempt?.state === 'running');
      one.world.suspend(one.object());
      await one.until((status) => status.attempt?.state === 'suspended');
    },
    state: 'running',
    ran: 'yes',
    executions: 1,
  },
  {
    given: 'a deferred attempt',
    life: { script: [{ notNow: { reason: 'QOSMaxSubmitJobPerUserLimit', retryAfterSeconds: 3600 } }] },
    arrange: (one) => one.until((status) => status.why.includes('waits to be sent again')),
    state: 'pending',
    ran: 'no',
    executions: 0,
  },
  {
    given: 'a recovery that waits for its backoff',
    life: {
      rules: [relaunch(['preempted'], { backoff: { initial: '4h', factor: 1, max: '4h' } })],
      script: [{ program: { runsSeconds: 30, ends: 'preempted' } }],
    },
    arrange: (one) => one.until((status) => status.state === 'recovering'),
    state: 'recovering',
    ran: 'yes',
    executions: 1,
  },
  {
    given: 'an open question',
    life: { unmatched: 'escalate', script: [{ program: { runsSeconds: 30, ends: { exit: 1 } } }] },
    arrange: (one) => one.until((status) => status.state === 'awaiting'),
    state: 'awaiting',
    ran: 'yes',
    executions: 1,
  },
];

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test.each(ROWS)('given $given and a cancel, then the job ends cancelled, whatever was to follow (P7)', async (row) => {
    const one = await life({ shape, script: [long], rules: [relaunch(['preempted'])], ...row.life });
    await row.arrange(one);
    expect(one.status().state).toBe(row.state);
    expect((await one.cancel()).kind).toBe('committed');
    if (!one.view().ended) expect(one.status()).toMatchObject({ state: 'cancelling' });
    expect(one.status().why).toMatch(/ada asked/);
    one.world.faults.choose(() => undefined);
    one.world.unreachable(false);
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'cancelled', outcome: { state: 'cancelled', ran: row.ran } });
    expect(one.view().ended?.because).toEqual({ kind: 'cancel' });
    expect(one.world.truth().executions).toHaveLength(row.executions);
    reads(one);
  });

  test('given an end that the scheduler takes its time over, then the job is cancelling until it is over (C021)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 3000, endingSeconds: 600 } }] });
    await one.until((status) => status.attempt?.state === 'running');
    await one.cancel();
    const ending = await one.until((status) => status.attempt?.state === 'ending');
    expect(ending).toMatchObject({ state: 'cancelling' });
    expect(await one.ended()).toMatchObject({ state: 'cancelled', outcome: { cause: 'cancelled_by_dispatch' } });
    expect(one.at()).toBeGreaterThanOrEqual(600);
    reads(one);
  });

  test('given a program that completes as it is cancelled, then the program’s own result stands: succeeded (contract §3)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 62 } }] });
    await one.until((status) => status.attempt?.state === 'running');
    await one.advance(58);
    one.world.faults.next('cancel', { kind: 'unreachable' }, 50);
    await one.cancel();
    expect(await one.ended()).toMatchObject({ state: 'succeeded', outcome: { cause: 'completed' } });
    expect(one.view().ended?.because).toEqual({ kind: 'cancel' });
    reads(one);
  });

  test('given a job that ended, then a cancel is answered with its outcome, not with an error (P7)', async () => {
    const one = await life({ shape });
    await one.ended();
    const version = one.view().version;
    expect(await one.cancel()).toMatchObject({ kind: 'already', says: 'the job has ended: succeeded' });
    expect(one.view().version).toBe(version);
    reads(one);
  });

  test('given a cancel that has no effect, then it is repeated without a commit, and people are asked after 15 minutes (C021)', async () => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 3500 } }] });
    await one.until((status) => status.attempt?.state === 'running');
    one.world.faults.choose((call) => (call.verb === 'cancel' ? { kind: 'request_lost' } : undefined));
    await one.cancel();
    const asked = await one.until((_, view) => view.questions.length > 0);
    expect(asked.state).toBe('cancelling');
    expect(one.question()).toMatchObject({ kind: 'stuck', blocks: false, options: ['wait', 'cancel'] });
    expect(one.question().says).toContain('has not ended since it was cancelled');
    const cancels = one.process().calls.filter((call) => call === 'cancel').length;
    expect(cancels).toBeGreaterThanOrEqual(4);
    expect(one.count('attempt_cancel_sent')).toBe(0);
    one.world.faults.choose(() => undefined);
    expect((await one.ended(4000)).state).toMatch(/cancelled|succeeded/);
    reads(one);
  });

  test('given two cancels, then one request and one effect', async () => {
    const one = await life({ shape, script: [long] });
    await one.until((status) => status.state === 'queued');
    expect((await one.cancel()).kind).toBe('committed');
    expect((await one.cancel()).kind).toBe('already');
    await one.ended();
    expect(one.count('cancel_requested')).toBe(1);
    reads(one);
  });

  test('given a cluster that cannot be reached, then the job stays cancelling and `why` says so, until it can (P7)', async () => {
    const one = await life({ shape, script: [long] });
    await one.until((status) => status.state === 'queued');
    one.world.unreachable(true);
    await one.cancel();
    await one.advance(4 * 3600);
    expect(one.status()).toMatchObject({ state: 'cancelling' });
    expect(one.status().why).toMatch(/^Cancelling, as ada asked; attempt 1 waits in the queue/);
    one.world.unreachable(false);
    expect((await one.ended(7200)).state).toBe('cancelled');
    reads(one);
  });
});

const landsUnheard = (world: World): void => {
  world.faults.next('submit', { kind: 'reply_lost' });
  let looks = 0;
  // The look-up before sending is answered, those after it are not.
  world.faults.choose((call) => (call.verb === 'find' && ++looks > 1 ? { kind: 'unreachable' } : undefined));
};

describe('a cancel while it is unknown whether the submission landed: it is settled first (P7, C019)', () => {
  test('given one that did land, then it is found, bound, and cancelled', async () => {
    const one = await life({ script: [long], first: landsUnheard });
    await one.until((status) => status.attempt?.state === 'uncertain');
    await one.cancel();
    expect(one.status().state).toBe('cancelling');
    one.world.faults.choose(() => undefined);
    expect(await one.ended()).toMatchObject({ state: 'cancelled', outcome: { cause: 'cancelled_by_dispatch', ran: 'no' } });
    expect(one.count('attempt_bound')).toBe(1);
    expect(one.count('release_intended')).toBe(0);
    reads(one);
  });

  test('given one that never landed, then the job ends only when that is proved', async () => {
    const one = await life({ script: [long], first: (world) => world.faults.next('submit', { kind: 'request_lost' }) });
    await one.until((status) => status.attempt?.state === 'uncertain');
    await one.cancel();
    await one.advance(400);
    expect(one.status().state).toBe('cancelling');
    expect(await one.ended()).toMatchObject({ state: 'cancelled', outcome: { cause: 'never_landed', ran: 'no' } });
    expect(one.at()).toBeGreaterThan(90 + 300 + 30);
    reads(one);
  });

  test('given one that lands after the cancel, then it is bound and discarded before the job ends', async () => {
    const one = await life({ script: [long], first: (world) => world.delaySubmission(200) });
    await one.until((status) => status.attempt?.state === 'uncertain');
    await one.cancel();
    expect(await one.ended()).toMatchObject({ state: 'cancelled' });
    expect(one.world.truth().executions).toEqual([]);
    expect(one.world.truth().objects.every(({ state }) => state === 'ended')).toBe(true);
    reads(one);
  });
});
