/** What schedules and rules hand to functions, and what functions make of it. */
import { describe, expect, test } from 'vitest';
import {
  badEndPattern,
  PREFLIGHT_ASKED,
  pollAsked,
  pollInvocation,
  pollRateMinutes,
  preflightAsked,
  RECONCILE_INVOCATION,
  reconcileAsked,
} from '../../lib/aws/invocations.ts';

const JOB = '1q3dcbd0002kwy6g';
const each = (minutes: number) => () => minutes;

describe('poll', () => {
  test.each([
    [10, 1],
    [60, 1],
    [61, 2],
    [90, 2],
    [3600, 60],
  ])('every %i s is a schedule every %i min: never more often than asked', (seconds, minutes) => {
    expect(pollRateMinutes(seconds)).toBe(minutes);
  });

  test('every fifth invocation sweeps, by the moment that it stands for', () => {
    const at = (minute: number) => ({ cluster: 'lab', login: 'ml', scheduledAt: `2026-11-30T10:${String(minute).padStart(2, '0')}:00Z` });
    expect([0, 1, 2, 3, 4, 5, 10].map((minute) => pollAsked(at(minute), each(1)).sweep)).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
      true,
    ]);
    expect([0, 2, 4, 6, 8, 10].map((minute) => pollAsked(at(minute), each(2)).sweep)).toEqual([true, false, false, false, false, true]);
  });

  test('one asked for by hand sweeps when it is told to', () => {
    expect(pollAsked({ cluster: 'lab', login: 'ml' }, each(1))).toEqual({ cluster: 'lab', login: 'ml', sweep: false });
    expect(pollAsked({ cluster: 'lab', login: 'ml', sweep: true }, each(1)).sweep).toBe(true);
  });

  test('the schedule’s input names cluster and login, and leaves the moment to the scheduler', () => {
    expect(pollInvocation('lab', 'ml')).toEqual({ cluster: 'lab', login: 'ml', scheduledAt: '<aws.scheduler.scheduled-time>' });
  });
});

describe('reconcile', () => {
  const ended = (name: string) => ({
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    detail: { name, status: 'FAILED', stateMachineArn: 'arn' },
  });

  test.each([
    ['the schedule', RECONCILE_INVOCATION, {}],
    ['nothing at all', undefined, {}],
    ['a process that starts', { everyJob: true }, { everyJob: true }],
    ['an execution that ended badly', ended(`${JOB}-12`), { ended: { job: JOB, generation: 12 } }],
    ['one that somebody named by hand', ended('try-out'), {}],
    ['one whose name has no generation', ended(JOB), {}],
  ])('given %s', (_, event, asked) => {
    expect(reconcileAsked(event)).toEqual(asked);
  });

  test('the rule looks at this machine and at bad ends alone', () => {
    expect(badEndPattern('arn:machine').detail).toEqual({ status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: ['arn:machine'] });
  });
});

describe('preflight', () => {
  test('given our event, or the same by hand', () => {
    expect(preflightAsked({ source: 'dispatch', 'detail-type': PREFLIGHT_ASKED, detail: { cluster: 'lab', login: 'ml' } })).toEqual({
      cluster: 'lab',
      login: 'ml',
    });
    expect(preflightAsked({ cluster: 'lab' })).toEqual({ cluster: 'lab' });
  });

  test('given anything else, then it is refused', () => {
    expect(() => preflightAsked({ detail: { cluster: 'lab' } })).toThrow();
  });
});
