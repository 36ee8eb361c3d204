/** A second object of an identity, and a run that outlives its object: nothing else of a job may run when the next attempt does. */
import { describe, expect, test } from 'vitest';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { CLUSTER, type Life, LOGIN, life, relaunch, SHAPES, TAG } from './life.ts';
import { reads } from './reader.ts';

const noMark = (world: World): void => world.faults.choose((call) => (call.verb === 'fence' ? { kind: 'unreachable' } : undefined));
const copy = (one: Life): string => {
  const attempt = one.view().attempts.at(-1)!;
  return one.world.foreign.submit({ name: attempt.identity, login: LOGIN, copyOf: attempt.receipt!.schedulerId })!;
};

describe('a second object of the same identity (P4.3)', () => {
  test('given one that appears before the release, then it is recorded and discarded, and the bound one alone is released', async () => {
    const one = await life({ first: noMark, script: [{ program: { runsSeconds: 60 } }] });
    await one.until(({ attempt }) => attempt?.state === 'gated');
    const second = copy(one);
    one.world.faults.choose(() => undefined);
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.all('duplicate_found')).toMatchObject([{ n: 1, receipt: { schedulerId: second } }]);
    expect(one.all('duplicate_discarded')).toMatchObject([{ schedulerId: second }]);
    expect(one.world.truth().executions.map(({ schedulerId }) => schedulerId)).toEqual(['1']);
    reads(one);
  });

  test('given one that appears while the first runs, then the poll notices it and it is discarded', async () => {
    const one = await life({ script: [{ program: { runsSeconds: 300 } }] });
    await one.until(({ attempt }) => attempt?.state === 'running');
    copy(one);
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.count('duplicate_discarded')).toBe(1);
    reads(one);
  });

  test('given one that is seen running, then people are asked, nothing is released meanwhile, and stop ends everything', async () => {
    const first = (world: World): void =>
      world.faults.choose((call) => (call.verb === 'fence' || call.verb === 'discard' ? { kind: 'unreachable' } : undefined));
    const one = await life({ first, script: [{ program: { runsSeconds: 300 } }] });
    await one.until(({ attempt }) => attempt?.state === 'gated');
    one.world.foreign.release(copy(one));
    const status = await one.until(({ state }) => state === 'awaiting', 60);
    expect(status.question).toMatchObject({ kind: 'duplicate_attempts', options: ['stop', 'wait'] });
    one.world.faults.choose(() => undefined);
    await one.answer('stop');
    const ended = await one.ended();
    expect(ended.state).toMatch(/failed|cancelled/);
    expect(one.world.truth().executions).toEqual([]);
    reads(one);
  });

  test('given one that cannot be discarded within 15 minutes, then people are asked (contract §10)', async () => {
    const first = (world: World): void =>
      world.faults.choose((call) => (call.verb === 'fence' || call.verb === 'discard' ? { kind: 'unreachable' } : undefined));
    const one = await life({ first, script: [{ program: { runsSeconds: 60 } }], spec: { patience: '6h' } });
    await one.until(({ attempt }) => attempt?.state === 'gated');
    copy(one);
    one.world.faults.choose((call) => (call.verb === 'discard' ? { kind: 'unreachable' } : undefined));
    const status = await one.until(({ state }) => state === 'awaiting', 3600);
    expect(status.question).toMatchObject({ kind: 'duplicate_attempts' });
    one.world.faults.choose(() => undefined);
    expect((await one.ended()).state).toBe('succeeded');
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn' });
    reads(one);
  });

  test('given an object with another tag, then it is never touched, whatever else its name looks like (contract §1)', async () => {
    const one = await life({ script: [{ program: { runsSeconds: 900 } }] });
    const foreign = one.world.foreign.submit({
      name: `dzzzz-${one.job()}-1`,
      login: LOGIN,
      script: [{ program: { runsSeconds: 600 } }],
    })!;
    await one.ended();
    expect(one.world.truth().objects.find(({ id }) => id === foreign)?.cause).toBe('completed');
    reads(one);
  });

  test('given an object of our tag whose job has no record here, then it is reported and left alone (P4.1)', async () => {
    const one = await life({ script: [{ program: { runsSeconds: 900 } }] });
    const orphan = one.world.foreign.submit({
      name: `d${TAG}-0123456789abcdef-1`,
      login: LOGIN,
      script: [{ program: { runsSeconds: 600 } }],
    })!;
    await one.ended();
    expect(one.world.truth().objects.find(({ id }) => id === orphan)?.cause).toBe('completed');
    expect(one.logs.some(({ message, fields }) => message.includes('no record here') && JSON.stringify(fields).includes(CLUSTER))).toBe(
      true,
    );
    reads(one);
  });

  test.each(SHAPES)('given an object of a job that ended long ago on a %s cluster, then the sweep discards it (P4.1)', async (shape) => {
    const one = await life({ shape, script: [{ program: { runsSeconds: 60 } }] });
    await one.ended();
    const name = `d${TAG}-${one.job()}-2`;
    const late = one.world.foreign.submit({ name, login: LOGIN, script: [{ queueSeconds: 'never' }] })!;
    await one.advance(1200);
    expect(one.world.truth().objects.find(({ id }) => id === late)?.state).toBe('ended');
    reads(one);
  });
});

describe('a lost node whose processes live on (P6.3)', () => {
  const survivor = { program: { runsSeconds: 600, publishes: [{ atSeconds: 30, step: 7 }], ends: { node_lost: { survives: true } } } };

  test('given processes of unknown fate, then the next attempt is planned at once and released only when they are fenced', async () => {
    const one = await life({
      rules: [relaunch(['node_lost'])],
      script: [survivor, { program: { runsSeconds: 60 } }],
      spec: { timeLimit: '4h' },
    });
    await one.until((_, view) => view.attempts.length === 2);
    const bound = one.at();
    expect(one.view().attempts[0]).toMatchObject({ processes: 'unknown', outcome: { cause: 'node_lost' } });
    await one.until((_, view) => view.attempts[1]?.releasedAt !== undefined);
    expect(one.at() - bound).toBeGreaterThanOrEqual(180);
    // At the moment itself: no back-off sleeps past it.
    expect(one.at() - bound).toBeLessThan(190);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', resumedFrom: { trainingStep: 7 } });
    const [first, second] = one.world.truth().executions;
    expect(first!.endedAtMs).toBeLessThan(second!.startedAtMs);
    reads(one);
  });

  test('given a run that the scheduler put back elsewhere and that never begins, then the release waits for the one before it', async () => {
    const rules = [{ on: ['node_lost'], do: { requeue: { max: 2, by: 'scheduler' } } }, relaunch(['unsatisfiable'])];
    const never = { queueSeconds: 'never', pending: { group: 'never', reason: 'Resources' }, program: {} };
    const one = await life({ rules, script: [[survivor, never], { program: { runsSeconds: 60 } }], spec: { timeLimit: '4h' } });
    await one.until((_, view) => view.attempts.length === 2);
    const [first] = one.view().attempts;
    expect(first).toMatchObject({ run: 1, processes: 'gone', outcome: { cause: 'unsatisfiable' } });
    const { executions } = one.world.truth();
    expect(executions).toMatchObject([{ run: 0, survivor: true }]);
    expect(executions[0]).not.toHaveProperty('endedAtMs');
    await one.ended();
    const [survived, second] = one.world.truth().executions;
    expect(second!.startedAtMs).toBeGreaterThan(survived!.endedAtMs!);
    reads(one);
  });

  test('given nodes that answer and list nothing, then the release waits for nothing', async () => {
    const answers = { program: { runsSeconds: 600, ends: { node_lost: { answers: true } } } };
    const one = await life({ rules: [relaunch(['node_lost'])], script: [answers, { program: { runsSeconds: 60 } }] });
    await one.until((_, view) => view.attempts.length === 2);
    const planned = one.at();
    await one.until((_, view) => view.attempts[1]?.releasedAt !== undefined);
    expect(one.at() - planned).toBeLessThan(10);
    await one.ended();
    reads(one);
  });

  test('given what a fenced run publishes late, then it is never resumed from (promise 5)', async () => {
    const late = {
      program: {
        runsSeconds: 60,
        publishes: [
          { atSeconds: 30, step: 7 },
          { atSeconds: 90, step: 900 },
        ],
        ends: { node_lost: { survives: true } },
      },
    };
    const script = [late, { program: { runsSeconds: 60, publishes: [{ atSeconds: 10, step: 1 }], ends: 'preempted' } }, { program: {} }];
    const one = await life({ rules: [relaunch(['node_lost', 'preempted'])], script, spec: { timeLimit: '4h' } });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', resumedFrom: { attempt: 2, trainingStep: 8 } });
    reads(one);
  });

  test('given unknown processes whose time limit is long over, then the release waits all the same: no time proves them gone', async () => {
    const script = [
      { program: { runsSeconds: 60, ends: { node_lost: { survives: true, survivesSeconds: 60 } } } },
      { queueSeconds: 0, program: { runsSeconds: 60 } },
    ];
    const backoff = { initial: '2h', factor: 1, max: '2h' };
    const one = await life({ rules: [relaunch(['node_lost'], { backoff })], script, spec: { timeLimit: '10m' }, seed: 3 });
    await one.ended(20_000);
    const second = one.view().attempts[1]!;
    const waited = second.releasedAt! - second.plannedAt;
    expect(second.plannedAt - one.view().attempts[0]!.startedAt!).toBeGreaterThan(2 * 600_000);
    expect(waited).toBeGreaterThanOrEqual(180_000);
    reads(one);
  });

  test('given no wrapper that could fence what survives, then the release waits all the same, and what it publishes is late (P4.7)', async () => {
    const late = { ...survivor.program, publishes: [...survivor.program.publishes, { atSeconds: 900, step: 900 }] };
    const script = [{ program: late }, { program: { runsSeconds: 900, ends: 'preempted' } }, { program: { runsSeconds: 60 } }];
    const one = await life({ shape: 'kubernetes', rules: [relaunch(['node_lost', 'preempted'])], script, spec: { timeLimit: '4h' } });
    await one.until((_, view) => view.attempts.length === 2);
    await one.until((_, view) => view.attempts[1]?.releasedAt !== undefined);
    const [first, second] = one.view().attempts;
    expect(second!.releasedAt! - first!.endedAt!).toBeGreaterThanOrEqual(600_000);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', resumedFrom: { attempt: 1, trainingStep: 7 } });
    reads(one, { survivors: true });
  });
});
