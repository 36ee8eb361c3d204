/** Questions to people: each kind with each of its answers, its expiry, and what makes it moot (contract §10, protocols §9). */
import { describe, expect, test } from 'vitest';
import { answer, cancel, expire } from '../../lib/job/command.ts';
import type { QuestionKind } from '../../lib/job/event.ts';
import { draft, KINDS } from '../../lib/job/question.ts';
import { adopted, asks, DAY, type Given, given, HOUR, MINUTE, NOON, outcomeNow, relaunch } from './given.ts';

const escalate = { unmatched: 'escalate' } as const;
/** A job on which this question is open. */
const OPEN: Record<QuestionKind, () => Given> = {
  unmatched_outcome: () => given({ policy: escalate }).tried('exited').acts(),
  limit_reached: () =>
    given({ policy: { ...escalate, rules: [relaunch('any')], limits: { attempts: 1 } } })
      .tried('exited')
      .acts(),
  rule_asks: () =>
    given({ policy: { rules: [asks('exited', ['stop', 'relaunch', 'wait'], 'relaunch')] } })
      .tried('exited')
      .acts(),
  outcome_unknown: () => given({ policy: escalate }).tried('vanished').acts(),
  duplicate_attempts: () => given().running().duplicate('9', true).acts(),
  stuck: () => given().running().seen('ending').after(HOUR).acts(),
  foreign_change: () => given().running().seen('suspended', { finding: 'edited' }).acts(),
};
const KIND_NAMES = Object.keys(OPEN) as QuestionKind[];

describe('contract §10: kinds, their options with the default first, and what blocks', () => {
  test.each([
    ['unmatched_outcome', true, ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success'], 'stop'],
    ['limit_reached', true, ['stop', 'relaunch'], 'stop'],
    ['rule_asks', true, ['stop', 'relaunch', 'wait'], 'relaunch'],
    ['outcome_unknown', true, ['wait', 'stop', 'relaunch', 'accept_success'], 'wait'],
    ['duplicate_attempts', true, ['stop', 'wait'], 'stop'],
    ['stuck', false, ['wait', 'cancel'], 'wait'],
    ['foreign_change', false, ['wait', 'cancel'], 'wait'],
  ] as const)('%s', (kind, blocks, options, onExpiry) => {
    const job = OPEN[kind]();
    expect(job.open).toHaveLength(1);
    expect(job.open[0]).toMatchObject({ id: 'q1', kind, n: 1, episode: 1, blocks, options, onExpiry });
    expect(job.open[0]!.expiresAt - job.open[0]!.raisedAt).toBeCloseTo((kind === 'rule_asks' ? 24 : 72) * HOUR * 1000, -4);
    expect(job.state).toBe(blocks ? 'awaiting' : 'running');
    expect(job.next().do === 'await' && (job.next() as { question?: string }).question === 'q1').toBe(
      blocks && kind !== 'duplicate_attempts',
    );
  });
});

describe('contract §10: what each answer does', () => {
  test.each([
    ['unmatched_outcome', 'stop', ['escalation_answered'], 'finish by answer stop'],
    ['unmatched_outcome', 'relaunch', ['escalation_answered', 'recovery_decided'], 'submit 2'],
    ['unmatched_outcome', 'relaunch_from_scratch', ['escalation_answered', 'recovery_decided'], 'submit 2'],
    ['unmatched_outcome', 'accept_success', ['escalation_answered'], 'finish by answer accept_success'],
    ['limit_reached', 'stop', ['escalation_answered'], 'finish by answer stop'],
    ['limit_reached', 'relaunch', ['escalation_answered', 'recovery_decided'], 'submit 2'],
    ['rule_asks', 'stop', ['escalation_answered'], 'finish by answer stop'],
    ['rule_asks', 'relaunch', ['escalation_answered', 'recovery_decided'], 'submit 2'],
    ['rule_asks', 'wait', ['escalation_answered'], `await ${72 * HOUR} s`],
    ['outcome_unknown', 'wait', ['escalation_answered'], `await ${72 * HOUR} s`],
    ['outcome_unknown', 'stop', ['escalation_answered'], 'finish by answer stop'],
    ['outcome_unknown', 'relaunch', ['escalation_answered', 'recovery_decided'], 'submit 2'],
    ['outcome_unknown', 'accept_success', ['escalation_answered'], 'finish by answer accept_success'],
    ['duplicate_attempts', 'stop', ['escalation_answered'], 'cancel for request'],
    ['duplicate_attempts', 'wait', ['escalation_answered'], 'discard 1'],
    ['stuck', 'wait', ['escalation_answered'], `await ${72 * HOUR} s`],
    ['stuck', 'cancel', ['escalation_answered', 'cancel_requested'], 'cancel for request'],
    ['foreign_change', 'wait', ['escalation_answered'], `await ${72 * HOUR} s`],
    ['foreign_change', 'cancel', ['escalation_answered', 'cancel_requested'], 'cancel for request'],
  ] as const)('given %s, when %s is answered, then %j in one commit, and next: %s', (kind, choice, events, then) => {
    const job = OPEN[kind]().answered(choice);
    expect(job.lastEvents).toEqual(events);
    expect(job.view.questions[0]?.closed).toEqual({ how: 'answered', answer: choice, by: 'mara', at: job.now, version: job.view.version });
    expect(job.says()).toBe(then);
  });

  test.each([
    ['unmatched_outcome', ['escalation_expired'], 'finish by expiry stop'],
    ['limit_reached', ['escalation_expired'], 'finish by expiry stop'],
    ['rule_asks', ['escalation_expired', 'recovery_decided'], 'submit 2'],
    ['outcome_unknown', ['escalation_expired'], `await ${72 * HOUR} s`],
    ['duplicate_attempts', ['escalation_expired'], 'cancel for request'],
    ['stuck', ['escalation_expired'], `await ${72 * HOUR} s`],
    ['foreign_change', ['escalation_expired'], `await ${72 * HOUR} s`],
  ] as const)('given %s, when it expires, then %j in one commit, and next: %s', (kind, events, then) => {
    const job = OPEN[kind]().after(72 * HOUR);
    expect(job.says()).toBe('expire q1');
    job.acts();
    expect(job.lastEvents).toEqual(events);
    expect(job.says()).toBe(then);
  });

  test('given relaunch is answered, then it is one attempt from the checkpoint with the last one’s resources and exclusions', () => {
    const resources = { timeLimitSeconds: 77, memoryPerNodeMi: 5 };
    const job = given({ policy: escalate }).tried('exited', { resources }).acts().answered('relaunch');
    expect(job.view.decision).toMatchObject({
      n: 1,
      by: { kind: 'answer', question: 'q1', answer: 'relaunch' },
      action: { kind: 'relaunch', from: 'checkpoint', resources, excludeNodes: [], counts: true },
      notBefore: 0,
    });
  });
  test('given the answering host’s clock is ten minutes behind the poller’s, then the answer counts: the log’s order says what came first', () => {
    expect(
      OPEN.unmatched_outcome()
        .after(-10 * MINUTE)
        .answered('stop')
        .says(),
    ).toBe('finish by answer stop');
  });
  test('given cancel is answered, then the cancel is the answerer’s', () => {
    expect(OPEN.stuck().answered('cancel', 'q1', 'noor').view.cancel).toMatchObject({ principal: 'noor', reason: 'answer to q1' });
  });
  test('given relaunch is answered after the deadline, then nothing is planned', () => {
    const job = given({ deadline: NOON + HOUR * 1000, policy: escalate })
      .tried('exited')
      .acts()
      .after(HOUR)
      .answered('relaunch');
    expect(job.says()).toBe('finish by deadline');
  });
});

describe('S11 the first valid answer wins', () => {
  const by = (question: string, choice: unknown) => ({ question, answer: choice, by: 'noor' });
  test.each([
    ['a second answer', OPEN.unmatched_outcome().answered('stop'), by('q1', 'relaunch'), 'escalation/closed'],
    ['the same answer again', OPEN.unmatched_outcome().answered('stop'), by('q1', 'stop'), 'escalation/closed'],
    [
      'an answer after the expiry was committed',
      OPEN.outcome_unknown()
        .after(4 * DAY)
        .acts(),
      by('q1', 'stop'),
      'escalation/closed',
    ],
    ['an answer to a withdrawn question', OPEN.unmatched_outcome().cancelRequested(), by('q1', 'stop'), 'escalation/closed'],
    ['an answer that is no option of that kind', OPEN.limit_reached(), by('q1', 'accept_success'), 'escalation/not_an_option'],
    ['an answer that a rule left out', OPEN.rule_asks(), by('q1', 'accept_success'), 'escalation/not_an_option'],
    ['nonsense by token', OPEN.stuck(), by('q1', { yes: true }), 'escalation/not_an_option'],
    ['an answer to a question nobody asked', OPEN.stuck(), by('q7', 'wait'), 'escalation/unknown'],
  ])('given %s, then it is refused and says why', (_, job, command, code) => {
    expect(answer(job.view, command)).toMatchObject({ kind: 'refused', code });
  });
  test('given an answer came before the expiry was committed, then the expiry is refused', () => {
    expect(expire(OPEN.unmatched_outcome().answered('stop').view, 'q1')).toMatchObject({ kind: 'refused', code: 'escalation/closed' });
  });
  test('given one blocking question and one that does not block, then each takes its own answer', () => {
    const job = OPEN.outcome_unknown().seen('running', { finding: 'active_after_end' }).acts();
    expect(job.answered('cancel', 'q2').view.questions.map((q) => q.closed?.how)).toEqual(['withdrawn', 'answered']);
  });
});

describe('P9 a key (kind, attempt, episode) is asked once', () => {
  test.each(['outcome_unknown', 'stuck', 'foreign_change'] as const)(
    'given %s, when wait is answered, then episode 2 is asked after 72 h',
    (kind) => {
      const job = OPEN[kind]().answered('wait');
      expect(job.says(72 * HOUR - 1)).toBe('await 1 s');
      const question = job.after(72 * HOUR).acts().open[0];
      expect(question).toMatchObject({ id: 'q2', kind, n: 1, episode: 2 });
    },
  );
  test('given it expires with wait, then episode 2 is asked 72 h after that', () => {
    const job = OPEN.outcome_unknown()
      .after(72 * HOUR)
      .acts();
    expect(job.says()).toBe(`await ${72 * HOUR} s`);
    expect(job.after(72 * HOUR).acts().open[0]).toMatchObject({ episode: 2 });
  });
  test('given every question of a long life, then no key comes twice', () => {
    const job = OPEN.outcome_unknown()
      .answered('wait')
      .after(72 * HOUR)
      .acts()
      .seen('running')
      .ended('vanished')
      .acts()
      .answered('relaunch')
      .tried('vanished')
      .acts();
    const keys = job.view.questions.map((q) => `${q.kind} ${q.n} ${q.episode}`);
    expect(keys).toEqual(['outcome_unknown 1 1', 'outcome_unknown 1 2', 'outcome_unknown 1 3', 'outcome_unknown 2 1']);
  });
  test('given wait was answered about the former end, then it does not delay a question about the present one', () => {
    const job = OPEN.outcome_unknown().answered('wait').seen('running').ended('vanished');
    expect(job.says()).toBe('ask outcome_unknown');
  });
  test('given words of a scheduler as long as an event allows, then the question still fits', () => {
    expect(draft(OPEN.stuck().view, 'stuck', 1, 'x'.repeat(3000)).says).toHaveLength(1024);
  });
});

const why = (job: Given): (string | undefined)[] =>
  job.view.questions.map((q) => (q.closed?.how === 'withdrawn' ? q.closed.says : undefined));

describe('P9 whatever makes a question moot withdraws it in the same commit', () => {
  test.each(KIND_NAMES)('given %s, when a cancel is requested, then it is withdrawn', (kind) => {
    const job = OPEN[kind]().cancelRequested();
    expect(job.lastEvents).toEqual(['cancel_requested', 'escalation_withdrawn']);
    expect(why(job)).toEqual(['a cancel was requested']);
  });
  test.each(KIND_NAMES)('given %s, when the job ends, then it is withdrawn before that', (kind) => {
    const job = OPEN[kind]();
    job.commit({ type: 'job_ended', outcome: outcomeNow('cancelled_by_dispatch'), because: { kind: 'cancel' } });
    expect(job.lastEvents).toEqual(['escalation_withdrawn', 'job_ended']);
    expect(why(job)).toEqual(['the job ended']);
  });
  test.each([
    ['stuck', 'the attempt ended'],
    ['foreign_change', 'the attempt ended'],
    ['duplicate_attempts', undefined],
  ] as const)('given %s, when the attempt ends, then: %s', (kind, says) => {
    expect(why(OPEN[kind]().ended('exited'))).toEqual([says]);
  });
  test.each([
    ['given outcome_unknown, when the attempt is seen alive', () => OPEN.outcome_unknown().seen('running'), 'the attempt is active again'],
    ['given outcome_unknown, when it was requeued', () => OPEN.outcome_unknown().requeued(), 'the attempt is active again'],
    [
      'given outcome_unknown, when a newer end replaces it',
      () => OPEN.outcome_unknown().ended('node_lost'),
      'a newer observation replaced the outcome',
    ],
    ['given stuck in ending, when a look sees it move on', () => OPEN.stuck().seen('queued', { run: 1 }), 'the attempt moved on'],
    ['given stuck in ending, when a look only finds something else', () => OPEN.stuck().seen('ending', { finding: 'edited' }), undefined],
    ['given stuck in ending, when a checkpoint is published', () => OPEN.stuck().published(4), undefined],
    [
      'given stuck in ending, when it is cancelled for something else',
      () => OPEN.stuck().cancelIntended('stall'),
      'the attempt is being cancelled',
    ],
    [
      'given a hold by others, when it is over',
      () => given().running().seen('suspended', { finding: 'held' }).acts().seen('running'),
      'the hold is over',
    ],
    [
      'given a hold by others, when it goes on',
      () => given().running().seen('queued', { pending: 'held', finding: 'held' }).acts().seen('queued', { pending: 'held' }),
      undefined,
    ],
    ['given an edit by others, when it runs on', () => OPEN.foreign_change().seen('running'), undefined],
    ['given a second object, when it is gone', () => OPEN.duplicate_attempts().discarded('9'), 'the second object is gone'],
    ['given two, when one is gone', () => OPEN.duplicate_attempts().duplicate('8').discarded('9'), undefined],
    [
      'given it is active after its end, when it is requeued after all',
      () => OPEN.unmatched_outcome().answered('relaunch').seen('running', { finding: 'active_after_end' }).acts().requeued(),
      'the attempt is active again',
    ],
    [
      'given it is active after its end, when the next attempt is planned',
      () => OPEN.unmatched_outcome().answered('relaunch').seen('running', { finding: 'active_after_end' }).acts().planned().bound(),
      undefined,
    ],
    [
      'given it is active after its end, when the next attempt was released alone',
      () =>
        OPEN.unmatched_outcome().answered('relaunch').seen('running', { finding: 'active_after_end' }).acts().planned().bound().released(),
      'it is gone',
    ],
  ] as const)('%s, then: %s', (_, build, says) => {
    expect(why(build()).at(-1)).toBe(says);
  });

  const cancelling = () =>
    given({ deadline: NOON + HOUR * 1000 })
      .running()
      .cancelIntended('patience')
      .cancelSent()
      .after(15 * MINUTE)
      .acts();
  test.each([
    ['when a cancel is requested too', () => cancelling().cancelRequested()],
    ['when the deadline passes', () => cancelling().after(HOUR).cancelSent()],
    ['when it is seen ending', () => cancelling().seen('ending')],
  ])('given a cancel that gets nowhere, %s, then the question about it stays', (_, build) => {
    expect(why(build())).toEqual([undefined]);
  });
  test('given a cancel that gets nowhere, when the attempt ends, then it is withdrawn', () => {
    expect(why(cancelling().ended('no_capacity'))).toEqual(['the attempt ended']);
  });
  test('given the deadline passed, then any commit withdraws the open question', () => {
    const job = given({ deadline: NOON + HOUR * 1000 })
      .running()
      .seen('suspended', { finding: 'edited' })
      .acts()
      .after(HOUR);
    expect(job.says()).toBe('cancel for deadline');
    expect(why(job.cancelIntended('deadline'))).toEqual(['the time is up']);
  });
});

describe('contract §7, protocols §7: cancel', () => {
  test.each([
    ['a job of others', adopted().view, { kind: 'refused', code: 'job/observe_only' }],
    ['a job that is cancelled already', given().cancelRequested().view, { kind: 'already', says: 'cancelled by mara already' }],
    ['a job that ended meanwhile', given().tried('completed').acts().view, { kind: 'already', says: 'the job has ended: succeeded' }],
    ['a job', given().view, { kind: 'events', events: [{ type: 'cancel_requested', principal: 'noor', reason: 'no' }] }],
  ])('given %s', (_, view, then) => {
    expect(cancel(view, { principal: 'noor', reason: 'no' })).toMatchObject(then);
  });
});

describe('the table of kinds', () => {
  test.each(KIND_NAMES)('%s has at least two answers and its default among them', (kind) => {
    expect(KINDS[kind].options.length).toBeGreaterThanOrEqual(2);
    expect(new Set(KINDS[kind].options).size).toBe(KINDS[kind].options.length);
  });
});
