/** Cases: what is sent lands once, in time, under its name, or is refused in words (protocols §3; contract §1, §7a). */
import { expect, test } from 'vitest';
import { outcomeSchema } from '../../../lib/job/cause.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import type { Cases } from './suite.ts';

export const submissionCases: Cases = ({ supports, causes }, bench) => {
  test('P3.2 looked up by identity: absent before, found after, with the receipt', async () => {
    const { session, harness, launch } = bench();
    const job = harness.newJob();
    expect(await session.find(job)).toMatchObject({ kind: 'absent' });
    const attempt = await launch({ job });
    expect(attempt.receipt).toMatchObject({ cluster: harness.cluster, login: harness.login, identity: identityOf(harness.tag, job, 1) });
    await harness.until(async () => (await session.find(job)).kind === 'found', harness.limits.startSeconds);
    expect(await session.find(job)).toMatchObject({ kind: 'found', objects: [{ n: 1, receipt: attempt.receipt, state: 'gated', run: 0 }] });
    await session.discard(attempt.receipt);
  });

  test('P4.3 a look-up of the job shows the objects of all its attempts', async () => {
    const { session, launch, objectsOf } = bench();
    const first = await launch();
    const second = await launch({ job: first.job, n: 2 });
    expect((await objectsOf(first.job)).map(({ n }) => n).sort()).toEqual([1, 2]);
    for (const { receipt } of [first, second]) await session.discard(receipt);
  });

  if (supports.has('landing_bound'))
    test('P3.3 past its bound by the cluster’s clock nothing is sent', async () => {
      const { session, harness, submission } = bench();
      const late = await submission({ boundSeconds: -1 });
      expect(await session.submit(late)).toMatchObject({ kind: 'uncertain', sent: 'no' });
      await harness.advance(harness.limits.startSeconds);
      expect(await session.find(late.job)).toMatchObject({ kind: 'absent' });
    });

  if (supports.has('create_by_name'))
    test('P3.5 a repeated create binds the same object; another spec under that name is refused', async () => {
      const { session, harness, submission, objectsOf } = bench();
      const sent = await submission({ boundSeconds: -3600 });
      const first = await session.submit(sent);
      expect(first).toMatchObject({ kind: 'accepted' });
      expect(await session.submit(sent)).toEqual(first);
      const other = { ...sent, spec: harness.makeSpec('long') };
      expect(await session.submit(other)).toMatchObject({ kind: 'refused', outcome: { cause: 'rejected', ran: 'no' } });
      const objects = await objectsOf(sent.job);
      expect(objects).toHaveLength(1);
      await session.discard(objects[0]!.receipt);
    });

  for (const cause of causes.filter((name) => name === 'rejected' || name === 'unsatisfiable'))
    test(`contract §3 a refused submission is ${cause}, by whom and why, and did not run`, async () => {
      const { session, harness, submission } = bench();
      const answer = await session.submit(await submission({ spec: harness.cause(cause).spec }));
      expect(answer).toMatchObject({ kind: 'refused', outcome: { cause, class: 'request', ran: 'no' } });
      if (answer.kind === 'refused') expect(outcomeSchema.parse(answer.outcome).evidence).not.toHaveLength(0);
    });

  if (supports.has('not_now'))
    test('P3.4 not now is no refusal: the same attempt may be sent again', async () => {
      const { session, harness, submission, objectsOf } = bench();
      const sent = await submission({ spec: harness.busy!() });
      expect(await session.submit(sent)).toMatchObject({ kind: 'not_now' });
      const again = await submission({ job: sent.job, spec: sent.spec });
      expect(await session.submit(again)).toMatchObject({ kind: 'accepted' });
      for (const { receipt } of await objectsOf(sent.job)) await session.discard(receipt);
    });

  if (supports.has('foreign'))
    test('contract §1 an object with another tag is never found, counted, or touched', async () => {
      const { session, harness, objectsOf, probe } = bench();
      const job = harness.newJob();
      const tag = harness.tag === '0000' ? '0001' : '0000';
      const foreign = await harness.others.submit(identityOf(tag, job, 1));
      expect(await objectsOf(job)).toEqual([]);
      const seen = await session.observe([]);
      expect(seen.kind === 'observed' && seen.unexplained.map(({ receipt }) => receipt.schedulerId)).not.toContain(foreign.schedulerId);
      const gate = session.gateFor(harness.makeSpec('quick'), probe, { requeue: 'never', patienceSeconds: 600 }, 0);
      for (const act of [session.cancel(foreign), session.discard(foreign), session.release(foreign, gate)])
        expect((await act).kind).not.toBe('sent');
      expect(await harness.others.isAlive(foreign)).toBe(true);
    });
};
