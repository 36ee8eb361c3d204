/** Settle (P3.5): what decides that a submission never landed was looked at 30 s after the first such look, however long a look takes. */
import { expect, test } from 'vitest';
import type { Ports } from '../../../lib/app/ports.ts';
import { settle } from '../../../lib/app/step/settle.ts';
import type { Performed } from '../../../lib/app/step/work.ts';
import { readWatch } from '../../../lib/app/watch.ts';
import type { World } from '../../../lib/cluster/memory/world.ts';
import type { View } from '../../../lib/job/view.ts';
import { CLUSTER, type Life, life } from './life.ts';

/** The same ports, but a look-up answers what it saw only after `seconds`, and tells a clock that is behind by so much. */
const slowLooks = (one: Life, seconds: number, behindMs = 0): Ports => {
  const configuration = one.ports().clusters.get(CLUSTER)!;
  const connect = async (login: string) => {
    const session = await configuration.adapter.connect(login);
    return {
      ...session,
      find: async (job: string) => {
        const saw = await session.find(job);
        await one.advance(seconds);
        return saw.kind === 'unreachable' ? saw : { ...saw, clusterNow: saw.clusterNow - behindMs };
      },
    };
  };
  return { ...one.ports(), clusters: new Map([[CLUSTER, { ...configuration, adapter: { ...configuration.adapter, connect } }]]) };
};

/** Its submission is lost; afterwards its own supervisor cannot look, so that only the test does. */
const lost = async (): Promise<{
  readonly one: Life;
  look(how: { view?: View; seconds?: number; behindMs?: number }): Promise<Performed>;
}> => {
  // The look-up before sending finds nothing.
  let allowed = 1;
  const first = (world: World): void =>
    world.faults.choose(({ verb }) => {
      if (verb === 'submit') return { kind: 'request_lost' };
      return verb === 'find' && allowed-- <= 0 ? { kind: 'unreachable' } : undefined;
    });
  const one = await life({ first });
  await one.until(({ attempt }) => attempt?.state === 'uncertain');
  return {
    one,
    look: ({ view = one.view(), seconds = 0, behindMs = 0 }) => {
      allowed = 1;
      return settle(slowLooks(one, seconds, behindMs), view, 1);
    },
  };
};

test('P3.5: given a second look that began at once and took 40 s, then it decides nothing; the one after it does', async () => {
  const { one, look } = await lost();
  await one.advance(600);
  const view = one.view();
  const looks = async (seconds: number): Promise<void> => {
    await look({ view, seconds });
    await one.advance(0);
  };
  await looks(0);
  expect((await readWatch(one.store, one.job())).settle).toBeDefined();
  await looks(40);
  expect(one.count('attempt_never_landed')).toBe(0);
  await looks(0);
  expect(one.count('attempt_never_landed')).toBe(1);
});

// A clock of whole seconds is behind by up to one; seen live: the look at the settle time missed it, and the back-off slept two minutes.
test.each([0, 1, 500, 999, 40_000])(
  'P3.5: given a cluster whose clock is %i ms behind, then no look is early and none waits past its time',
  async (behindMs) => {
    const { one, look } = await lost();
    const counts = async (): Promise<boolean> => (await readWatch(one.store, one.job())).settle !== undefined;
    const { clusterSettleAt } = one.view().attempts[0]!;
    for (let looks = 0; !(await counts()); looks++) {
      expect(looks).toBeLessThan(3);
      const said = await look({ behindMs });
      if (await counts()) break;
      expect(said).toMatchObject({ kind: 'nothing', decidesAt: expect.any(Number) });
      const at = (said as { decidesAt: number }).decidesAt;
      expect(at).toBeGreaterThan(one.clock.now());
      await one.advance((at - one.clock.now()) / 1000);
    }
    expect(one.clock.now() - behindMs).toBeGreaterThan(clusterSettleAt);
    expect(one.clock.now() - behindMs).toBeLessThanOrEqual(clusterSettleAt + 2000);
  },
);
