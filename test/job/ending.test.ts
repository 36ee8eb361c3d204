/** What a job and an attempt end as: the outcome of a job by what ended it, and of an attempt after our own cancel (contract §3). */
import { describe, expect, test } from 'vitest';
import { attribute, unsent } from '../../lib/job/attribution.ts';
import { CAUSES, type Cause } from '../../lib/job/cause.ts';
import { jobOutcome } from '../../lib/job/ending.ts';
import type { Because, CancelWhy } from '../../lib/job/event.ts';
import { adopted, type Given, given, HOUR, NOON, outcomeNow, relaunch, stop } from './given.ts';

const asked = () => given({ policy: { unmatched: 'escalate' } });

describe('contract §3 job_ended: the last attempt’s outcome and because', () => {
  test.each([
    ['given it completed', () => given().tried('completed'), 'succeeded', 'completed', 'completed'],
    ['given it completed before a cancel', () => given().tried('completed').cancelRequested(), 'succeeded', 'completed', 'cancel'],
    [
      'given it completed after a cancel',
      () => given().running().cancelRequested().cancelIntended('request').ended('completed'),
      'succeeded',
      'completed',
      'cancel',
    ],
    [
      'given it was cancelled',
      () => given().running().cancelRequested().cancelIntended('request').ended('cancelled_by_dispatch'),
      'cancelled',
      'cancelled_by_dispatch',
      'cancel',
    ],
    [
      'given it failed of itself while it was cancelled',
      () => given().running().cancelRequested().ended('exited'),
      'cancelled',
      'exited',
      'cancel',
    ],
    [
      'given it was lost while it was cancelled',
      () => given().running().cancelRequested().ended('vanished'),
      'cancelled',
      'vanished',
      'cancel',
    ],
    ['given a cancel before any attempt', () => given().cancelRequested(), 'cancelled', 'cancelled_by_dispatch', 'cancel'],
    ['given the deadline before any attempt', () => given({ deadline: NOON + HOUR * 1000 }).after(HOUR), 'failed', 'deadline', 'deadline'],
    [
      'given the deadline after a failure',
      () =>
        given({ deadline: NOON + HOUR * 1000 })
          .tried('exited')
          .after(HOUR),
      'failed',
      'deadline',
      'deadline',
    ],
    [
      'given the wall clock',
      () =>
        given({ policy: { limits: { wallClockSeconds: HOUR } } })
          .tried('preempted')
          .after(HOUR),
      'failed',
      'deadline',
      'wall_clock',
    ],
    ['given accept_success', () => asked().tried('exited').acts().answered('accept_success'), 'succeeded', 'exited', 'answer'],
    [
      'given accept_success of something unknown',
      () => asked().tried('vanished').acts().answered('accept_success'),
      'succeeded',
      'vanished',
      'answer',
    ],
    ['given stop', () => asked().tried('exited').acts().answered('stop'), 'failed', 'exited', 'answer'],
    ['given stop of something unknown', () => asked().tried('contradictory').acts().answered('stop'), 'failed', 'contradictory', 'answer'],
    ['given unmatched: stop', () => given().tried('signalled'), 'failed', 'signalled', 'unmatched'],
    ['given unmatched: stop of something unknown', () => given().tried('unrecognised'), 'failed', 'unrecognised', 'unmatched'],
    ['given a rule that stops', () => given({ policy: { rules: [stop('exited')] } }).tried('exited'), 'failed', 'exited', 'rule'],
    [
      'given a limit',
      () => given({ policy: { rules: [relaunch('any')], limits: { attempts: 1 } } }).tried('node_lost'),
      'failed',
      'node_lost',
      'limit',
    ],
    [
      'given a refused submission',
      () =>
        given()
          .planned()
          .commit({ type: 'attempt_refused', n: 1, outcome: outcomeNow('rejected', { ran: 'no' }) }),
      'failed',
      'rejected',
      'unmatched',
    ],
    ['given somebody else cancelled it', () => given().tried('cancelled_by_admin'), 'cancelled', 'cancelled_by_admin', 'unmatched'],
    ['given an adopted job that failed', () => adopted().ended('exited'), 'failed', 'exited', 'observed'],
  ] satisfies [string, () => Given, string, Cause, Because['kind']][])(
    '%s, then %s with cause %s, because %s',
    (_, build, state, cause, because) => {
      const job = build();
      const own = job.view.attempts.at(-1)?.outcome;
      job.acts();
      expect(job.view.ended).toMatchObject({ outcome: { state, cause }, because: { kind: because } });
      expect(job.state).toBe(state);
      // The attempt's own outcome is never rewritten.
      expect(job.view.attempts.at(-1)?.outcome).toEqual(own);
      if (!own) expect(job.view.ended?.outcome.ran).toBe('no');
    },
  );

  test('given an adopted job that vanished, then its outcome stays unknown and the job counts as failed', () => {
    const job = adopted().ended('vanished').acts();
    expect(job.view.ended?.outcome.state).toBe('unknown');
    expect(job.state).toBe('failed');
  });
  test('given the deadline, then the evidence of the last attempt is kept beside the cause', () => {
    const evidence = [{ source: 'sacct', state: 'FAILED' }];
    const job = given({ deadline: NOON + HOUR * 1000 }).tried('exited', { evidence });
    expect(jobOutcome(job.view, { kind: 'deadline' }, job.now)).toMatchObject({
      cause: 'deadline',
      class: 'limit',
      detail: { by: 'deadline' },
      evidence,
      ran: 'yes',
    });
  });
});

/** A running attempt with a cancel for this reason. */
const cancelled = (why: CancelWhy, said?: string) => given().running().cancelIntended(why, said).attempt;
const queued = (pending: 'budget' | 'never' | 'launch_failed' | 'waiting', why: CancelWhy, reason: string) =>
  given().planned().bound().released().seen('queued', { pending, reason }).cancelIntended(why, reason).attempt;

describe('contract §3: an end after our own cancel takes its cause from why', () => {
  test.each([
    ['request', 'cancelled_by_dispatch'],
    ['limit', 'cancelled_by_dispatch'],
    ['stall', 'stalled'],
    ['deadline', 'deadline'],
    ['wall_clock', 'deadline'],
  ] as const)('given we cancelled a run for %s, then %s, and it ran', (why, cause) => {
    expect(attribute(cancelled(why, 'x'), outcomeNow('cancelled_by_user', { ran: 'unknown' }))).toMatchObject({ cause, ran: 'yes' });
  });
  test.each([
    ['its patience', queued('waiting', 'patience', 'Priority'), 'no_capacity'],
    ['its patience on an account without time', queued('budget', 'patience', 'AssocGrpGRESMinutes'), 'budget'],
    ['a reason that never ends', queued('never', 'never', 'PartitionTimeLimit'), 'unsatisfiable'],
    ['a dependency that never can be met', queued('never', 'never', 'DependencyNeverSatisfied'), 'dependency_failed'],
    ['C015 a launch that failed and is held', queued('launch_failed', 'never', 'launch failed requeued held'), 'launch_failed'],
  ] as const)('given we cancelled a waiting one for %s, then whether it ran is still the evidence’s word', (_, attempt, cause) => {
    for (const ran of ['no', 'unknown'] as const)
      expect(attribute(attempt, outcomeNow('cancelled_by_user', { ran }))).toMatchObject({ cause, ran });
  });
  test('given it was stalled, then since when, and the evidence stays', () => {
    const evidence = [{ source: 'sacct', state: 'CANCELLED' }];
    expect(attribute(cancelled('stall', '2030-01-01T12:00:00Z'), outcomeNow('cancelled_by_dispatch', { evidence }))).toMatchObject({
      detail: { since: '2030-01-01T12:00:00Z' },
      evidence,
    });
  });

  test.each([
    ['cancelled_by_dispatch', {}, 'stalled'],
    ['cancelled_by_user', {}, 'stalled'],
    ['cancelled_by_unknown', {}, 'stalled'],
    ['gate_expired', {}, 'stalled'],
    ['vanished', {}, 'stalled'],
    ['signalled', { signal: 15 }, 'stalled'],
    ['signalled', { signal: 9 }, 'stalled'],
    ['signalled', {}, 'stalled'],
    ['launch_failed', { stage: 'guard' }, 'stalled'],
    ['launch_failed', { stage: 'told' }, 'stalled'],
    ['signalled', { signal: 11 }, 'signalled'],
    ['launch_failed', { stage: 'prolog' }, 'launch_failed'],
    ['completed', {}, 'completed'],
    ['exited', { code: 1 }, 'exited'],
    ['out_of_memory', { scope: 'step' }, 'out_of_memory'],
    ['time_limit', {}, 'time_limit'],
    ['node_lost', {}, 'node_lost'],
    ['preempted', {}, 'preempted'],
    ['cancelled_by_admin', {}, 'cancelled_by_admin'],
    ['contradictory', {}, 'contradictory'],
  ] satisfies [Cause, Record<string, string | number>, Cause][])(
    'given our cancel for a stall, when it ends as %s %j, then %s',
    (cause, detail, then) => {
      expect(attribute(cancelled('stall'), outcomeNow(cause, { detail })).cause).toBe(then);
    },
  );

  test('given the scheduler requeued it too often, then what used the rule up is the cause', () => {
    const job = given().running().seen('queued', { run: 1, lastRunCause: 'preempted' }).cancelIntended('limit', 'too often');
    expect(attribute(job.attempt, outcomeNow('cancelled_by_user')).cause).toBe('preempted');
  });
  test.each([
    ['it was never released', given().planned().bound().attempt, 'gate_expired'],
    [
      'it was never released, and seen in the queue when its begin time passed',
      given().planned().bound().seen('queued').attempt,
      'gate_expired',
    ],
    [
      'it was released and found no room',
      given().planned().bound().released().seen('queued', { pending: 'waiting' }).attempt,
      'no_capacity',
    ],
    [
      'it was released and its account had no time left',
      given().planned().bound().released().seen('queued', { pending: 'budget' }).attempt,
      'budget',
    ],
  ] as const)('given the scheduler itself ended what waited too long, when %s, then %s', (_, attempt, cause) => {
    expect(attribute(attempt, outcomeNow('no_capacity', { ran: 'no' }))).toMatchObject({ cause, class: CAUSES[cause], ran: 'no' });
  });

  test('given no cancel of ours, then the cause is what it was', () => {
    const outcome = outcomeNow('cancelled_by_user');
    expect(attribute(given().running().attempt, outcome)).toBe(outcome);
  });

  test.each([
    ['a minute before the cancel', -60_000, 'cancelled_by_user'],
    ['six seconds before the cancel', -6000, 'cancelled_by_user'],
    ['within the margin of the clocks', -4000, 'no_capacity'],
    ['after the cancel', 2000, 'no_capacity'],
  ] as const)('given every source says it ended %s, then %s', (_, differenceMs, cause) => {
    for (const skewMs of [0, 3_600_000, -3_600_000]) {
      const job = given();
      job.skewMs = skewMs;
      const attempt = job.planned().bound().after(HOUR).cancelIntended('patience').attempt;
      const at = attempt.cancel!.intendedAt + skewMs + differenceMs;
      expect(attribute(attempt, outcomeNow('cancelled_by_user', { evidence: [{ source: 'sacct', at }] })).cause).toBe(cause);
    }
  });
  test('given one source says it ended before the cancel and one after, then it was our cancel', () => {
    const attempt = given().running().after(HOUR).cancelIntended('stall').attempt;
    const evidence = [-60_000, 1000].map((ms) => ({ source: 'x', at: attempt.cancel!.intendedAt + ms }));
    expect(attribute(attempt, outcomeNow('cancelled_by_user', { evidence })).cause).toBe('stalled');
  });
});

describe('P3.4 a deferred attempt ends by its own word', () => {
  test.each([
    ['request', 'cancelled_by_dispatch'],
    ['patience', 'no_capacity'],
    ['deadline', 'deadline'],
    ['wall_clock', 'deadline'],
  ] as const)('given up for %s, then %s, and nothing ever ran', (why, cause) => {
    const outcome = unsent(given().planned().deferred().attempt, why, NOON);
    expect(outcome).toMatchObject({ cause, ran: 'no', detail: { reason: 'queue full' } });
  });
});
