/** `why` is one sentence in every state: what goes on, by which rule or answer, from where (contract §11). */
import { describe, expect, test } from 'vitest';
import { JOB_STATES } from '../../../lib/job/view.ts';
import { type Given, type Life, life, relaunch } from './life.ts';
import { isSentence, reads } from './reader.ts';

interface Row {
  readonly state: string;
  readonly given: Given;
  readonly when: (one: Life) => Promise<unknown>;
  readonly why: RegExp | string;
}

const preempted = { program: { runsSeconds: 30, publishes: [{ atSeconds: 9, step: 70 }], ends: 'preempted' } };
const exits = { program: { runsSeconds: 30, ends: { exit: 3 } } };
const restarted = 'attempt 2 follows 1, which was preempted: rule 0 (1 of 3 uses) relaunched it from step 70, published by attempt 1';
const is = (state: string) => (one: Life) => one.until((status) => status.state === state);
const attemptIs = (state: string) => (one: Life) => one.until((status) => status.attempt?.state === state);

const ROWS: readonly Row[] = [
  {
    state: 'pending',
    given: { first: (world) => world.unreachable(true) },
    when: is('pending'),
    why: 'Accepted; the first attempt is not planned yet.',
  },
  {
    state: 'pending',
    given: { first: (world) => world.faults.choose(({ verb }) => (verb === 'fence' ? { kind: 'unreachable' } : undefined)) },
    when: attemptIs('gated'),
    why: 'Attempt 1 is on the cluster behind its gate.',
  },
  {
    state: 'queued',
    given: { script: [{ queueSeconds: 600, pending: { group: 'concurrency', reason: 'QOSMaxJobsPerUserLimit' } }] },
    when: async (one) => {
      await is('queued')(one);
      await one.advance(20);
    },
    why: 'Attempt 1 waits in the queue: QOSMaxJobsPerUserLimit.',
  },
  {
    state: 'pending',
    given: { rules: [relaunch(['node_lost'])], script: [{ program: { runsSeconds: 60, ends: 'node_lost' } }] },
    when: (one) => one.until(({ attempt }) => attempt?.n === 2 && attempt.state === 'gated'),
    why: /^Attempt 2 waits behind its gate until what may be left of attempt 1 is fenced off; attempt 2 follows 1, which lost a node \(\S+\): rule 0/,
  },
  {
    state: 'running',
    given: { script: [{ startsSeconds: 100 }] },
    when: attemptIs('starting'),
    why: 'Attempt 1 is starting.',
  },
  { state: 'running', given: { script: [{ program: { runsSeconds: 100 } }] }, when: attemptIs('running'), why: 'Attempt 1 is running.' },
  {
    state: 'running',
    given: { rules: [relaunch(['preempted'])], script: [preempted, { program: { runsSeconds: 100 } }] },
    when: (one) => one.until(({ attempt }) => attempt?.n === 2 && attempt.state === 'running'),
    why: `Attempt 2 is running; ${restarted}.`,
  },
  {
    state: 'running',
    given: { script: [{ program: { runsSeconds: 60, endingSeconds: 600 } }] },
    when: attemptIs('ending'),
    why: 'Attempt 1 is ending.',
  },
  {
    state: 'running',
    given: { unmatched: 'escalate', script: [{ program: { ends: 'unrecognised' } }] },
    when: async (one) => {
      await is('awaiting')(one);
      await one.answer('wait');
    },
    why: /^Attempt 1 ended with a word nobody knows; the answer was 'wait': asked again at 2030-01-04T\S+Z\.$/,
  },
  {
    state: 'recovering',
    given: { rules: [relaunch(['exited'], { backoff: { initial: '2h', factor: 1, max: '2h' } })], script: [exits] },
    when: is('recovering'),
    why: /^Attempt 1 exited with 3: rule 0 \(1 of 3 uses\) relaunches it from checkpoint, not before 2030-01-01T\S+Z\.$/,
  },
  {
    state: 'awaiting',
    given: { unmatched: 'escalate', script: [exits] },
    when: is('awaiting'),
    why: /^Attempt 1 exited with 3 and no rule matches; waiting for an answer to q1 \(stop, relaunch, relaunch_from_scratch, accept_success\) until 2030-01-04\S+Z, then stop\.$/,
  },
  {
    state: 'cancelling',
    given: { script: [{ program: { runsSeconds: 3000, endingSeconds: 600 } }] },
    when: async (one) => {
      await attemptIs('running')(one);
      await one.cancel();
      await one.advance(30);
    },
    why: 'Cancelling, as ada asked; attempt 1 is ending.',
  },
  {
    state: 'cancelled',
    given: { script: [{ program: { runsSeconds: 3000 } }] },
    when: async (one) => {
      await attemptIs('running')(one);
      await one.cancel();
      await one.ended();
    },
    why: 'Cancelled (cancelled by dispatch): ada asked for it.',
  },
  {
    state: 'succeeded',
    given: { rules: [relaunch(['preempted'])], script: [preempted, { program: {} }] },
    when: (one) => one.ended(),
    why: `Succeeded: its program completed; ${restarted}.`,
  },
  { state: 'failed', given: { script: [exits] }, when: (one) => one.ended(), why: 'Failed (exited with 3): no rule matched.' },
  {
    state: 'failed',
    given: { rules: [relaunch(['preempted'], { max: 1 })], script: [preempted, preempted] },
    when: (one) => one.ended(),
    why: 'Failed (preempted): rule 0 was used 1 of 1 times; attempt 2 follows 1, which was preempted: rule 0 (1 of 1 uses) relaunched it from step 70, published by attempt 1.',
  },
  {
    state: 'failed',
    given: { rules: [{ on: ['out_of_memory'], do: { stop: {} } }], script: [{ program: { ends: { out_of_memory: { scope: 'step' } } } }] },
    when: (one) => one.ended(),
    why: 'Failed (out of memory (step)): rule 0 says stop.',
  },
  {
    state: 'failed',
    given: { script: [{ program: { ends: { launch_failed: { stage: 'workdir' } } } }] },
    when: (one) => one.ended(),
    why: 'Failed (launch failed (workdir)): no rule matched.',
  },
  {
    state: 'failed',
    given: { limits: { wallClock: '1h' }, spec: { timeLimit: '8h' }, script: [{ program: { ends: 'hangs' } }] },
    when: (one) => one.ended(),
    why: 'Failed (deadline): its wall clock limit passed.',
  },
  {
    state: 'failed',
    given: { unmatched: 'escalate', script: [exits], pollEverySeconds: 600 },
    when: (one) => one.ended(300_000),
    why: "Failed (exited with 3): nobody answered q1, so its default 'stop' applied.",
  },
];

describe('why', () => {
  test.each(ROWS)('in state $state: $why', async ({ state, given, when, why }) => {
    const one = await life(given);
    await when(one);
    expect(one.status().state).toBe(state);
    if (typeof why === 'string') expect(one.status().why).toBe(why);
    else expect(one.status().why).toMatch(why);
    expect(isSentence(one.status().why)).toBe(true);
    reads(one);
  });

  test('every state of a job has a row', () => {
    expect(new Set(ROWS.map(({ state }) => state))).toEqual(new Set(JOB_STATES));
  });
});
