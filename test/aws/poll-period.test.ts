/** What one tick of a schedule polls: once, or as often as the cluster asks for within the minute; never when nothing is active. */
import { expect, test } from 'vitest';
import type { Polled } from '../../lib/app/poll.ts';
import { pollInvocation } from '../../lib/aws/invocations.ts';
import { pollPeriod } from '../../lib/aws/poll-period.ts';
import { CLUSTER, type Cluster, cluster, LOGIN } from '../app/cluster-world.ts';

const LIMIT_MS = 50_000;
const LONG = [{ program: { ends: 'hangs' } }];

/** As the scheduler calls it, and how long after its beginning each poll began. */
const period = async (given: Cluster, limitMs = LIMIT_MS): Promise<{ kinds: Polled['kind'][]; endedAtMs: number }> => {
  const began = given.clock.now();
  const event = { ...pollInvocation(CLUSTER, LOGIN), scheduledAt: '2030-01-01T00:01:00Z' };
  let done = false;
  const polling = pollPeriod(given.ports, event, () => began + limitMs - given.clock.now()).finally(() => {
    done = true;
  });
  for (let i = 0; i < 700 && !done; i++) await given.clock.advance(100);
  const polls = await polling;
  return { kinds: polls.map((one) => one.kind), endedAtMs: given.clock.now() - began };
};

/** Nobody else polls. */
const withJob = async (pollEverySeconds: number): Promise<Cluster> => {
  const given = await cluster({ pollEverySeconds });
  await given.submit(1, LONG);
  await given.advance(5);
  given.system.stop();
  return given;
};

test('given a pace of a minute, then one poll', async () => {
  const { kinds, endedAtMs } = await period(await withJob(60));
  expect(kinds).toEqual(['looked']);
  expect(endedAtMs).toBeLessThan(1000);
});

test('given a pace of ten seconds and an active job, then one every ten seconds, none of which the limit could cut off', async () => {
  const { kinds, endedAtMs } = await period(await withJob(10));
  expect(kinds).toEqual(Array.from({ length: 5 }, () => 'looked'));
  expect(endedAtMs).toBeLessThan(45_000);
});

test('given a pace of ten seconds and nothing active, then one poll without a look: an idle cluster costs no minute', async () => {
  const given = await cluster({ pollEverySeconds: 10 });
  given.system.stop();
  const event = { cluster: CLUSTER, login: LOGIN };
  expect((await pollPeriod(given.ports, event, () => LIMIT_MS)).map((one) => one.kind)).toEqual(['idle']);
});

test('given a limit that leaves too little, then no further poll is begun', async () => {
  expect((await period(await withJob(10), 14_000)).kinds).toEqual(['looked']);
});

test('given no limit that is known, then one poll', async () => {
  const given = await withJob(10);
  expect(await pollPeriod(given.ports, { cluster: CLUSTER, login: LOGIN })).toHaveLength(1);
});
