/** Cases: however an attempt ends, its cause is typed and its evidence kept (contract §3; protocols §5, §6, §7). */
import { expect, test } from 'vitest';
import { seenOf } from '../../../lib/cluster/port.ts';
import { outcomeSchema } from '../../../lib/job/cause.ts';
import { NOTHING } from '../../../lib/job/event.ts';
import { epochOf } from '../../../lib/job/identity.ts';
import type { Cases } from './suite.ts';

export const endingCases: Cases = ({ supports, causes }, bench) => {
  for (const cause of causes.filter((name) => name !== 'rejected' && name !== 'unsatisfiable'))
    test(`contract §3 ended by ${cause}`, async () => {
      const { harness, launch, release, begun, ended } = bench();
      const how = harness.cause(cause);
      const attempt = await launch({ spec: how.spec, requeue: how.requeue ?? 'never' });
      await release(attempt);
      if (how.provoke) {
        await begun(attempt);
        await how.provoke(attempt);
      }
      const end = await ended(attempt, how.spec.timeLimitSeconds + harness.limits.startSeconds + harness.limits.endSeconds);
      const outcome = outcomeSchema.parse(end.outcome);
      expect(outcome).toMatchObject({ cause, ran: how.ran ?? 'yes', detail: how.detail ?? {} });
      expect(outcome.evidence.length).toBeGreaterThan(0);
      expect(outcome.evidence.some(({ state, reason, message }) => state ?? reason ?? message)).toBe(true);
      // Node loss does not prove death: only a node that answers does (P6.3).
      if (cause !== 'node_lost') expect(end.processes).toBe('gone');
    });

  const cancelled = { cause: expect.stringMatching(/^cancelled_by_/), class: 'people', state: 'cancelled' };

  test('P7 cancelled while gated: it ends, it did not run', async () => {
    const { harness, session, launch, ended } = bench();
    const attempt = await launch();
    expect(await session.cancel(attempt.receipt)).toEqual({ kind: 'sent' });
    expect((await ended(attempt)).outcome).toMatchObject({ ...cancelled, ran: 'no' });
    expect(await harness.executionsOf(attempt)).toBe(0);
  });

  if (supports.has('queued'))
    test('P7 cancelled while queued, with its pending reason before: it ends, it did not run', async () => {
      const { harness, session, launch, release, look, ended, untilState } = bench();
      const attempt = await launch({ spec: harness.makeSpec('waits') });
      await release(attempt);
      await untilState(attempt, ['queued'], harness.limits.startSeconds);
      await harness.until(
        async () => (await look(attempt))?.kind === 'live' && 'pending' in (await look(attempt))!,
        harness.limits.startSeconds,
      );
      expect(await look(attempt)).toMatchObject({
        kind: 'live',
        state: 'queued',
        pending: { group: expect.any(String), reason: expect.any(String) },
      });
      await session.cancel(attempt.receipt);
      expect((await ended(attempt)).outcome).toMatchObject({ ...cancelled, ran: 'no' });
    });

  test('P7 cancelled while running, and cancelled again: it ends once', async () => {
    const { session, running, ended } = bench();
    const attempt = await running();
    await session.cancel(attempt.receipt);
    const end = await ended(attempt);
    expect(end.outcome).toMatchObject({ ...cancelled, ran: 'yes' });
    expect(end.processes).toBe('gone');
    expect(await session.cancel(attempt.receipt)).toEqual({ kind: 'sent' });
    expect((await ended(attempt)).outcome.cause).toBe(end.outcome.cause);
  });

  test('P7 cancelled after its end: its outcome stands', async () => {
    const { harness, session, launch, release, ended } = bench();
    const attempt = await launch();
    await release(attempt);
    await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    await session.cancel(attempt.receipt);
    await session.discard(attempt.receipt);
    expect((await ended(attempt)).outcome.cause).toBe('completed');
  });

  test('P5.7 the end carries base and greatest publication of each run; P8.2 a planned point is the base', async () => {
    const { harness, session, launch, release, ended } = bench();
    const spec = harness.makeSpec('publishes');
    const attempt = await launch({ spec });
    await release(attempt);
    const end = await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    expect(end.runs).toMatchObject([{ run: 0, base: { step: -1 }, latest: { epoch: epochOf(1, 0), step: 10 }, publications: 2 }]);
    const listed = await session.listPublications(attempt.job, spec);
    expect(listed?.publications.map(({ epoch, step }) => [epoch, step]).sort()).toEqual(
      [
        [epochOf(1, 0), 10],
        [epochOf(1, 0), 5],
      ].sort(),
    );
    expect(listed?.bases).toEqual([{ n: 1, run: 0, base: expect.objectContaining({ step: NOTHING().step }) }]);
    const resume = end.runs[0]!.latest!;
    const next = await launch({ job: attempt.job, n: 2, spec, resume });
    await release(next);
    const second = await ended(next, harness.limits.startSeconds + harness.limits.endSeconds);
    expect(second.runs).toMatchObject([
      { run: 0, base: resume, latest: { epoch: epochOf(2, 0), step: resume.step + 10 }, publications: 2 },
    ]);
  });

  if (supports.has('requeue_in_place')) {
    test('P4.6 requeued in place it is run + 1 of the same object, and resumes from what it published', async () => {
      const { harness, session, launch, release, ended, look, untilState } = bench();
      const { startSeconds, endSeconds, requeueSeconds } = harness.limits;
      const attempt = await launch({ spec: harness.makeSpec('publishes'), requeue: 'supervisor' });
      await release(attempt);
      // Not when its evidence is complete: a controller that forgets ended objects soon (MinJobAge) may know it no more by then.
      await untilState(attempt, ['ended'], startSeconds + endSeconds);
      expect(await session.requeue!(attempt.receipt)).toEqual({ kind: 'sent' });
      const seen = { run: 0, seen: seenOf('ended', 0) };
      await untilState(attempt, ['queued', 'starting', 'running', 'ended'], startSeconds, seen);
      expect(await look(attempt, seen)).toMatchObject({ run: 1 });
      const end = await ended(attempt, requeueSeconds + startSeconds + endSeconds, 1);
      expect(end.run).toBe(1);
      const latest = { epoch: epochOf(1, 0), step: 10 };
      expect(end.runs).toMatchObject([
        { run: 0, latest },
        { run: 1, base: latest, latest: { epoch: epochOf(1, 1), step: 20 } },
      ]);
      expect(await harness.executionsOf(attempt)).toBe(2);
    });

    test('P6 an attempt that was not submitted for it is not requeued', async () => {
      const { harness, session, launch, release, ended } = bench();
      const attempt = await launch();
      await release(attempt);
      await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
      expect(await session.requeue!(attempt.receipt)).toMatchObject({ kind: 'refused' });
    });
  }
};
