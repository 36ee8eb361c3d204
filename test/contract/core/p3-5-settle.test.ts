/** Settle (P3.5): what decides that a submission never landed was looked at 30 s after the first such look, however long a look takes. */
import { expect, test } from 'vitest';
import type { Ports } from '../../../lib/app/ports.ts';
import { settle } from '../../../lib/app/step/settle.ts';
import { readWatch } from '../../../lib/app/watch.ts';
import type { World } from '../../../lib/cluster/memory/world.ts';
import { CLUSTER, type Life, life } from './life.ts';

/** The same ports, but a look-up answers what it saw only after `seconds`. */
const slowLooks = (one: Life, seconds: number): Ports => {
  const configuration = one.ports().clusters.get(CLUSTER)!;
  const connect = async (login: string) => {
    const session = await configuration.adapter.connect(login);
    return {
      ...session,
      find: async (job: string) => {
        const saw = await session.find(job);
        await one.advance(seconds);
        return saw;
      },
    };
  };
  return { ...one.ports(), clusters: new Map([[CLUSTER, { ...configuration, adapter: { ...configuration.adapter, connect } }]]) };
};

test('P3.5: given a second look that began at once and took 40 s, then it decides nothing; the one after it does', async () => {
  let allowed = 1;
  // The look-up before sending finds nothing; afterwards our own supervisor cannot look, so that only the calls below do.
  const first = (world: World): void =>
    world.faults.choose(({ verb }) => {
      if (verb === 'submit') return { kind: 'request_lost' };
      return verb === 'find' && allowed-- <= 0 ? { kind: 'unreachable' } : undefined;
    });
  const one = await life({ first });
  await one.until(({ attempt }) => attempt?.state === 'uncertain');
  await one.advance(600);
  const view = one.view();
  const look = async (seconds: number): Promise<void> => {
    allowed = 1;
    await settle(slowLooks(one, seconds), view, 1);
    await one.advance(0);
  };
  await look(0);
  expect((await readWatch(one.store, one.job())).settle).toBeDefined();
  await look(40);
  expect(one.count('attempt_never_landed')).toBe(0);
  await look(0);
  expect(one.count('attempt_never_landed')).toBe(1);
});
