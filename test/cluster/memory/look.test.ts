import { describe, expect, test } from 'vitest';
import { seenOf } from '../../../lib/cluster/port.ts';
import { given, JOB, LOGIN, START_MS, scripted } from './given.ts';

const hangs = scripted({ program: { ends: 'hangs' } });

describe('what a look may wrongly say', () => {
  test('C020: an empty answer makes everything absent, and ends nothing', async () => {
    const { world, session, released, target } = await given();
    const receipt = await released({ spec: hangs });
    world.lie({ hides: () => true, complete: true });
    expect(await session.observe([target(receipt)])).toMatchObject({ complete: true, changed: [], absent: [{ n: 1 }], unexplained: [] });
    world.lie(undefined);
    expect(await session.observe([target(receipt)])).toMatchObject({ absent: [], changed: [{ kind: 'live', state: 'running' }] });
  });

  test('C025: absent, back, absent: each look says what it saw', async () => {
    const { world, session, released, target } = await given();
    const receipt = await released({ spec: hangs });
    const absences = [];
    for (const hidden of [true, false, true]) {
      world.lie(hidden ? { hides: () => true, complete: true } : undefined);
      const seen = await session.observe([target(receipt)]);
      absences.push(seen.kind === 'observed' && seen.absent.length);
    }
    expect(absences).toEqual([1, 0, 1]);
  });

  test('P3.6 a truncated list proves no absence: find is unreachable, observe is not complete', async () => {
    const { world, session, launch, target } = await given();
    const receipt = await launch();
    world.lie({ hides: ({ id }) => id === receipt.schedulerId, complete: false });
    expect(await session.find(JOB)).toMatchObject({ kind: 'unreachable' });
    expect(await session.observe([target(receipt)])).toMatchObject({ complete: false, absent: [{ n: 1 }] });
  });

  test('P3.6 part of a job’s objects: found, and not complete', async () => {
    const { world, session, launch } = await given();
    const first = await launch();
    await launch({ n: 2 });
    world.lie({ hides: ({ id }) => id === first.schedulerId, complete: false });
    expect(await session.find(JOB)).toMatchObject({ kind: 'found', complete: false, objects: [{ n: 2 }] });
  });

  test('P5.2 a stale look is as old as it says', async () => {
    const { world, session, released, target, at } = await given({ clockOffsetMs: 7000 });
    const receipt = await released();
    at(5);
    world.freezeView(true);
    at(60);
    expect(await session.observe([target(receipt)])).toMatchObject({
      clusterStartedAt: START_MS + 12_000,
      changed: [{ kind: 'live', state: 'running' }],
    });
    world.freezeView(false);
    expect(await session.observe([target(receipt)])).toMatchObject({ clusterStartedAt: START_MS + 67_000, changed: [{ kind: 'ended' }] });
  });

  test('P5.7 an end waits for a listing that cannot be had', async () => {
    const { world, session, released, target, at } = await given();
    const receipt = await released();
    at(60);
    world.faults.pubUnreadable = true;
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended', missing: ['publications'], runs: [] }] });
    expect(await session.listPublications(JOB, hangs)).toBeUndefined();
  });

  test('P5.3 accounting comes late', async () => {
    const { session, released, target, at } = await given({ accountingLagSeconds: 5 });
    const receipt = await released();
    at(12);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended', missing: ['accounting'] }] });
    at(15);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended', missing: [] }] });
  });

  test.each([
    ['with accounting the outcome survives the purge', true, { changed: [{ kind: 'ended', outcome: { cause: 'completed' } }], absent: [] }],
    ['without it the object is absent', false, { changed: [], absent: [{ n: 1 }] }],
  ])('%s', async (_, accounting, expected) => {
    const { session, released, target, at } = await given({ accounting, purgeSeconds: 10 });
    expect((await session.probe(0)).capabilities.outcome_survives_purge.support).toBe(accounting ? 'yes' : 'no');
    const receipt = await released();
    at(19);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended' }] });
    at(20);
    expect(await session.observe([target(receipt)])).toMatchObject(expected);
    expect(await session.cancel(receipt)).toEqual({ kind: 'sent' });
  });

  test('an object that vanishes is known to no source', async () => {
    const { session, released, target, at } = await given();
    const receipt = await released({ spec: scripted({ program: { ends: 'vanishes' } }) });
    at(60);
    expect(await session.observe([target(receipt)])).toMatchObject({ complete: true, changed: [], absent: [{ n: 1 }] });
    expect(await session.find(JOB)).toMatchObject({ kind: 'absent' });
  });

  test('P4.5 id reuse: the new object has the old id and is not taken for it', async () => {
    const { world, session, launch, target, at } = await given();
    const old = await launch();
    await session.cancel(old);
    world.purge(old.schedulerId);
    at(10);
    world.reuseIds(Number(old.schedulerId));
    const reused = await launch({ job: '0123456789abcdeg' });
    expect(reused.schedulerId).toBe(old.schedulerId);
    await session.cancel(old);
    expect(await session.observe([target(reused)])).toMatchObject({ changed: [{ kind: 'live', state: 'gated' }] });
    expect(await session.observe([target(old)])).toMatchObject({ changed: [{ kind: 'ended' }] });
  });
});

describe('programs outside dispatch', () => {
  test('contract §3 one that has run and ended is not said never to have run', async () => {
    const { world, session, at } = await given();
    const id = world.foreign.submit({ name: 'theirs', login: LOGIN, script: [{ program: { runsSeconds: 5 } }] })!;
    const adopted = await session.adopt!(id);
    if (adopted.kind !== 'found') throw new Error(adopted.kind);
    at(20);
    const target = { job: JOB, n: 1, receipt: adopted.receipt, released: true, requeueable: false, run: 0, seen: '', timeLimitSeconds: 60 };
    expect(await session.observe([target])).toMatchObject({ changed: [{ kind: 'ended', outcome: { cause: 'completed', ran: 'yes' } }] });
  });
});

describe('ids', () => {
  test('P4.5 an id in use is passed over when ids come round again', async () => {
    const { world, launch } = await given();
    const [first, second] = [await launch(), await launch({ job: '0123456789abcdeh' })];
    world.reuseIds(Number(first.schedulerId));
    const third = await launch({ job: '0123456789abcdeg' });
    expect(Number(third.schedulerId)).toBe(Number(second.schedulerId) + 1);
  });
});

describe('what others did', () => {
  test.each([
    ['held', { seen: seenOf('queued', 0, 'waiting') }, { state: 'queued', pending: { group: 'held' }, finding: { kind: 'held' } }],
    ['released', { released: false }, { state: 'running', finding: { kind: 'released' } }],
    ['edited', { seen: seenOf('running', 0) }, { state: 'running', finding: { kind: 'edited' } }],
    ['requeued', { seen: seenOf('running', 0) }, { state: 'queued', run: 1, finding: { kind: 'requeued' } }],
    ['active after its end', { seen: seenOf('ended', 0) }, { state: 'queued', run: 1, finding: { kind: 'active_after_end' } }],
  ] as const)('%s', async (what, seen, expected) => {
    const { world, session, launch, released, target, at } = await given();
    const act = world.foreign;
    const waits = scripted({ queueSeconds: 'never' });
    const receipt = what === 'released' ? await launch({ spec: hangs }) : await released({ spec: what === 'held' ? waits : hangs });
    const id = receipt.schedulerId;
    at(5);
    if (what === 'held') act.hold(id);
    if (what === 'released') act.release(id);
    if (what === 'edited') act.edit(id, { timeLimitSeconds: 100 });
    if (what === 'active after its end') await session.cancel(receipt);
    if (what === 'requeued' || what === 'active after its end') act.requeue(id);
    expect(await session.observe([target(receipt, seen)])).toMatchObject({ changed: [{ kind: 'live', ...expected }] });
  });

  test('P4.3 our release does not lift a hold of others on a begin gate; they lift it', async () => {
    const { world, session, released, at } = await given();
    const receipt = await released({ spec: scripted({ queueSeconds: 10 }) });
    world.foreign.hold(receipt.schedulerId);
    await session.release(receipt, { mechanism: 'begin', selfDestructs: true });
    at(100);
    expect(world.truth()).toMatchObject({ executions: [], objects: [{ held: true }] });
    world.foreign.unhold(receipt.schedulerId);
    expect(world.truth().executions).toHaveLength(1);
  });

  test('seen live: a held object outlives its gate’s deadline, and dies when the hold is lifted', async () => {
    const { world, launch, at } = await given();
    const receipt = await launch({ patienceSeconds: 60 });
    world.foreign.hold(receipt.schedulerId);
    at(600);
    expect(world.truth().objects).toMatchObject([{ state: 'gated' }]);
    world.foreign.unhold(receipt.schedulerId);
    at(601);
    expect(world.truth().objects).toMatchObject([{ state: 'ended', cause: 'gate_expired' }]);
  });

  test.each([
    ['login', 'cancelled_by_user'],
    ['admin', 'cancelled_by_admin'],
    ['unknown', 'cancelled_by_unknown'],
  ] as const)('cancelled by %s', async (by, cause) => {
    const { world, session, released, target } = await given();
    const receipt = await released({ spec: hangs });
    world.foreign.cancel(receipt.schedulerId, by);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended', outcome: { cause, ran: 'yes' } }] });
  });

  test('suspended and resumed: the pause does not count towards run or limit', async () => {
    const { world, session, released, target, at } = await given();
    const receipt = await released({ spec: scripted({ program: { runsSeconds: 20, publishes: [{ atSeconds: 10, step: 1 }] } }) });
    at(5);
    world.suspend(receipt.schedulerId);
    at(1000);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ state: 'suspended' }] });
    world.resume(receipt.schedulerId);
    at(1015);
    const { executions, publications } = world.truth();
    expect(executions).toMatchObject([{ how: 'completed', endedAtMs: START_MS + 1_015_000 }]);
    expect(publications).toMatchObject([{ step: 1, atMs: START_MS + 1_005_000 }]);
  });
});
