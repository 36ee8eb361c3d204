/** Every way in which an attempt can end is told as a coarse state, a typed cause and its raw words; none collapses into "failed". */
import { describe, expect, test } from 'vitest';
import { type Given, life, SHAPES } from './life.ts';
import { reads } from './reader.ts';

interface Row {
  readonly given: string;
  readonly run?: Readonly<Record<string, unknown>>;
  readonly ends?: unknown;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly cause: string;
  readonly ran: 'yes' | 'no';
  readonly detail?: Readonly<Record<string, unknown>>;
  /** The raw words of the scheduler, kept beside the cause. */
  readonly word?: string;
  readonly more?: Partial<Given>;
  readonly within?: number;
}

const ROWS: readonly Row[] = [
  { given: 'exit 0', ends: 'completed', state: 'succeeded', cause: 'completed', ran: 'yes', word: 'COMPLETED' },
  { given: 'preempted', ends: 'preempted', state: 'failed', cause: 'preempted', ran: 'yes', word: 'PREEMPTED' },
  {
    given: 'preempted by somebody',
    ends: { preempted: { by: 'job 7' } },
    state: 'failed',
    cause: 'preempted',
    ran: 'yes',
    detail: { by: 'job 7' },
  },
  { given: 'a lost node', ends: 'node_lost', state: 'failed', cause: 'node_lost', ran: 'yes', word: 'NODE_FAIL' },
  {
    given: 'a lost node that has a name',
    ends: { node_lost: { nodes: ['n7'] } },
    state: 'failed',
    cause: 'node_lost',
    ran: 'yes',
    detail: { failedNodes: ['n7'] },
  },
  { given: 'an eviction', ends: 'evicted', state: 'failed', cause: 'evicted', ran: 'yes', word: 'EVICTED' },
  { given: 'no memory', ends: 'out_of_memory', state: 'failed', cause: 'out_of_memory', ran: 'yes', word: 'OUT_OF_MEMORY' },
  {
    given: 'no memory for a step',
    ends: { out_of_memory: { scope: 'step' } },
    state: 'failed',
    cause: 'out_of_memory',
    ran: 'yes',
    detail: { scope: 'step' },
  },
  { given: 'exit 3', ends: { exit: 3 }, state: 'failed', cause: 'exited', ran: 'yes', detail: { code: 3 } },
  // 79 alone is the program's own: only with its file is it the guard's (P4.2).
  { given: 'exit 79', ends: { exit: 79 }, state: 'failed', cause: 'exited', ran: 'yes', detail: { code: 79 } },
  { given: 'signal 11', ends: { signal: 11 }, state: 'failed', cause: 'signalled', ran: 'yes', detail: { signal: 11 } },
  { given: 'signal 9', ends: { signal: 9 }, state: 'failed', cause: 'signalled', ran: 'yes', detail: { signal: 9, maybe_oom: true } },
  { given: 'its time limit', ends: 'time_limit', state: 'failed', cause: 'time_limit', ran: 'yes', word: 'TIMEOUT' },
  { given: 'a program that hangs', ends: 'hangs', state: 'failed', cause: 'time_limit', ran: 'yes', detail: { clock: 'job' } },
  { given: 'a failed prolog', ends: 'launch_failed', state: 'failed', cause: 'launch_failed', ran: 'no', detail: { stage: 'prolog' } },
  {
    given: 'no image',
    ends: { launch_failed: { stage: 'image' } },
    state: 'failed',
    cause: 'launch_failed',
    ran: 'no',
    detail: { stage: 'image' },
  },
  { given: 'a node that does not boot', ends: 'boot_failed', state: 'failed', cause: 'boot_failed', ran: 'no', word: 'BOOT_FAIL' },
  { given: 'a scheduler that lost it', ends: 'scheduler_failed', state: 'failed', cause: 'scheduler_failed', ran: 'yes' },
  { given: 'a sibling that took it', ends: 'revoked', state: 'failed', cause: 'revoked', ran: 'yes', word: 'REVOKED' },
  // Class evidence ends a job by `unmatched: stop`, as failed with that cause (contract §3).
  { given: 'a word nobody knows', ends: 'unrecognised', state: 'failed', cause: 'unrecognised', ran: 'yes', word: 'MELTED' },
  { given: 'sources that disagree', ends: 'contradictory', state: 'failed', cause: 'contradictory', ran: 'yes', word: 'COMPLETED' },
  { given: 'no trace, past the grace', ends: 'vanishes', state: 'failed', cause: 'vanished', ran: 'yes' },
  {
    given: 'no room within its patience',
    run: { queueSeconds: 'never', pending: { group: 'concurrency', reason: 'Resources' } },
    state: 'failed',
    cause: 'no_capacity',
    ran: 'no',
    detail: { reason: 'Resources' },
  },
  {
    given: 'a refused submission',
    run: { refuse: { reason: 'InvalidAccount', message: 'no such account' } },
    state: 'failed',
    cause: 'rejected',
    ran: 'no',
    detail: { reason: 'InvalidAccount', message: 'no such account' },
  },
  {
    given: 'a request that can never run',
    run: { refuse: { cause: 'unsatisfiable', reason: 'ReqNodeNotAvail' } },
    state: 'failed',
    cause: 'unsatisfiable',
    ran: 'no',
    detail: { reason: 'ReqNodeNotAvail' },
  },
];

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test.each(ROWS)('given $given, then $state by $cause (contract §3)', async ({ run, ends, state, cause, ran, detail, word, more }) => {
    const item = run ?? { queueSeconds: 7, program: { runsSeconds: 90, ...(ends ? { ends } : {}) } };
    const one = await life({ shape, unmatched: 'stop', script: [item], ...more });
    const status = await one.ended();
    expect(status.state).toBe(state);
    expect(status.outcome).toMatchObject({ state, cause, ran });
    if (detail) expect(status.outcome?.detail).toMatchObject(detail);
    if (word) expect(status.outcome?.evidence.map((evidence) => evidence.state)).toContain(word);
    expect(status.why).toContain(state === 'succeeded' ? 'Succeeded' : 'Failed');
    expect(status.attempts).toHaveLength(1);
    expect(one.world.truth().executions).toHaveLength(ran === 'yes' ? 1 : 0);
    reads(one);
  });

  test.each([
    ['login', 'cancelled_by_user', 'CANCELLED by default'],
    ['admin', 'cancelled_by_admin', 'CANCELLED by root'],
    ['unknown', 'cancelled_by_unknown', 'CANCELLED'],
  ] as const)(
    'given a cancel by %s, then the job ends cancelled by the class people, whatever `unmatched` says',
    async (by, cause, word) => {
      const one = await life({ shape, unmatched: 'escalate', rules: [{ on: ['any'], do: { stop: {} } }] });
      await one.until((status) => status.state === 'running');
      one.world.foreign.cancel(one.object(), by);
      const status = await one.ended();
      expect(status.state).toBe('cancelled');
      expect(status.outcome).toMatchObject({ cause, ran: 'yes' });
      expect(status.outcome?.evidence[0]?.state).toBe(word);
      // `any` does not mean people: no rule ended it.
      expect(one.view().ended?.because).toEqual({ kind: 'unmatched' });
      reads(one);
    },
  );

  test('given accounting that answers late, then the end waits for it, and no longer than five minutes (P5.3)', async () => {
    const soon = await life({
      shape,
      cluster: { accounting: true, accountingLagSeconds: 120 },
      script: [{ program: { runsSeconds: 60 } }],
    });
    expect((await soon.ended()).outcome?.confidence).toBe('certain');
    expect(soon.at()).toBe(180);
    const never = await life({
      shape,
      cluster: { accounting: true, accountingLagSeconds: 3600 },
      script: [{ program: { runsSeconds: 60 } }],
    });
    const status = await never.ended();
    expect(status.outcome?.confidence).toBe('likely');
    expect(status.outcome?.evidence.at(-1)?.message).toContain('waited 300 s in vain for: accounting');
    expect(never.at()).toBe(360);
    reads(soon);
    reads(never);
  });
});

test('given an absence that a sighting interrupts, then it counts anew: vanished only after five whole minutes (P5.6, C025)', async () => {
  const one = await life({ unmatched: 'escalate', script: [{ program: { runsSeconds: 3000 } }] });
  await one.until(({ attempt }) => attempt?.state === 'running');
  const hidden = async (seconds: number): Promise<void> => {
    one.world.lie({ hides: () => true, complete: true });
    await one.advance(seconds);
    one.world.lie(undefined);
  };
  await hidden(240);
  await one.advance(5);
  await hidden(240);
  expect(one.status().state).toBe('running');
  await one.advance(5);
  await hidden(360);
  expect(one.all('attempt_ended')).toMatchObject([{ outcome: { cause: 'vanished', class: 'evidence', confidence: 'likely' } }]);
  expect((await one.ended()).state).toBe('succeeded');
  reads(one);
});

test('given every cause that the memory cluster can produce, then none is told like another (promise 1)', () => {
  const told = new Set(ROWS.map(({ cause }) => cause));
  expect(told.size).toBeGreaterThanOrEqual(15);
});
