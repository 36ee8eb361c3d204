/** Cases: only the object that the mark names runs the program, and only while nothing later forbids it (protocols §4.2, §6.3). */
import { expect, test } from 'vitest';
import type { Cases } from './suite.ts';

export const fenceCases: Cases = ({ supports }, bench) => {
  test('P4.3 a fence is answered with what it holds and the cluster’s clock', async () => {
    const { session, launch } = bench();
    const attempt = await launch();
    const answer = await session.fence(attempt.job, { n: 1, schedulerId: attempt.receipt.schedulerId });
    expect(answer).toMatchObject({ kind: 'marked', holds: attempt.receipt.schedulerId });
    if (answer.kind === 'marked') expect(answer.clusterWrittenAt).toBeLessThanOrEqual(answer.clusterNow);
    expect(await session.fence(attempt.job, 'stop')).toMatchObject({ kind: 'marked', holds: '' });
    await session.discard(attempt.receipt);
  });

  if (supports.has('marks')) {
    test('P4.2 a mark is never changed, and keeps the time it was written', async () => {
      const { session, harness, launch } = bench();
      const attempt = await launch();
      const first = await session.fence(attempt.job, { n: 1, schedulerId: attempt.receipt.schedulerId });
      await harness.advance(2);
      const second = await session.fence(attempt.job, { n: 1, schedulerId: '999999' });
      expect(second).toMatchObject({ kind: 'marked', holds: attempt.receipt.schedulerId });
      expect(second.kind === 'marked' && first.kind === 'marked' && second.clusterWrittenAt).toBe(
        first.kind === 'marked' && first.clusterWrittenAt,
      );
      await session.discard(attempt.receipt);
    });

    const refused = { cause: 'launch_failed', detail: { stage: 'guard' }, ran: 'no' };

    test('P4.2 after `stop` a released attempt does not run', async () => {
      const { session, harness, launch, release, ended } = bench();
      const attempt = await launch();
      await session.fence(attempt.job, 'stop');
      await release(attempt);
      const end = await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds + 60);
      expect(end.outcome).toMatchObject(refused);
      expect(await harness.executionsOf(attempt)).toBe(0);
    });

    test('P4.2 released without its mark it looks for a minute and does not run', async () => {
      const { session, harness, launch, ended } = bench();
      const attempt = await launch();
      await session.release(attempt.receipt, attempt.gate);
      const end = await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds + 90);
      expect(end.outcome).toMatchObject(refused);
      expect(await harness.executionsOf(attempt)).toBe(0);
    });

    test('P6.3 a later mark stops a program that runs, within the minute it looks', async () => {
      const { session, harness, running, ended } = bench();
      const attempt = await running();
      await session.fence(attempt.job, { n: 2, schedulerId: '999999' });
      const end = await ended(attempt, 90 + harness.limits.endSeconds);
      // Neither by itself nor by its time limit, however long it was waited for.
      expect(end.outcome.cause).not.toMatch(/^(completed|time_limit)$/);
      expect(end.outcome.ran).toBe('yes');
    });
  }

  if (supports.has('second_object')) {
    test('P4.2 a second object under the identity cannot run the program, whichever begins first', async () => {
      const { session, harness, launch, release, ended, objectsOf } = bench();
      const { startSeconds, endSeconds } = harness.limits;
      const attempt = await launch();
      const second = await harness.others.submitAgain(attempt);
      expect(second.schedulerId).not.toBe(attempt.receipt.schedulerId);
      await harness.until(async () => (await objectsOf(attempt.job)).length === 2, startSeconds);
      await release(attempt);
      const end = await ended(attempt, startSeconds + endSeconds + 60);
      expect(end.outcome.cause).toBe('completed');
      const other = await ended({ ...attempt, receipt: second }, startSeconds + endSeconds + 90);
      expect(other.outcome).toMatchObject({ cause: 'launch_failed', detail: { stage: 'guard' } });
      expect(await harness.executionsOf(attempt)).toBe(1);
      await session.discard(second);
    });

    test('P4.3 the second object is seen as unexplained, and can be discarded alone', async () => {
      const { session, harness, launch, target, objectsOf } = bench();
      const attempt = await launch();
      const second = await harness.others.submitAgain(attempt);
      const unexplained = async () => {
        const seen = await session.observe([target(attempt, { released: false })]);
        return seen.kind === 'observed' ? seen.unexplained.map(({ receipt }) => receipt.schedulerId) : [];
      };
      await harness.until(async () => (await unexplained()).includes(second.schedulerId), harness.limits.startSeconds);
      expect(await session.discard(second)).toEqual({ kind: 'sent' });
      await harness.until(async () => !(await unexplained()).includes(second.schedulerId), harness.limits.endSeconds);
      const alive = (await objectsOf(attempt.job)).filter(({ state }) => state !== 'ended');
      expect(alive.map(({ receipt }) => receipt.schedulerId)).toEqual([attempt.receipt.schedulerId]);
      await session.discard(attempt.receipt);
    });
  }
};
