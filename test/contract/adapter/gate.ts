/** Cases: an attempt starts when it is released, and not otherwise (protocols §4). */
import { expect, test } from 'vitest';
import type { Cases } from './suite.ts';

export const gateCases: Cases = ({ supports }, bench) => {
  test('P4.1 an attempt that is not released does not start', async () => {
    const { harness, session, look, launch, target } = bench();
    const attempt = await launch();
    await harness.advance(harness.limits.watchSeconds);
    expect(await look(attempt, { released: false })).toMatchObject({ kind: 'live', state: 'gated', run: 0 });
    expect(await harness.executionsOf(attempt)).toBe(0);
    await session.discard(target(attempt).receipt);
  });

  test('P4.3 released, it runs once and ends; the release may be repeated, also after the end', async () => {
    const { harness, session, launch, release, ended, objectsOf } = bench();
    const attempt = await launch();
    await release(attempt);
    expect(await session.release(attempt.receipt, attempt.gate)).not.toMatchObject({ kind: 'unreachable' });
    const end = await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    expect(end.outcome).toMatchObject({ cause: 'completed', ran: 'yes' });
    await session.release(attempt.receipt, attempt.gate);
    await harness.advance(harness.limits.startSeconds);
    expect(await harness.executionsOf(attempt)).toBe(1);
    expect((await objectsOf(attempt.job)).every(({ state }) => state === 'ended')).toBe(true);
  });

  test('P4.5 an object that reused the id, or was submitted earlier than the receipt says, is not ours', async () => {
    const { session, launch, look, target } = bench();
    const attempt = await launch();
    const later = { ...attempt, receipt: { ...attempt.receipt, submittedAt: attempt.receipt.submittedAt + 3_600_000 } };
    expect(await look(later)).toBeUndefined();
    expect(await session.observe([target(later)])).toMatchObject({
      absent: [{ n: attempt.n }],
      unexplained: expect.arrayContaining([expect.objectContaining({ receipt: attempt.receipt })]),
    });
    await session.discard(attempt.receipt);
  });

  if (supports.has('gate_self_destructs'))
    test('P4.1 an attempt that is never released destroys itself: gate_expired, it did not run', async () => {
      const { harness, launch, ended } = bench();
      const { gateSeconds, expireSeconds } = harness.limits;
      const attempt = await launch({ patienceSeconds: gateSeconds });
      expect(attempt.gate).toMatchObject({ selfDestructs: true });
      const end = await ended(attempt, gateSeconds + expireSeconds, 0, { released: false });
      expect(end.outcome).toMatchObject({ state: 'failed', cause: 'gate_expired', ran: 'no' });
      expect(await harness.executionsOf(attempt)).toBe(0);
    });

  if (supports.has('start_deadline') && supports.has('queued'))
    test('P4.1 a released attempt that finds no room within its patience ends as no_capacity', async () => {
      const { harness, launch, release, ended } = bench();
      const { gateSeconds, expireSeconds } = harness.limits;
      const attempt = await launch({ patienceSeconds: gateSeconds, spec: harness.makeSpec('waits') });
      await release(attempt);
      const end = await ended(attempt, gateSeconds + expireSeconds);
      expect(end.outcome).toMatchObject({ state: 'failed', cause: 'no_capacity', ran: 'no' });
    });

  if (supports.has('requeue_in_place'))
    test('P4.1 a gate that survives a requeue does not destroy its attempt, and says so', async () => {
      const { harness, session, launch, stateOf } = bench();
      const { gateSeconds, expireSeconds } = harness.limits;
      const attempt = await launch({ patienceSeconds: gateSeconds, requeue: 'supervisor' });
      expect(attempt.gate.selfDestructs).toBe(false);
      await harness.advance(gateSeconds + expireSeconds);
      expect(await stateOf(attempt, { released: false })).toBe('gated');
      await session.discard(attempt.receipt);
    });
};
