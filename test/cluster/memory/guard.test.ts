import { describe, expect, test } from 'vitest';
import { emptyControl, GRACE_SECONDS, judge } from '../../../lib/cluster/memory/control.ts';
import { NOTHING } from '../../../lib/job/event.ts';
import { given, JOB, scripted } from './given.ts';

const written = { writtenAtMs: 0, clusterWrittenAt: 0, visibleAtMs: 0 };
const own = { n: 1, run: 0, schedulerId: '5' };

describe('P4.2 the guard', () => {
  test.each([
    ['its mark names it', [{ n: 1, schedulerId: '5' }], {}, 'go'],
    ['no mark: it waits', [], {}, 'wait'],
    ['its mark names another', [{ n: 1, schedulerId: '6' }], {}, 'refuse'],
    [
      'an earlier mark is nothing',
      [
        { n: 1, schedulerId: '5' },
        { n: 0, schedulerId: '4' },
      ],
      {},
      'go',
    ],
    [
      'a later mark forbids',
      [
        { n: 1, schedulerId: '5' },
        { n: 2, schedulerId: '9' },
      ],
      {},
      'refuse',
    ],
    ['a later mark forbids without its own', [{ n: 2, schedulerId: '9' }], {}, 'refuse'],
    ['stop forbids', [{ n: 1, schedulerId: '5' }], { stop: written }, 'refuse'],
    ['stop not to be seen yet', [{ n: 1, schedulerId: '5' }], { stop: { ...written, visibleAtMs: 2 } }, 'go'],
    ['its run is claimed', [{ n: 1, schedulerId: '5' }], { claim: '1-0' }, 'refuse'],
    ['an earlier run is claimed', [{ n: 1, schedulerId: '5' }], { claim: '2-0' }, 'go'],
  ])('%s', (_, marks, also: { stop?: typeof written; claim?: string }, expected) => {
    const control = emptyControl();
    for (const mark of marks) control.marks.set(mark.n, { ...mark, ...written });
    if (also.stop) control.stop = also.stop;
    if (also.claim) control.claims.set(also.claim, { n: Number(also.claim[0]), run: 0, text: '5-0-x', atMs: 0, visibleAtMs: 0 });
    expect(judge(control, own, 1).kind).toBe(expected);
  });

  test('a mark seen late lets it begin within its minute', async () => {
    const { world, session, launch, at } = await given({ markViewSeconds: 30 });
    const receipt = await launch();
    world.foreign.release(receipt.schedulerId);
    at(10);
    await session.fence(JOB, { n: 1, schedulerId: receipt.schedulerId });
    at(39);
    expect(world.truth().executions).toEqual([]);
    at(40);
    expect(world.truth().executions).toMatchObject([{ n: 1, run: 0, startedAtMs: world.catchUp() }]);
  });

  test('L1: a second object that begins first leaves the claim to the one that the mark names', async () => {
    const { world, session, launch, at } = await given();
    const receipt = await launch();
    const second = world.foreign.submit({ name: receipt.identity, login: 'alice', copyOf: receipt.schedulerId })!;
    world.foreign.release(second);
    at(5);
    await session.fence(JOB, { n: 1, schedulerId: receipt.schedulerId });
    await session.release(receipt, { mechanism: 'begin', selfDestructs: true });
    at(200);
    const truth = world.truth();
    expect(truth.executions).toMatchObject([{ schedulerId: receipt.schedulerId, how: 'completed' }]);
    expect(truth.controls[0]!.refused).toMatchObject([
      { schedulerId: second, why: expect.stringContaining(`names ${receipt.schedulerId}`) },
    ]);
  });

  test('L2: an ended object that a stranger requeues after a later mark is refused; before, it is run 1', async () => {
    const { world, session, released, at } = await given();
    const receipt = await released();
    at(20);
    expect(world.foreign.requeue(receipt.schedulerId)).toBe(true);
    at(200);
    expect(world.truth().executions.map(({ run, how }) => [run, how])).toEqual([
      [0, 'completed'],
      [1, 'completed'],
    ]);
    await session.fence(JOB, { n: 2, schedulerId: '77' });
    world.foreign.requeue(receipt.schedulerId);
    at(400);
    expect(world.truth().executions).toHaveLength(2);
    expect(world.truth().objects).toMatchObject([{ state: 'ended', cause: 'launch_failed', run: 2 }]);
  });

  test('a requeue does not free an attempt that was never marked', async () => {
    const { world, session, launch, at } = await given();
    const receipt = await launch();
    await session.cancel(receipt);
    world.foreign.requeue(receipt.schedulerId);
    at(500);
    expect(world.truth()).toMatchObject({ executions: [], objects: [{ cause: 'launch_failed' }] });
  });
});

describe('P6.3 the wrapper’s look every minute', () => {
  test.each([
    ['a later mark', 61, 120],
    ['a later mark just after a look', 60.5, 120],
    ['a later mark at a look', 120, 120],
  ])('%s written at %d s tells the program to end at %d s, and ends it after its grace', async (_, markSeconds, stopSeconds) => {
    const { world, session, released, at } = await given();
    await released({ spec: scripted({ program: { runsSeconds: 3000 } }) });
    at(markSeconds);
    await session.fence(JOB, { n: 2, schedulerId: '77' });
    at(1000);
    const [execution] = world.truth().executions;
    expect((execution!.endedAtMs! - execution!.startedAtMs) / 1000).toBe(stopSeconds + GRACE_SECONDS);
    expect(execution!.how).toBe('cancelled_by_dispatch');
  });

  test('`stop` ends the last run too; a program that ends first is not touched', async () => {
    const { world, session, released, at } = await given();
    await released({ spec: scripted({ program: { runsSeconds: 90 } }) });
    at(65);
    await session.fence(JOB, 'stop');
    at(300);
    expect(world.truth().executions).toMatchObject([{ how: 'completed' }]);
  });
});

describe('P8.2 what a run resumes from', () => {
  const publishes = {
    runsSeconds: 30,
    publishes: [
      { atSeconds: 10, step: 5 },
      { atSeconds: 20, step: 10 },
    ],
  };

  test('steps count from the base', async () => {
    const { world, released, at } = await given();
    await released({ n: 2, spec: scripted({}, { program: publishes }), resume: { epoch: 1_000_000, step: 40, path: 'exec/1-0/step-40' } });
    at(60);
    expect(world.truth().publications).toMatchObject([{ epoch: 2_000_000, step: 45, path: 'exec/2-0/step-45' }, { step: 50 }]);
  });

  test('K1: a script that ignores its resume point announces from 0 again; its run has no latest', async () => {
    const { session, released, at, target } = await given();
    const resume = { epoch: 1_000_000, step: 40, path: 'exec/1-0/step-40' };
    const receipt = await released({ n: 2, spec: scripted({}, { program: { ...publishes, ignoresResume: true } }), resume });
    at(60);
    const seen = await session.observe([target(receipt)]);
    expect(seen).toMatchObject({ changed: [{ kind: 'ended', runs: [{ run: 0, base: resume, publications: 2 }] }] });
    expect(JSON.stringify(seen)).not.toContain('latest');
  });

  test('K4: a requeued run resumes from what was announced in time, not from its planned point', async () => {
    const { world, released, at } = await given();
    const spec = scripted([{ program: { ...publishes, ends: 'preempted' } }, { program: publishes }]);
    await released({ spec, requeue: 'scheduler' });
    at(300);
    expect(world.truth().executions.map(({ run, base }) => [run, base])).toEqual([
      [0, NOTHING()],
      [1, { epoch: 1_000_000, step: 10, path: 'exec/1-0/step-10' }],
    ]);
  });
});
