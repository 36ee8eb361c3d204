/** A cluster that is read only is looked at and never written to, also where it became so after a job was accepted (contract §7). */
import { expect, test } from 'vitest';
import { poll } from '../../../lib/app/poll.ts';
import type { Ports } from '../../../lib/app/ports.ts';
import { perform } from '../../../lib/app/step/perform.ts';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { nextStep } from '../../../lib/job/next-step.ts';
import { CLUSTER, type Life, LOGIN, life } from './life.ts';

const noMark = (world: World): void => world.faults.choose((call) => (call.verb === 'fence' ? { kind: 'unreachable' } : undefined));
const writes = (one: Life): number => one.world.truth().acts.length;

/** The same deployment after its configuration changed. */
const readOnly = (one: Life): Ports => {
  const configuration = one.ports().clusters.get(CLUSTER)!;
  return { ...one.ports(), clusters: new Map([[CLUSTER, { ...configuration, readOnly: true }]]) };
};

const nextOn = (one: Life): Promise<{ kind: string; view: { version: number } }> => {
  const step = nextStep(one.view(), one.clock.now());
  if (step.do === 'await' || step.do === 'done') throw new Error(`nothing is due: ${step.do}`);
  return perform(readOnly(one), one.view(), step);
};

test('given a job that waits for its submission, then nothing is planned or sent', async () => {
  const one = await life({ first: (world) => world.unreachable(true) });
  one.world.unreachable(false);
  expect(nextStep(one.view(), one.clock.now())).toMatchObject({ do: 'submit' });
  expect(await nextOn(one)).toMatchObject({ kind: 'nothing', view: { version: 1 } });
  expect(one.count('attempt_planned')).toBe(0);
  expect(writes(one)).toBe(0);
});

test('given a gated attempt, then it is neither marked nor released, nor cancelled, and no end of the job is claimed', async () => {
  const one = await life({ first: noMark });
  await one.until(({ attempt }) => attempt?.state === 'gated');
  one.world.faults.choose(() => ({ kind: 'unreachable' }));
  await one.advance(1);
  const before = writes(one);
  one.world.faults.choose(() => undefined);
  expect(await nextOn(one)).toMatchObject({ kind: 'nothing' });
  one.world.faults.choose(() => ({ kind: 'unreachable' }));
  await one.cancel();
  one.world.faults.choose(() => undefined);
  expect(nextStep(one.view(), one.clock.now())).toMatchObject({ do: 'cancel' });
  await nextOn(one);
  await one.advance(0);
  expect(writes(one)).toBe(before);
  expect(one.view().ended).toBeUndefined();
});

test('given an object that no record wants, then the sweep leaves it where it is', async () => {
  const one = await life({ script: [{ program: { runsSeconds: 60 } }] });
  await one.ended();
  const name = one.view().attempts[0]!.identity;
  const orphan = one.world.foreign.submit({ name, login: LOGIN, script: [{ queueSeconds: 'never' }] })!;
  // Until its end is old enough for a sweep, nobody comes by.
  one.world.unreachable(true);
  await one.advance(700);
  one.world.unreachable(false);
  expect(await poll(readOnly(one), { cluster: CLUSTER, login: LOGIN, sweep: true })).toMatchObject({ kind: 'looked' });
  expect(one.world.truth().objects.find(({ id }) => id === orphan)?.state).not.toBe('ended');
});
