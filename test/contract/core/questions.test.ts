/** A question is durable, typed, has options, an expiry and a default; the first valid answer wins, whichever way it comes (promise 6). */
import { describe, expect, test } from 'vitest';
import type { Status } from '../../../lib/app/status.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import { type Given, type Life, life, relaunch, SHAPES, type Shape } from './life.ts';
import { reads } from './reader.ts';

const DAYS_3 = 72 * 3600;
const published = (ends: unknown): unknown => ({ program: { runsSeconds: 60, publishes: [{ atSeconds: 10, step: 40 }], ends } });
const fine = { program: { runsSeconds: 60 } };

const EVERY = ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success', 'wait'];

/** What leads to each blocking question about an ended attempt. */
const KINDS: Readonly<Record<string, { readonly given: Given; readonly options: readonly string[]; readonly cause: string }>> = {
  unmatched_outcome: {
    given: { unmatched: 'escalate', script: [published({ exit: 3 }), fine] },
    options: ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success'],
    cause: 'exited',
  },
  limit_reached: {
    given: { unmatched: 'escalate', limits: { attempts: 1 }, rules: [relaunch(['exited'])], script: [published({ exit: 3 }), fine] },
    options: ['stop', 'relaunch'],
    cause: 'exited',
  },
  rule_asks: {
    given: {
      rules: [{ on: ['exited'], do: { escalate: { options: EVERY, expiresAfter: '2h', onExpiry: 'relaunch' } } }],
      script: [published({ exit: 3 }), fine],
    },
    options: EVERY,
    cause: 'exited',
  },
  outcome_unknown: {
    given: { unmatched: 'escalate', script: [published('unrecognised'), fine] },
    options: ['wait', 'stop', 'relaunch', 'accept_success'],
    cause: 'unrecognised',
  },
};

const asked = async (kind: string, shape: Shape, more: Given = {}): Promise<Life> => {
  const one = await life({ shape, pollEverySeconds: 600, ...KINDS[kind]!.given, ...more });
  const status = await one.until((now) => now.state === 'awaiting');
  expect(status.question).toMatchObject({ kind, options: KINDS[kind]!.options });
  expect(status.why).toContain(`waiting for an answer to q1 (${KINDS[kind]!.options.join(', ')})`);
  return one;
};

/** What each answer comes to, as a reader sees it. */
const follows = async (one: Life, answer: string, cause: string, within = 3600): Promise<void> => {
  if (answer === 'wait') {
    await one.until((_, view) => view.questions[0]?.closed !== undefined, within);
    expect(one.status().state).toBe('running');
    const again = await one.until((status) => status.state === 'awaiting', DAYS_3 + 600);
    expect(again.question).toMatchObject({ id: 'q2' });
    expect(one.view().questions[1]).toMatchObject({ kind: one.view().questions[0]?.kind, episode: 2 });
    return;
  }
  const status: Status = await one.ended(within);
  const because = one.view().ended?.because;
  if (answer === 'stop') {
    expect(status).toMatchObject({ state: 'failed', outcome: { cause } });
    expect(because).toMatchObject({ kind: 'answer', question: 'q1', answer: 'stop' });
  }
  if (answer === 'accept_success') {
    // The attempt's own outcome is never rewritten.
    expect(status).toMatchObject({ state: 'succeeded', outcome: { cause } });
    expect(one.view().attempts[0]?.outcome).toMatchObject({ cause });
  }
  if (answer.startsWith('relaunch')) {
    expect(status).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    expect(status.resumedFrom?.trainingStep).toBe(answer === 'relaunch' ? 40 : undefined);
    expect(status.attempts[0]?.decision).toBe(`the answer '${answer}' to q1: relaunch`);
  }
};

const MATRIX = Object.entries(KINDS).flatMap(([kind, { options }]) => options.map((answer) => ({ kind, answer })));

describe.each(SHAPES)('on a %s cluster', (shape) => {
  test.each(MATRIX)(
    'given $kind answered $answer by the API, then that and nothing else follows (contract §10)',
    async ({ kind, answer }) => {
      const one = await asked(kind, shape);
      expect((await one.answer(answer)).kind).toBe('committed');
      await follows(one, answer, KINDS[kind]!.cause);
      expect(one.view().questions[0]?.closed).toMatchObject({ how: 'answered', answer, by: 'ada' });
      reads(one);
    },
  );

  test.each(MATRIX)(
    'given $kind answered $answer by the task token, then the same follows, actor `token` (P2.5)',
    async ({ kind, answer }) => {
      const one = await asked(kind, shape);
      expect(await one.answerByToken({ answer })).toBe('sent');
      await follows(one, answer, KINDS[kind]!.cause);
      expect(one.view().questions[0]?.closed).toMatchObject({ how: 'answered', answer, by: 'token' });
      expect(one.commits().find(({ events }) => events[0]?.type === 'escalation_answered')?.actor).toBe('token');
      reads(one);
    },
  );

  test.each([
    ['unmatched_outcome', 'stop', DAYS_3],
    ['limit_reached', 'stop', DAYS_3],
    ['rule_asks', 'relaunch', 7200],
    ['outcome_unknown', 'wait', DAYS_3],
  ] as const)('given %s that nobody answers, then its default %s applies when it expires, after %i s', async (kind, answer, seconds) => {
    const one = await asked(kind, shape);
    const asOf = one.view().questions[0]!.raisedAt;
    await one.advance(seconds - 60);
    expect(one.status().state).toBe('awaiting');
    await follows(one, answer, KINDS[kind]!.cause);
    const closed = one.view().questions[0]?.closed;
    expect(closed).toMatchObject({ how: 'expired', answer });
    expect(closed!.at - asOf).toBeGreaterThanOrEqual(seconds * 1000);
    expect(closed!.at - asOf).toBeLessThan((seconds + 5) * 1000);
    reads(one);
  });

  test('given a cancel while a question is open, then it is withdrawn in the same commit and its late answer is refused (P9)', async () => {
    const one = await asked('unmatched_outcome', shape);
    const token = await one.tokenOf('q1');
    await one.cancel();
    expect(
      one
        .commits()
        .findLast(({ events }) => events[0]?.type === 'cancel_requested')
        ?.events.map(({ type }) => type),
    ).toEqual(['cancel_requested', 'escalation_withdrawn']);
    expect(await one.answer('relaunch', 'q1')).toMatchObject({ kind: 'refused', code: 'escalation/closed' });
    expect((await one.ended()).state).toBe('cancelled');
    expect(() => one.system().engine.sendTaskSuccess(token, '{"answer":"relaunch"}')).toThrow(/Task Timed Out/);
    reads(one);
  });

  test('given the deadline while a question is open, then it is withdrawn and the job ends (contract §5)', async () => {
    const one = await asked('unmatched_outcome', shape, { limits: { wallClock: '1h' } });
    const status = await one.ended();
    expect(status).toMatchObject({ state: 'failed', outcome: { cause: 'deadline' } });
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn' });
    reads(one);
  });
});

describe('answers that do not count (P2.5)', () => {
  test.each([
    ['a wrong word', { answer: 'perhaps' }],
    ['an answer that this question does not have', { answer: 'wait' }],
    ['a number', { answer: 5 }],
    ['no answer at all', { something: 'else' }],
    ['null', null],
    ['a bare text', 'stop'],
    ['a list', [{ answer: 'stop' }]],
  ])('given %s by token, then the question stays open under a new token, and the next answer counts', async (_, output) => {
    const one = await asked('unmatched_outcome', 'slurm');
    const before = await one.tokenOf('q1');
    expect(await one.answerByToken(output)).toBe('sent');
    await one.advance(2);
    expect(one.status()).toMatchObject({ state: 'awaiting', question: { id: 'q1' } });
    const fresh = await one.tokenOf('q1');
    expect(fresh).not.toBe(before);
    expect(await one.answerByToken({ answer: 'stop' })).toBe('sent');
    expect((await one.ended()).state).toBe('failed');
    reads(one);
  });

  test('given a wake (`{}`) by token, then nothing is decided: neither an answer nor an error', async () => {
    const one = await asked('unmatched_outcome', 'slurm');
    const version = one.view().version;
    await one.answerByToken({});
    await one.advance(5);
    expect(one.status()).toMatchObject({ state: 'awaiting', version });
    reads(one);
  });

  test('given the same token answered twice, then the first answer has its one effect and the second is refused (C056)', async () => {
    const one = await asked('unmatched_outcome', 'slurm');
    const token = await one.tokenOf('q1');
    one.system().engine.sendTaskSuccess(token, '{"answer":"relaunch"}');
    expect(() => one.system().engine.sendTaskSuccess(token, '{"answer":"stop"}')).toThrow(/Task Timed Out/);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 2 } });
    expect(one.count('escalation_answered')).toBe(1);
    reads(one);
  });

  test('given an answer by the API after one by token that nobody has read yet, then the first committed one wins (S11)', async () => {
    const one = await asked('unmatched_outcome', 'slurm');
    const token = await one.tokenOf('q1');
    const byApi = one.answer('accept_success');
    one.system().engine.sendTaskSuccess(token, '{"answer":"stop"}');
    const said = await byApi;
    await one.ended();
    expect(one.count('escalation_answered')).toBe(1);
    expect(one.status().state).toBe(said.kind === 'committed' ? 'succeeded' : 'failed');
    reads(one);
  });

  test('given an answer twice by the API, an unknown question, and no option, then each is refused by name', async () => {
    const one = await asked('limit_reached', 'slurm');
    expect(await one.answer('wait')).toMatchObject({ kind: 'refused', code: 'escalation/not_an_option' });
    expect(await one.answer('stop', 'q9')).toMatchObject({ kind: 'refused', code: 'escalation/unknown' });
    expect((await one.answer('relaunch')).kind).toBe('committed');
    expect(await one.answer('stop', 'q1')).toMatchObject({ kind: 'refused', code: 'escalation/closed' });
    expect((await one.ended()).state).toBe('succeeded');
    reads(one);
  });

  test('given a token of a supervisor that died, then it is refused, and the new supervisor issues another (P2.5)', async () => {
    const one = await asked('unmatched_outcome', 'slurm');
    const old = await one.tokenOf('q1');
    await one.restartProcess(10);
    await one.advance(5);
    expect(() => one.system().engine.sendTaskSuccess(old, '{"answer":"stop"}')).toThrow();
    expect(await one.tokenOf('q1')).not.toBe(old);
    await one.answerByToken({ answer: 'stop' });
    expect((await one.ended()).state).toBe('failed');
    reads(one);
  });
});

describe('limits and answers', () => {
  test('given relaunch on limit_reached, then one attempt beyond the limit, and the limit again after it (contract §10)', async () => {
    const one = await asked('limit_reached', 'slurm', { script: [published({ exit: 3 }), published({ exit: 4 }), fine] });
    await one.answer('relaunch');
    const again = await one.until((status) => status.state === 'awaiting' && status.attempts.length === 2);
    expect(again.question).toMatchObject({ kind: 'limit_reached', id: 'q2' });
    await one.answer('relaunch');
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempt: { n: 3 }, resumedFrom: { attempt: 2 } });
    reads(one);
  });

  test('given relaunch by an answer, then with the resources and exclusions of the last attempt, at once', async () => {
    const scale = relaunch(['out_of_memory'], { scale: { memoryPerNode: { by: 2, upTo: '32Gi' } } });
    const oom = published('out_of_memory');
    const one = await life({ unmatched: 'escalate', rules: [scale], script: [oom, oom, oom, fine] });
    await one.until((status) => status.state === 'awaiting');
    await one.answer('relaunch');
    await one.ended();
    const memories = one.view().attempts.map(({ resources }) => resources.memoryPerNodeMi);
    expect(memories.at(-1)).toBe(memories.at(-2));
    reads(one);
  });

  test('given a class evidence end that a later look explains, then the question is withdrawn and the job goes by the new outcome', async () => {
    const one = await life({ unmatched: 'escalate', script: [published('completed')] });
    await one.until((status) => status.state === 'running');
    one.world.lie({ hides: () => true, complete: true });
    const status = await one.until((now) => now.state === 'awaiting', 900);
    expect(status.question).toMatchObject({ kind: 'outcome_unknown' });
    one.world.lie(undefined);
    expect(await one.ended()).toMatchObject({ state: 'succeeded', outcome: { cause: 'completed' } });
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn' });
    reads(one);
  });

  test('given an object that vanished and reappears running, then the attempt is reopened and the question withdrawn (contract §3)', async () => {
    const one = await life({ unmatched: 'escalate', script: [{ program: { runsSeconds: 3000 } }] });
    await one.until((status) => status.state === 'running');
    one.world.lie({ hides: () => true, complete: true });
    await one.until((status) => status.state === 'awaiting', 900);
    one.world.lie(undefined);
    const status = await one.until((now) => now.state === 'running');
    expect(status).toMatchObject({ attempt: { n: 1, state: 'running' } });
    expect(one.view().questions[0]?.closed).toMatchObject({ how: 'withdrawn', says: 'the attempt is active again' });
    expect(await one.ended()).toMatchObject({ state: 'succeeded', attempts: [{ n: 1 }] });
    reads(one);
  });

  test('given wait and an outcome that a later look explains, then nothing is asked again', async () => {
    const one = await life({
      unmatched: 'escalate',
      pollEverySeconds: 60,
      script: [{ program: { runsSeconds: 9000 } }],
      spec: { timeLimit: '4h' },
    });
    await one.until((status) => status.state === 'running');
    one.world.lie({ hides: () => true, complete: true });
    await one.until((status) => status.state === 'awaiting', 900);
    await one.answer('wait');
    await one.advance(3600);
    one.world.lie(undefined);
    expect((await one.ended(12_000)).state).toBe('succeeded');
    expect(one.view().questions).toHaveLength(1);
    reads(one);
  });

  test('given a question that is open, then polls go on and cost one write each, and the safety wake changes nothing (P2.1)', async () => {
    const one = await asked('unmatched_outcome', 'slurm');
    const version = one.view().version;
    const before = one.process().calls.filter((call) => call === 'append').length;
    await one.advance(2 * TIMING.safetyWakeSeconds + 60);
    expect(one.view().version).toBe(version);
    expect(one.process().calls.filter((call) => call === 'append').length).toBe(before);
    await one.answer('stop');
    await one.ended(900);
    reads(one);
  });
});
