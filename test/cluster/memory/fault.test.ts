import { describe, expect, test } from 'vitest';
import { adapter } from '../../../lib/cluster/memory/adapter.ts';
import { given, JOB, LOGIN, scripted, TAG } from './given.ts';

const LOST = { kind: 'uncertain', sent: 'maybe' };

describe('submissions between sender and scheduler', () => {
  test.each([
    ['unreachable: certain that nothing was sent', { kind: 'unreachable' }, { kind: 'uncertain', sent: 'no' }, 0, 0],
    ['the request is lost', { kind: 'request_lost' }, LOST, 0, 0],
    ['the answer is lost', { kind: 'reply_lost' }, LOST, 1, 1],
    ['P3.5 it lands later', { kind: 'delayed', seconds: 200 }, LOST, 0, 1],
    ['P3.5 it lands with the last of its credential’s life', { kind: 'delayed', seconds: 390 }, LOST, 0, 1],
    ['P3.5 beyond bound and credential it never lands', { kind: 'delayed', seconds: 391 }, LOST, 0, 0],
  ] as const)('%s', async (_, fault, expected, atOnce, afterwards) => {
    const { world, session, submission, at } = await given();
    world.faults.next('submit', fault);
    expect(await session.submit(await submission())).toMatchObject(expected);
    expect(world.truth().objects).toHaveLength(atOnce);
    at(1000);
    expect(world.truth().objects).toHaveLength(afterwards);
  });

  test('P4.1 a late one comes up gated', async () => {
    const { world, session, submission, at } = await given();
    world.delaySubmission(100);
    await session.submit(await submission());
    at(101);
    expect(await session.find(JOB)).toMatchObject({ kind: 'found', objects: [{ n: 1, state: 'gated' }] });
  });

  test('P3.3 the bound is by the cluster’s clock, which may have jumped', async () => {
    const { world, session, submission } = await given();
    const sent = await submission();
    world.jumpClock(91_000);
    expect(await session.submit(sent)).toMatchObject({ kind: 'uncertain', sent: 'no' });
    world.jumpClock(-91_000);
    expect(await session.submit(sent)).toMatchObject({ kind: 'accepted' });
  });

  test('slurm: a second sending under one identity makes a second object; kubernetes: the same one', async () => {
    for (const [shape, count] of [
      ['slurm', 2],
      ['kubernetes', 1],
    ] as const) {
      const { world, session, submission } = await given({ shape });
      const sent = await submission();
      await session.submit(sent);
      await session.submit(sent);
      expect(world.truth().objects).toHaveLength(count);
    }
  });

  test('a record of a refused submission is found as refused; it never was alive', async () => {
    const { session, submission } = await given();
    const spec = scripted({ refuse: { reason: 'BadConstraints', leavesRecord: true } });
    expect(await session.submit(await submission({ spec }))).toMatchObject({ kind: 'refused' });
    expect(await session.find(JOB)).toMatchObject({ objects: [{ state: 'ended', refused: { cause: 'rejected', ran: 'no' } }] });
    expect(await session.observe([])).toMatchObject({ unexplained: [] });
  });

  test('a read-only cluster takes nothing and says so', async () => {
    const { session, submission } = await given({ readOnly: true });
    expect((await session.probe(0)).capabilities.submit_allowed.support).toBe('no');
    expect(await session.submit(await submission())).toMatchObject({ kind: 'refused', outcome: { detail: { reason: 'read_only' } } });
  });

  test('a time limit beyond the partition’s is unsatisfiable', async () => {
    const { session, submission } = await given({ maxSeconds: 60 });
    expect(await session.submit(await submission())).toMatchObject({ kind: 'refused', outcome: { cause: 'unsatisfiable' } });
  });
});

describe('acts between sender and scheduler', () => {
  test.each([
    ['request_lost: no effect', { kind: 'request_lost' }, 'gated', 'gated'],
    ['reply_lost: done all the same', { kind: 'reply_lost' }, 'ended', 'ended'],
    ['delayed: done later', { kind: 'delayed', seconds: 50 }, 'gated', 'ended'],
    ['delayed beyond the credential’s life: never', { kind: 'delayed', seconds: 301 }, 'gated', 'gated'],
  ] as const)('%s', async (_, fault, atOnce, afterwards) => {
    const { world, session, launch, at } = await given();
    const receipt = await launch();
    world.faults.next('cancel', fault);
    expect(await session.cancel(receipt)).toMatchObject({ kind: 'unreachable' });
    expect(world.truth().objects[0]!.state).toBe(atOnce);
    at(400);
    expect(world.truth().objects[0]!.state).toBe(afterwards);
  });

  test('a mark whose answer was lost is written; the next one reads it', async () => {
    const { world, session } = await given();
    world.faults.next('fence', { kind: 'reply_lost' });
    expect(await session.fence(JOB, { n: 1, schedulerId: '5' })).toMatchObject({ kind: 'unreachable' });
    expect(await session.fence(JOB, { n: 1, schedulerId: '6' })).toMatchObject({ kind: 'marked', holds: '5' });
  });

  test('faults can be chosen per call', async () => {
    const { world, session } = await given();
    world.faults.choose(({ verb, job }) => (verb === 'find' && job === JOB ? { kind: 'request_lost' } : undefined));
    expect(await session.find(JOB)).toMatchObject({ kind: 'unreachable' });
    expect(await session.find('0123456789abcdee')).toMatchObject({ kind: 'absent' });
  });

  test('an unreachable cluster: no connection, and no answer reads as absence', async () => {
    const { world, session, launch, target } = await given();
    const receipt = await launch();
    world.unreachable(true);
    await expect(adapter(world, { tag: TAG }).connect(LOGIN)).rejects.toMatchObject({
      code: 'cluster/unreachable',
      retryable: true,
      sent: 'no',
    });
    await expect(session.probe(0)).rejects.toMatchObject({ code: 'cluster/unreachable' });
    expect(await session.clock()).toBeUndefined();
    expect(await session.find(JOB)).toMatchObject({ kind: 'unreachable' });
    expect(await session.observe([target(receipt)])).toMatchObject({ kind: 'unreachable' });
    expect(await session.listPublications(JOB, scripted())).toBeUndefined();
    expect(await session.outputBytes!([])).toBeUndefined();
    expect(await session.release(receipt, { mechanism: 'begin', selfDestructs: true })).toMatchObject({ kind: 'unreachable' });
  });

  test.each(['auth_refused', 'host_key_changed'] as const)('%s is not retryable', async (kind) => {
    const { world } = await given();
    world.faults.next('connect', { kind });
    await expect(adapter(world, { tag: TAG }).connect(LOGIN)).rejects.toMatchObject({ code: `cluster/${kind}`, retryable: false });
  });

  test('an unknown login is refused, and one login does not see the other’s objects', async () => {
    const { world, launch } = await given({ logins: [LOGIN, 'bob'] });
    await launch();
    await expect(adapter(world, { tag: TAG }).connect('carol')).rejects.toMatchObject({ code: 'cluster/no_login' });
    const bob = await adapter(world, { tag: TAG }).connect('bob');
    expect(await bob.find(JOB)).toMatchObject({ kind: 'absent' });
    expect(await bob.observe([])).toMatchObject({ unexplained: [] });
  });
});
