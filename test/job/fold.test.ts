/** The fold: what every event does to a view, which logs cannot be, and recorded lives folded as they always were (contract §2, §8). */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { type Commit, EVENT_TYPES, type Event, eventSchema, SCHEMA } from '../../lib/job/event.ts';
import { RecordFailure } from '../../lib/job/failure.ts';
import { upcast } from '../../lib/job/upcast.ts';
import { fold, JOB_STATES, jobState, type View } from '../../lib/job/view.ts';
import { adopted, type Given, given, HOUR, JOB, NOON, outcomeNow, relaunch, requeue, savedBy } from './given.ts';

const escalate = { policy: { unmatched: 'escalate' } } as const;
const commitOf = (version: number, events: readonly unknown[], more: Partial<Commit> = {}): Commit => ({
  job: JOB,
  version,
  commitId: `c${version}`,
  at: NOON,
  actor: 'supervisor',
  schema: SCHEMA,
  events: events as Event[],
  ...more,
});

describe('contract §8: what each event does', () => {
  const bound = () => given().planned().bound();
  const running = () => given().running();
  const requeues = () => given({ policy: { rules: [requeue('any', 'supervisor')] } });
  test.each([
    ['attempt_planned', () => given().planned().attempt, { n: 1, try: 1, state: 'planned', run: 0, leftGate: false, plannedCommit: 'c2' }],
    [
      'attempt_planned again',
      () => given().planned().deferred().planned().attempt,
      { n: 1, try: 2, state: 'planned', firstTriedAt: NOON + 2000, plannedCommit: 'c4' },
    ],
    ['attempt_bound', () => bound().attempt, { state: 'gated', receipt: { schedulerId: '700001' } }],
    [
      'attempt_submission_deferred',
      () => given().planned().deferred(60).attempt,
      { state: 'planned', deferred: { reason: 'queue full', notBefore: NOON + 62_000 } },
    ],
    ['attempt_uncertain', () => given().planned().uncertain().attempt, { state: 'uncertain' }],
    [
      'attempt_refused',
      () =>
        given()
          .planned()
          .commit({ type: 'attempt_refused', n: 1, outcome: outcomeNow('rejected', { ran: 'no' }) }).attempt,
      { state: 'ended', processes: 'gone', outcome: { cause: 'rejected' } },
    ],
    [
      'attempt_never_landed',
      () => given().planned().neverLanded().attempt,
      { state: 'ended', processes: 'gone', outcome: { cause: 'never_landed' } },
    ],
    [
      'release_intended',
      () => bound().commit({ type: 'release_intended', n: 1 }).attempt,
      { state: 'gated', releaseIntendedAt: NOON + 4000 },
    ],
    ['attempt_released', () => bound().released().attempt, { state: 'gated', releasedAt: NOON + 5000, leftGate: false }],
    ['attempt_observed gated', () => bound().seen('gated').attempt, { state: 'gated', leftGate: false }],
    [
      'attempt_observed queued',
      () => bound().seen('queued', { pending: 'waiting', reason: 'Priority' }).attempt,
      { state: 'queued', leftGate: true, pending: { group: 'waiting', reason: 'Priority' } },
    ],
    ['attempt_observed running', () => bound().seen('running').attempt, { state: 'running', startedAt: NOON + 4000 }],
    [
      'attempt_observed with a finding',
      () => bound().seen('gated', { finding: 'edited', said: 'x' }).attempt,
      { findings: [{ kind: 'edited', said: 'x', notedAt: NOON + 4000 }] },
    ],
    [
      'P4.6 attempt_observed of a later run',
      () => running().seen('queued', { run: 2, lastRunCause: 'preempted' }).attempt,
      { state: 'queued', run: 2, schedulerRequeues: ['preempted', 'untold'], lastRunCause: 'preempted' },
    ],
    [
      'requeue_intended',
      () => requeues().tried('preempted').acts().requeueIntended().attempt,
      { state: 'ended', requeueIntendedAt: NOON + 10_000 },
    ],
    [
      'attempt_requeued',
      () => requeues().tried('preempted').acts().requeueIntended().requeued().attempt,
      { state: 'queued', run: 1, leftGate: true, lastRunCause: 'preempted', schedulerRequeues: [] },
    ],
    [
      'requeue_refused',
      () => requeues().tried('preempted').acts().requeueIntended().requeueRefused('no').attempt,
      { state: 'ended', requeueRefused: 'no' },
    ],
    [
      'cancel_intended',
      () => running().cancelIntended('stall', 'x').attempt,
      { state: 'running', cancel: { why: 'stall', said: 'x', intendedAt: NOON + 8000 } },
    ],
    ['attempt_cancel_sent', () => running().cancelIntended('stall').cancelSent().attempt, { cancel: { sentAt: NOON + 9000 } }],
    [
      'attempt_ended',
      () => running().ended('exited', { processes: 'unknown', saved: 7 }).attempt,
      {
        state: 'ended',
        endedAt: NOON + 8000,
        processes: 'unknown',
        outcome: { cause: 'exited' },
        runs: [{ run: 0, latest: savedBy(1, 0, 7) }],
      },
    ],
    [
      'duplicate_found',
      () => running().duplicate('9', true).attempt,
      { duplicates: [{ receipt: { schedulerId: '9' }, running: true, discarded: false }] },
    ],
    [
      'duplicate_found twice',
      () => running().duplicate('9').duplicate('9', true).attempt,
      { duplicates: [{ running: true, foundAt: NOON + 8000 }] },
    ],
    ['duplicate_discarded', () => running().duplicate('9').discarded('9').attempt, { duplicates: [{ discarded: true }] }],
    [
      'duplicate_found after it was discarded',
      () => running().duplicate('9').discarded('9').duplicate('9').attempt,
      { duplicates: [{ discarded: false, foundAt: NOON + 10_000 }] },
    ],
  ])('%s', (_, build, expected) => {
    expect(build()).toMatchObject(expected);
  });
  test.each([
    [
      'job_submitted',
      () => given(),
      { name: 'train', principal: 'mara', project: 'language', login: 'main', submittedAt: NOON + 1000, version: 1 },
    ],
    [
      'job_adopted',
      () => adopted(),
      { name: 'llama', login: 'main', attempts: [{ n: 1, state: 'queued', identity: 'llama', leftGate: true }] },
    ],
    [
      'recovery_decided',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts(),
      { decision: { n: 1, by: { kind: 'rule', rule: 0 } } },
    ],
    ['escalation_raised', () => given(escalate).tried('exited').acts(), { questions: [{ id: 'q1', kind: 'unmatched_outcome' }] }],
    [
      'escalation_answered',
      () => given(escalate).tried('exited').acts().answered('stop'),
      { questions: [{ closed: { how: 'answered', answer: 'stop', by: 'mara' } }] },
    ],
    [
      'escalation_expired',
      () =>
        given(escalate)
          .tried('exited')
          .acts()
          .after(80 * HOUR)
          .acts(),
      { questions: [{ closed: { how: 'expired', answer: 'stop' } }] },
    ],
    [
      'escalation_withdrawn',
      () => given(escalate).tried('exited').acts().cancelRequested(),
      { questions: [{ closed: { how: 'withdrawn' } }] },
    ],
    ['cancel_requested', () => given().cancelRequested(), { cancel: { principal: 'mara', reason: 'enough', at: NOON + 2000 } }],
    [
      'a second cancel_requested changes nothing',
      () => given().cancelRequested().commit({ type: 'cancel_requested', principal: 'noor', reason: 'too' }),
      { cancel: { principal: 'mara' } },
    ],
    ['checkpoint_published', () => given().running().published(5), { reported: { epoch: 1_000_000, step: 5 } }],
    ['a lower checkpoint_published', () => given().running().published(5).published(4), { reported: { step: 5 } }],
    ['P8.2 a late checkpoint_published', () => given().running().published(5).published(9, { late: true }), { reported: { step: 5 } }],
    [
      'a lower one of a later epoch',
      () => given().running().published(5).seen('running', { run: 1 }).published(2),
      { reported: { epoch: 1_000_001, step: 2 } },
    ],
    ['job_ended', () => given().tried('completed').acts(), { ended: { outcome: { state: 'succeeded' }, because: { kind: 'completed' } } }],
  ])('%s', (_, build, expected) => {
    expect(build().view).toMatchObject(expected);
  });
  test('every type of event is somewhere above', () => {
    const here = readFileSync(new URL(import.meta.url), 'utf8') + readFileSync(new URL('./given.ts', import.meta.url), 'utf8');
    expect(EVENT_TYPES.filter((type) => !here.includes(`'${type}`))).toEqual([]);
  });
});

describe('what belongs to a run ends with it', () => {
  const silent = () =>
    given({ policy: { limits: { stalledAfterSeconds: 60 } } })
      .running()
      .seen('running', { finding: 'silent_since' });
  test.each([
    ['since moves when the state changes', () => given().running().seen('ending').attempt, { since: NOON + 8000 }],
    [
      'since moves when the pending group changes',
      () => given().planned().bound().seen('queued', { pending: 'waiting' }).seen('queued', { pending: 'held' }).attempt,
      { since: NOON + 5000 },
    ],
    [
      'since stays when only a finding is new',
      () => given().running().seen('running', { finding: 'edited' }).attempt,
      { since: NOON + 7000 },
    ],
    ['a finding stays while the run goes on', () => silent().seen('ending').attempt, { findings: [{ kind: 'silent_since' }] }],
    ['a finding goes with the next run', () => silent().seen('queued', { run: 1 }).attempt, { findings: [] }],
    [
      'a hold goes when a look no longer tells of it',
      () => given().running().seen('suspended', { finding: 'held' }).seen('running').attempt,
      { findings: [] },
    ],
    [
      'a hold stays while its pending group says so',
      () => given().planned().bound().seen('queued', { finding: 'held' }).seen('queued', { pending: 'held' }).attempt,
      { findings: [{ kind: 'held', notedAt: NOON + 4000 }] },
    ],
    [
      'the same finding again is no new one',
      () => given().running().seen('running', { finding: 'edited' }).seen('ending', { finding: 'edited' }).attempt,
      { findings: [{ notedAt: NOON + 8000 }] },
    ],
    [
      'P6.3 a run has its own start, and with it its own time limit',
      () => given().running().after(HOUR).seen('running', { run: 1 }).attempt,
      { startedAt: NOON + 8000 + HOUR * 1000 },
    ],
  ])('%s', (_, build, expected) => {
    expect(build()).toMatchObject(expected);
  });
  test('P6.3 a run that waits again has not started', () => {
    expect(given().running().seen('queued', { run: 1 }).attempt).not.toHaveProperty('startedAt');
  });
  test('a cancel that ended a run does not reach into the requeued one', () => {
    const job = given({ policy: { rules: [requeue('stalled', 'supervisor')] } })
      .running()
      .cancelIntended('stall')
      .ended('stalled')
      .acts()
      .requeueIntended()
      .requeued();
    for (const gone of ['cancel', 'outcome', 'endedAt', 'processes', 'requeueIntendedAt']) expect(job.attempt).not.toHaveProperty(gone);
    expect(job.view).not.toHaveProperty('decision');
  });
});

describe('contract §3: an outcome of class evidence is provisional', () => {
  test.each([
    ['attempt_observed reopens it', () => given(escalate).tried('vanished').seen('running'), { state: 'running' }],
    [
      'a second attempt_ended replaces it',
      () => given(escalate).tried('vanished').ended('node_lost'),
      { state: 'ended', outcome: { cause: 'node_lost' } },
    ],
    [
      'the finding that a stranger revived its object does not reopen it',
      () => given(escalate).tried('exited').seen('running', { finding: 'active_after_end' }),
      { state: 'ended', outcome: { cause: 'exited' }, findings: [{ kind: 'active_after_end' }] },
    ],
  ])('%s', (_, build, expected) => {
    expect(build().attempt).toMatchObject(expected);
  });
});

describe('contract §2: the state of a job, the first that applies', () => {
  test.each([
    ['pending', 'no attempt', () => given()],
    ['pending', 'planned', () => given().planned()],
    ['pending', 'uncertain', () => given().planned().uncertain()],
    ['pending', 'gated', () => given().planned().bound()],
    [
      'pending',
      'attempt 2 planned',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts()
          .planned(),
    ],
    ['queued', 'queued', () => given().planned().bound().seen('queued')],
    ['running', 'starting', () => given().planned().bound().seen('starting')],
    ['running', 'running', () => given().running()],
    ['running', 'suspended', () => given().running().seen('suspended')],
    ['running', 'ending', () => given().running().seen('ending')],
    ['running', 'ended and undecided', () => given().tried('exited')],
    ['running', 'a question that does not block', () => given().running().seen('suspended', { finding: 'edited' }).acts()],
    [
      'recovering',
      'a relaunch decided',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts(),
    ],
    ['awaiting', 'a blocking question', () => given(escalate).tried('exited').acts()],
    ['awaiting', 'a blocking question while it runs', () => given().running().duplicate('9', true).acts()],
    ['cancelling', 'cancelled while it runs', () => given().running().cancelRequested()],
    [
      'cancelling',
      'cancelled while a relaunch was decided',
      () =>
        given({ policy: { rules: [relaunch('any')] } })
          .tried('preempted')
          .acts()
          .cancelRequested(),
    ],
    ['succeeded', 'ended', () => given().tried('completed').acts()],
    ['failed', 'ended', () => given().tried('exited').acts()],
    ['cancelled', 'ended', () => given().cancelRequested().acts()],
  ] satisfies [(typeof JOB_STATES)[number], string, () => Given][])('%s: %s', (state, _, build) => {
    expect(build().state).toBe(state);
  });
});

describe('a log that cannot exist is a failed assertion', () => {
  const first = () => given().log[0]!;
  const ended: Event = { type: 'job_ended', outcome: outcomeNow('completed'), because: { kind: 'completed' } };
  const cancel: Event = { type: 'cancel_requested', principal: 'mara', reason: '' };
  const planned = given().planned().log[1]!.events[0]!;
  test.each([
    ['a gap', () => [first(), commitOf(3, [cancel])]],
    ['a version twice', () => [first(), commitOf(2, [cancel]), commitOf(2, [cancel])]],
    ['a log without its beginning', () => [commitOf(2, [cancel])]],
    ['an event before the job', () => [commitOf(1, [cancel])]],
    ['a job submitted twice', () => [first(), commitOf(2, first().events)]],
    ['a commit without events', () => [first(), commitOf(2, [])]],
    ['a commit of another job', () => [first(), commitOf(2, [cancel], { job: 'another' })]],
    ['anything after job_ended', () => [first(), commitOf(2, [ended]), commitOf(3, [cancel])]],
    ['anything after job_ended in its own commit', () => [first(), commitOf(2, [ended, cancel])]],
    ['an attempt that skips a number', () => [first(), commitOf(2, [{ ...planned, n: 2 }])]],
    ['an attempt beside an outstanding one', () => [first(), commitOf(2, [planned]), commitOf(3, [{ ...planned, n: 2 }])]],
    ['a second try without a deferral', () => [first(), commitOf(2, [planned]), commitOf(3, [{ ...planned, try: 2 }])]],
    ['an event of an attempt that is not there', () => [first(), commitOf(2, [{ type: 'release_intended', n: 4 }])]],
    ['an answer to no question', () => [first(), commitOf(2, [{ type: 'escalation_answered', id: 'q1', answer: 'stop', by: 'mara' }])]],
  ])('%s', (_, build) => {
    expect(() => fold(build())).toThrow(AssertionFailed);
  });
  test('nothing at all is no view', () => {
    expect(fold([])).toBeUndefined();
  });
});

describe('contract §8: schemas', () => {
  const newer = expect.objectContaining({ code: 'record/newer_schema', retryable: true });
  test.each([
    ['a newer schema', commitOf(1, [{ type: 'cancel_requested', principal: 'x', reason: '' }], { schema: SCHEMA + 1 })],
    ['an event that this release does not know', commitOf(1, [{ type: 'attempt_cloned', n: 1 }])],
  ])('given %s, then nothing is folded: record/newer_schema', (_, commit) => {
    expect(() => fold([commit])).toThrow(RecordFailure);
    expect(() => fold([commit])).toThrow(newer);
  });
  test('given an older schema, then it is read as if written today, step by step, and not rewritten', () => {
    const old = commitOf(1, [{ type: 'cancel_requested', who: 'mara' }], { schema: 1 });
    const before = structuredClone(old);
    const events = (commit: Commit) => commit.events as unknown as Record<string, unknown>[];
    const steps = {
      1: (commit: Commit): Commit => ({
        ...commit,
        events: events(commit).map(({ who, ...rest }) => ({ ...rest, user: who })) as unknown as Event[],
      }),
      2: (commit: Commit): Commit => ({
        ...commit,
        events: events(commit).map(({ user, ...rest }) => ({ ...rest, principal: user, reason: '' })) as unknown as Event[],
      }),
    };
    expect(upcast(old, steps, 3)).toEqual(commitOf(1, [{ type: 'cancel_requested', principal: 'mara', reason: '' }], { schema: 3 }));
    expect(old).toEqual(before);
    expect(upcast(commitOf(1, [{ type: 'release_intended', n: 1 }], { schema: 3 }), steps, 3).schema).toBe(3);
  });
  test('given an older schema without its upcast, then nothing is folded', () => {
    expect(() => upcast(commitOf(1, [], { schema: 0 }), {}, 1)).toThrow(newer);
  });
});

interface Life {
  readonly says: string;
  readonly log: readonly Commit[];
  readonly view: View;
}
const folder = new URL('../fixtures/logs/', import.meta.url);

describe('recorded lives, kept for ever', () => {
  test.each(readdirSync(folder).filter((name) => name.endsWith('.json')))('%s', (name) => {
    const life = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Life;
    for (const commit of life.log)
      for (const event of commit.events) expect(eventSchema.safeParse(event).error, event.type).toBeUndefined();
    expect(fold(life.log)).toEqual(life.view);
    // However it is cut in two, it says the same: a head that lags is brought forward from its own view.
    for (let i = 1; i < life.log.length; i++) expect(fold(life.log.slice(i), fold(life.log.slice(0, i)))).toEqual(life.view);
    expect(JOB_STATES).toContain(jobState(life.view));
  });
});
