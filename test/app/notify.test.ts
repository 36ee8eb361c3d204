/**
 * Delivery of notices: at least once, none lost, whoever dies where (protocols §2.7). The bus outlives every process; what is owed to
 * it is what the log says at the end.
 */
import { describe, expect, test } from 'vitest';
import { type Notice, noticesAfter } from '../../lib/app/notices.ts';
import { type Bus, BusFailure } from '../../lib/app/ports.ts';
import { type Given, type Life, life, relaunch } from '../contract/core/life.ts';

interface Kept extends Bus {
  readonly notices: Notice[];
  /** How many of the next calls fail before anything is kept. */
  fails: number;
}

const keeping = (): Kept => {
  const bus: Kept = {
    notices: [],
    fails: 0,
    async put(notices) {
      if (bus.fails-- > 0) throw new BusFailure('not now');
      bus.notices.push(...notices);
    },
  };
  return bus;
};

const program = (ends: unknown) => ({ queueSeconds: 2, program: { runsSeconds: 8, publishes: [{ atSeconds: 3, step: 100 }], ends } });
/** Preempted and relaunched, then a question, which a person answers. */
const STORY: Given = {
  rules: [relaunch(['preempted', 'never_landed'])],
  unmatched: 'escalate',
  script: [program('preempted'), program({ exit: 3 }), program('completed')],
  pollEverySeconds: 3,
};

/** Nothing that is told depends on these. */
const APART = new Set([
  ...[
    'read',
    'readAt',
    'goingOn',
    'readHead',
    'readHeads',
    'readWake',
    'readWatch',
    'readLease',
    'getBlob',
    'listActive',
    'listUnended',
    'listOwed',
  ],
  ...['listUnnotified', 'readCluster', 'connect', 'close', 'clock', 'probe', 'find', 'observe', 'outputBytes', 'listPublications'],
  ...['renewLease', 'takeSlot', 'returnSlot', 'seen', 'countTry'],
]);
/** Before any other effect is after the one before it. */
const TELLING = new Set(['append', 'moveHead', 'put', 'setNotified']);

/** Goes on to the end, answering what is asked; a dead process is followed by another one, and its caller asks again. */
const toItsEnd = async (one: Life): Promise<void> => {
  for (let s = 0; s < 1200 && (one.job() === '' || !one.view().ended); s++) {
    if (!one.process().alive()) await one.restartProcess(11);
    if (one.job() !== '' && one.status().state === 'awaiting') await answered(one);
    await one.advance(1);
  }
  if (!one.process().alive()) await one.restartProcess(11);
  expect(one.status().state).toBe('succeeded');
  // What the last writer could not send is the sweep's.
  await one.advance(40);
  if (!one.process().alive()) await one.restartProcess(11);
};

/** Who dies while answering never says so. */
const answered = async (one: Life): Promise<void> => {
  const asked = one.process();
  let waits = true;
  const answer = one.answer('relaunch').then(() => {
    waits = false;
  });
  while (waits && asked.alive()) await one.clock.settle();
  if (!waits) await answer;
};

const missing = (one: Life, bus: Kept): readonly string[] => {
  const sent = new Set(bus.notices.map(({ id }) => id));
  return noticesAfter(one.commits(), 0).flatMap(({ id, type }) => (sent.has(id) ? [] : [`${id} ${type}`]));
};

test('given nothing goes wrong, then each is sent once, in order, and nothing stays unsent (P2.7)', async () => {
  const bus = keeping();
  const one = await life({ ...STORY, bus });
  await toItsEnd(one);
  expect(bus.notices).toEqual(noticesAfter(one.commits(), 0));
  expect(await one.store.listUnnotified(one.clock.now() + 1, 10)).toEqual([]);
  expect((await one.store.readHead(one.job()))?.notified).toBe(one.view().version);
});

describe('given a process killed at any one of its effects, and a new one', () => {
  test.each(['before', 'after'] as const)('killed %s it, then no notice is lost (P2.7)', { timeout: 60_000 }, async (when) => {
    const whole = await life({ ...STORY, bus: keeping() });
    await toItsEnd(whole);
    expect(whole.process().calls).toEqual(expect.arrayContaining(['put', 'setNotified']));
    for (const [i, name] of whole.process().calls.entries()) {
      if (when === 'before' ? !TELLING.has(name) : APART.has(name)) continue;
      const bus = keeping();
      const one = await life({ ...STORY, bus, death: { call: i + 1, when } });
      await toItsEnd(one);
      expect(missing(one, bus), `killed ${when} call ${i + 1}, ${name}`).toEqual([]);
    }
  });
});

test('given the bus is away for any stretch of calls, then all is sent once it is back, and nothing waited for it (P2.7)', async () => {
  const plain = await life(STORY);
  await toItsEnd(plain);
  for (const fails of [1, 3, 9, 30]) {
    const bus = keeping();
    bus.fails = fails;
    const one = await life({ ...STORY, bus });
    await toItsEnd(one);
    expect(missing(one, bus), `${fails} failures`).toEqual([]);
    expect(one.commits().map(({ events }) => events.map(({ type }) => type))).toEqual(
      plain.commits().map(({ events }) => events.map(({ type }) => type)),
    );
  }
});

test('given a writer that died before it moved the head, then the next process tells what the log says (W6, P2.7)', async () => {
  const bus = keeping();
  const one = await life({ ...STORY, bus, death: { call: 'attempt_ended', when: 'after' } });
  while (one.process().alive()) await one.advance(1);
  expect(bus.notices.some(({ type }) => type === 'dispatch.attempt.ended')).toBe(false);
  await one.restartProcess(1);
  expect(bus.notices.some(({ type }) => type === 'dispatch.attempt.ended')).toBe(true);
});

test('given supervisors that die before they decide anything, then the second one is told of as failing (P2.8)', async () => {
  const bus = keeping();
  const one = await life({ ...STORY, bus });
  await one.until((status) => status.state === 'running');
  // The engine loses each execution at once, as if it had died before its first directive.
  await one.store.raiseGeneration(one.job(), 1, one.clock.now());
  await one.restartProcess(0);
  expect(bus.notices.filter(({ type }) => type === 'dispatch.supervisor.failing')).toMatchObject([
    { id: `${one.job()}:${one.view().version}:g2`, generation: 2, failures: 1 },
  ]);
});

test('given no bus, then nothing is read or written for it', async () => {
  const one = await life(STORY);
  await toItsEnd(one);
  expect(one.process().calls).not.toContain('setNotified');
  expect(one.process().calls).not.toContain('listUnnotified');
});
