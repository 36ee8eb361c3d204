/** Release is fence, look, act (P4.3): a look that is not complete shows nobody alone, and only what is next now is let go. */
import { expect, test } from 'vitest';
import type { Ports } from '../../../lib/app/ports.ts';
import { release } from '../../../lib/app/step/release.ts';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { LOGIN, life, relaunch } from './life.ts';
import { reads } from './reader.ts';

const noMark = (world: World): void => world.faults.choose((call) => (call.verb === 'fence' ? { kind: 'unreachable' } : undefined));

test('P4.3, P3.6: given a look that says itself that it is incomplete, then nothing is released by it', async () => {
  const one = await life({ first: noMark, script: [{ program: { runsSeconds: 60 } }] });
  await one.until(({ attempt }) => attempt?.state === 'gated');
  const bound = one.view().attempts[0]!;
  const second = one.world.foreign.submit({ name: bound.identity, login: LOGIN, copyOf: bound.receipt!.schedulerId })!;
  one.world.lie({ hides: ({ id }) => id === second, complete: false });
  one.world.faults.choose(() => undefined);
  await one.advance(300);
  expect(one.count('attempt_released')).toBe(0);
  one.world.lie(undefined);
  expect((await one.ended()).state).toBe('succeeded');
  expect(one.all('duplicate_discarded')).toMatchObject([{ schedulerId: second }]);
  expect(one.world.truth().executions.map(({ schedulerId }) => schedulerId)).toEqual([bound.receipt!.schedulerId]);
  reads(one);
});

test('P4.3, P4.7, S1: given no guard on the nodes and an earlier attempt that an incomplete look leaves out, then both never run at once', async () => {
  const long = { program: { runsSeconds: 3000 } };
  const one = await life({ shape: 'kubernetes', rules: [relaunch(['vanished'])], script: [long, long], spec: { patience: '6h' } });
  await one.until(({ attempt }) => attempt?.state === 'running');
  const first = one.object();
  noMark(one.world);
  one.world.lie({ hides: ({ id }) => id === first, complete: true });
  await one.until(({ attempt }) => attempt?.n === 2 && attempt.state === 'gated');
  one.world.lie({ hides: ({ id }) => id === first, complete: false });
  one.world.faults.choose(() => undefined);
  await one.advance(1200);
  expect(one.world.truth().executions.map(({ n }) => n)).toEqual([1]);
  one.world.lie(undefined);
  await one.ended(20_000);
  const [earlier, later] = one.world.truth().executions;
  expect(earlier?.endedAtMs).toBeLessThanOrEqual(later!.startedAtMs);
  reads(one);
});

test('P6.3: given a run of an ended attempt that no poll saw and whose node was lost, then the next attempt waits until it is fenced', async () => {
  const again = { on: ['exited'], do: { relaunch: { max: 1, from: 'scratch', backoff: { initial: '5m' } } } };
  const script = [[{ program: { runsSeconds: 30, ends: { exit: 3 } } }, { program: { ends: 'hangs' } }], { program: { runsSeconds: 60 } }];
  const one = await life({ rules: [again], script, cluster: { requeueDelaySeconds: 1 } });
  await one.until((_, view) => view.decision !== undefined, 3600);
  one.world.faults.choose(({ verb }) => (verb === 'observe' ? { kind: 'unreachable' } : undefined));
  const first = one.object();
  one.world.foreign.requeue(first);
  while (one.world.truth().executions.length < 2) await one.advance(1);
  one.world.loseNode(first, { survives: true, answers: false });
  await one.until(({ attempt }) => attempt?.n === 2 && attempt.state === 'gated', 3600);
  one.world.faults.choose(() => undefined);
  expect((await one.ended(20_000)).state).toBe('succeeded');
  const [, unseen, next] = one.world.truth().executions;
  expect([unseen, next]).toMatchObject([
    { n: 1, run: 1 },
    { n: 2, run: 0 },
  ]);
  expect(unseen!.endedAtMs).toBeLessThanOrEqual(next!.startedAtMs);
  expect(one.view().attempts[0]).toMatchObject({ run: 0, processes: 'gone' });
  reads(one);
});

test('P6.3: given a cluster whose clock jumps ahead, then a release waits for its fence no shorter', async () => {
  const lost = { program: { runsSeconds: 50, ends: { node_lost: { survives: true, answers: false } } } };
  const one = await life({ rules: [relaunch(['node_lost'])], script: [lost, { program: { runsSeconds: 60 } }] });
  await one.until((_, view) => view.attempts[1]?.releaseIntendedAt !== undefined, 3600);
  one.world.jumpClock(200_000);
  expect((await one.ended(20_000)).state).toBe('succeeded');
  const [survivor, next] = one.world.truth().executions;
  expect(survivor!.endedAtMs).toBeLessThanOrEqual(next!.startedAtMs);
  reads(one);
});

test('P4.3, P1.2: given a slow supervisor whose attempt was given up since its look, then it does not let that object go', async () => {
  const rules = [relaunch(['vanished'])];
  const one = await life({ first: noMark, rules, script: [{ program: { runsSeconds: 60 } }, { program: { runsSeconds: 60 } }] });
  await one.until(({ attempt }) => attempt?.state === 'gated');
  const before = one.view();
  const first = one.object();
  let reached = false;
  // Between its look and its reading of the record again: the first object is lost from sight, given up, and followed by the second.
  const meanwhile = async (): Promise<void> => {
    reached = true;
    noMark(one.world);
    one.world.lie({ hides: ({ id }) => id === first, complete: true });
    await one.until(({ attempt }) => attempt?.n === 2 && attempt.state === 'gated');
  };
  const slow: Ports = {
    ...one.ports(),
    store: {
      ...one.store,
      read: async (job, after) => {
        if (!reached) await meanwhile();
        return one.store.read(job, after);
      },
    },
  };
  one.world.faults.choose(() => undefined);
  await release(slow, before, 1);
  expect(reached).toBe(true);
  expect(one.world.truth().acts.filter(({ verb }) => verb === 'release')).toEqual([]);
  one.world.lie(undefined);
  one.world.faults.choose(() => undefined);
  expect((await one.ended()).state).toBe('succeeded');
  expect(one.world.truth().executions.map(({ n }) => n)).toEqual([2]);
});
