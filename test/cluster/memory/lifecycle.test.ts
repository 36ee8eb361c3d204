import { describe, expect, test } from 'vitest';
import { seenOf } from '../../../lib/cluster/port.ts';
import { given, JOB, START_MS, scripted } from './given.ts';

describe('C013, C024 requeue by the scheduler', () => {
  const spec = scripted([{ program: { runsSeconds: 30, ends: 'preempted', endingSeconds: 4 } }, { program: { runsSeconds: 5 } }]);

  test('running, ending, waiting for its begin time, running again: one object, one restart', async () => {
    const { session, released, target, at } = await given();
    const receipt = await released({ spec, requeue: 'scheduler' });
    const said = [];
    for (const seconds of [10, 31, 40, 154, 156, 161]) {
      at(seconds);
      const seen = await session.observe([target(receipt, { requeueable: true })]);
      const change = seen.kind === 'observed' ? seen.changed[0]! : undefined;
      said.push(
        change?.kind === 'ended'
          ? `ended ${change.run} ${change.outcome.cause}`
          : `${change?.state} ${change?.run} ${change?.pending?.reason ?? ''} ${change?.lastRunCause ?? ''}`.trim(),
      );
    }
    expect(said).toEqual([
      'running 0',
      'ending 0',
      'queued 1 BeginTime preempted',
      'queued 1 BeginTime preempted',
      'running 1  preempted',
      'ended 1 completed',
    ]);
  });

  test('not submitted for it: preempted ends the attempt', async () => {
    const { world, released, at } = await given();
    await released({ spec });
    at(500);
    expect(world.truth()).toMatchObject({ objects: [{ state: 'ended', cause: 'preempted', run: 0 }], executions: [{ run: 0 }] });
  });

  test('by the supervisor: preempted ends the run, a requeue makes the next', async () => {
    const { session, world, released, target, at } = await given();
    const receipt = await released({ spec, requeue: 'supervisor' });
    at(60);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ kind: 'ended', outcome: { cause: 'preempted' } }] });
    expect(await session.requeue!(receipt)).toEqual({ kind: 'sent' });
    expect(await session.requeue!(receipt)).toMatchObject({ kind: 'refused' });
    at(300);
    expect(world.truth().executions.map(({ run, how }) => [run, how])).toEqual([
      [0, 'preempted'],
      [1, 'completed'],
    ]);
  });

  test('a running attempt requeued loses its run and begins the next', async () => {
    const { session, world, released, at } = await given();
    const receipt = await released({ spec: scripted({ program: { ends: 'hangs' } }), requeue: 'supervisor' });
    at(10);
    await session.requeue!(receipt);
    at(200);
    expect(world.truth().executions.map(({ run, endedAtMs }) => [run, endedAtMs])).toEqual([
      [0, START_MS + 10_000],
      [1, START_MS + 141_000],
    ]);
  });

  test('C015: launch failed, requeued and held: it waits for a person', async () => {
    const { session, world, released, target, at } = await given();
    const receipt = await released({ spec: scripted([{ program: { ends: 'launch_failed' } }]), requeue: 'scheduler' });
    at(600);
    expect(await session.observe([target(receipt, { requeueable: true })])).toMatchObject({
      changed: [{ state: 'queued', run: 1, pending: { group: 'launch_failed', reason: 'launch failed requeued held' } }],
    });
    world.foreign.unhold(receipt.schedulerId);
    expect(world.truth().executions).toMatchObject([{ run: 1 }]);
  });
});

describe('node loss', () => {
  const publishes = [
    { atSeconds: 10, step: 1 },
    { atSeconds: 100, step: 2 },
  ];
  const lost = (more: object) => scripted({ program: { runsSeconds: 50, publishes, ends: { node_lost: { survives: true, ...more } } } });

  test('P6.3 survivors go on announcing until a later mark fences them at their next look', async () => {
    const { session, world, released, launch, target, at } = await given();
    const receipt = await released({ spec: lost({}) });
    at(55);
    expect(await session.observe([target(receipt)])).toMatchObject({
      changed: [{ kind: 'ended', outcome: { cause: 'node_lost', detail: { nodes: 'n1,n2', failedNodes: ['n1'] } }, processes: 'unknown' }],
    });
    at(110);
    const next = await launch({ n: 2 });
    await session.fence(JOB, { n: 2, schedulerId: next.schedulerId });
    at(119);
    expect(world.truth().executions).toMatchObject([{ survivor: true }]);
    expect(world.truth().executions[0]).not.toHaveProperty('endedAtMs');
    at(151);
    expect(world.truth().executions[0]).toMatchObject({ endedAtMs: START_MS + 150_000 });
    expect(world.truth().publications.map(({ step }) => step)).toEqual([1, 2]);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ processes: 'gone' }] });
  });

  test.each([
    ['for as long as the script says', { survivesSeconds: 100 }, 150],
    ['at most to its time limit', {}, 3600],
  ])('survivors live %s', async (_, more, endSeconds) => {
    const { world, released, at } = await given();
    await released({ spec: lost(more) });
    at(5000);
    expect(world.truth().executions).toMatchObject([{ endedAtMs: START_MS + endSeconds * 1000 }]);
  });

  test('the node comes back: survivors are killed, and nothing is unknown any more', async () => {
    const { session, world, released, target, at } = await given();
    const receipt = await released({ spec: lost({}) });
    at(70);
    world.returnNode(receipt.schedulerId);
    expect(await session.observe([target(receipt)])).toMatchObject({ changed: [{ processes: 'gone' }] });
    expect(world.truth().executions).toMatchObject([{ endedAtMs: START_MS + 70_000 }]);
  });

  test('K4: put back in its queue, the next run’s claim fences the survivor, whose late work is not its base', async () => {
    const { world, released, at } = await given();
    const spec = scripted([
      { program: { runsSeconds: 50, publishes: [...publishes, { atSeconds: 172, step: 9 }], ends: { node_lost: { survives: true } } } },
      { program: { runsSeconds: 500 } },
    ]);
    await released({ spec, requeue: 'scheduler' });
    at(400);
    const { executions, publications } = world.truth();
    expect(publications.map(({ step }) => step)).toEqual([1, 2, 9]);
    expect(executions).toMatchObject([
      { run: 0, survivor: true, endedAtMs: START_MS + 210_000 },
      { run: 1, startedAtMs: START_MS + 171_000, base: { step: 2 } },
    ]);
  });

  test('an agent that answers says that nothing is left', async () => {
    const { session, world, released, target, at } = await given();
    const receipt = await released({ spec: scripted({ program: { ends: 'hangs' } }) });
    at(5);
    world.loseNode(receipt.schedulerId, { answers: true, nodes: ['n2'] });
    expect(await session.observe([target(receipt)])).toMatchObject({
      changed: [{ outcome: { detail: { failedNodes: ['n2'] } }, processes: 'gone' }],
    });
  });
});

describe('gates and clocks', () => {
  test.each([
    ['released and queued till its last moment: it starts', 60, 'completed'],
    ['a moment longer: no capacity', 60.001, 'no_capacity'],
  ])('%s', async (_, queueSeconds, cause) => {
    const { world, released, at } = await given();
    await released({ patienceSeconds: 60, spec: scripted({ queueSeconds, pending: { group: 'concurrency', reason: 'QOSMaxJobs' } }) });
    at(500);
    expect(world.truth().objects).toMatchObject([{ state: 'ended', cause }]);
  });

  test('the gate counts by the cluster’s clock, also when it jumps', async () => {
    const { world, launch, at } = await given({ clockOffsetMs: -5000 });
    await launch({ patienceSeconds: 100 });
    at(50);
    expect(world.truth().objects[0]!.state).toBe('gated');
    world.jumpClock(60_000);
    at(51);
    expect(world.truth().objects[0]!.state).toBe('ended');
  });

  test('a clock that goes back changes nothing that happened', async () => {
    const { world, released, at } = await given();
    await released();
    at(60);
    const before = world.truth();
    at(5);
    expect(world.truth()).toEqual(before);
  });

  test('the time limit is the cluster’s: what hangs ends at it, what was shortened earlier', async () => {
    const { world, released, at } = await given();
    const spec = scripted({ program: { ends: 'hangs' } });
    const first = await released({ spec });
    await released({ job: '0123456789abcdeg', spec });
    at(10);
    world.foreign.edit(first.schedulerId, { timeLimitSeconds: 100 });
    at(4000);
    expect(world.truth().executions).toMatchObject([
      { how: 'time_limit', endedAtMs: START_MS + 100_000 },
      { how: 'time_limit', endedAtMs: START_MS + 3_600_000 },
    ]);
  });

  test('kubernetes: unsuspended it runs without mark; an eviction ends it, whatever the policy', async () => {
    const { world, session, launch, target, at } = await given({ shape: 'kubernetes' });
    const receipt = await launch({ requeue: 'scheduler', spec: scripted({ program: { ends: 'hangs' } }) });
    expect(session.requeue).toBeUndefined();
    await session.release(receipt, { mechanism: 'suspend', selfDestructs: false });
    at(10);
    world.preempt(receipt.schedulerId);
    expect(await session.observe([target(receipt)])).toMatchObject({
      changed: [{ kind: 'ended', run: 0, outcome: { cause: 'preempted' }, runs: [{ run: 0 }] }],
    });
    expect(world.truth().controls[0]).toMatchObject({ marks: [], claims: [] });
  });

  test('a claim is seen as late as a mark, and fences also when its run may not begin', async () => {
    const { world, released, at } = await given({ markViewSeconds: 45 });
    const survives = { program: { runsSeconds: 50, ends: { node_lost: { survives: true } } } };
    await released({ spec: scripted([survives, { program: { runsSeconds: 500 } }]), requeue: 'scheduler' });
    at(60);
    world.faults.pubUnreadable = true;
    at(500);
    const { executions, controls } = world.truth();
    expect(controls[0]!.claims).toMatchObject([{ run: 0 }, { run: 1, atMs: START_MS + 231_000 }]);
    // It looks at 240 s, too early to see the claim of 231 s; at 300 s it does, and has its grace.
    expect(executions).toMatchObject([{ run: 0, survivor: true, endedAtMs: START_MS + 330_000 }]);
    expect(world.truth().objects).toMatchObject([{ state: 'ended', cause: 'launch_failed' }]);
    expect(controls[0]!.refused).toMatchObject([{ run: 1, why: 'the publications cannot be listed on this node' }]);
  });

  test('P6.3 a run that began while a later mark was not to be seen yet finds it at its first look', async () => {
    const { world, session, released, launch, at } = await given({ markViewSeconds: 45 });
    await released({ spec: scripted([{ queueSeconds: 60, program: { ends: 'hangs' } }]) });
    at(50);
    const next = await launch({ n: 2 });
    await session.fence(JOB, { n: 2, schedulerId: next.schedulerId });
    at(500);
    expect(world.truth().executions).toMatchObject([{ startedAtMs: START_MS + 60_000, endedAtMs: START_MS + 150_000 }]);
  });

  test('who gives a running object more time gives it to its program, unless its wrapper cannot ask when its own is over', async () => {
    for (const [lostAt, endsAt] of [
      [undefined, 6000],
      [300, 600],
      [900, 6000],
    ] as const) {
      const { world, released, at } = await given();
      const receipt = await released({ spec: { ...scripted({ program: { ends: 'hangs' } }), timeLimitSeconds: 600 } });
      at(60);
      world.foreign.edit(receipt.schedulerId, { timeLimitSeconds: 6000 });
      if (lostAt !== undefined) {
        at(lostAt);
        world.loseNode(receipt.schedulerId, { survives: true });
      }
      at(7000);
      expect(world.truth().executions).toMatchObject([{ how: 'time_limit', endedAtMs: START_MS + endsAt * 1000 }]);
    }
  });
});

describe('the world', () => {
  test('what is true at a time does not depend on who looked when', async () => {
    const truths = [];
    for (const everySeconds of [1, 7, 1000]) {
      const { world, session, released, launch, at, target } = await given();
      const spec = scripted([{ queueSeconds: 3, program: { runsSeconds: 40, publishes: [{ atSeconds: 9, step: 4 }], ends: 'preempted' } }]);
      const receipt = await released({ spec, requeue: 'scheduler' });
      await launch({ n: 2, patienceSeconds: 77 });
      for (let seconds = 0; seconds < 1000; seconds += everySeconds) {
        at(seconds);
        await session.observe([target(receipt, { seen: seenOf('running', 0) })]);
      }
      at(1000);
      truths.push(world.truth());
    }
    expect(truths[1]).toEqual(truths[0]);
    expect(truths[2]).toEqual(truths[0]);
  });

  test('it says when something happens next', async () => {
    const { world, released } = await given();
    await released({ spec: scripted({ queueSeconds: 25 }) });
    expect(world.nextAtMs()).toBe(START_MS + 25_000);
  });

  test('its truth lists every act, with what became of it', async () => {
    const { world, session, launch, submission, at } = await given();
    const receipt = await launch();
    world.delaySubmission(10);
    await session.submit(await submission({ n: 2 }));
    at(20);
    await session.release(receipt, { mechanism: 'begin', selfDestructs: true });
    expect(world.truth().acts.map(({ verb, identity, result }) => `${verb} ${identity.at(-1)} ${result}`)).toEqual([
      'submit 1 done',
      'submit 2 done',
      'release 1 done',
    ]);
  });

  test('ten thousand objects are observed quickly, and one job is found among them', async () => {
    const { session, launch, target, at } = await given();
    const receipts = [];
    for (let i = 0; i < 10_000; i++) receipts.push(await launch({ job: String(i).padStart(16, '0') }));
    const targets = receipts.map((receipt) => target(receipt, { seen: seenOf('gated', 0), released: false }));
    at(10);
    const startedAt = performance.now();
    expect(await session.observe(targets)).toMatchObject({ changed: [], absent: [], unexplained: [] });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    const findAt = performance.now();
    for (let i = 0; i < 1000; i++) await session.find(String(i).padStart(16, '0'));
    expect(performance.now() - findAt).toBeLessThan(1000);
  });
});
