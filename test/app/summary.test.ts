/** What the head keeps of a job: who is watched, and the line that a poll compares (protocols §1.6, §5.1). */
import { describe, expect, test } from 'vitest';
import { summaryOf, watchedOf } from '../../lib/app/summary.ts';
import { seenOf } from '../../lib/cluster/port.ts';
import { LIVE_STATES, PENDING_GROUPS, receiptSchema } from '../../lib/job/event.ts';
import { adopted, type Given, given, requeue } from '../job/given.ts';

const bytes = (text: string): number => new TextEncoder().encode(text).length;
const watched = (job: Given) => {
  const { watchline } = summaryOf(job.view);
  return watchedOf({ job: job.view.job, version: job.view.version, watchline }, 'alps', 'main', (n) => `ours-${n}`);
};
const escalate = { policy: { unmatched: 'escalate' } } as const;

describe('who is watched', () => {
  test.each([
    ['nothing was planned', () => given(), ''],
    ['it is planned, and bound to nothing', () => given().planned(), ''],
    ['it is uncertain', () => given().planned().uncertain(), ''],
    ['it is gated', () => given().planned().bound(), 'alps#main'],
    ['it runs', () => given().running(), 'alps#main'],
    ['it ended and is certain', () => given(escalate).tried('exited'), ''],
    ['contract §3 it ended and that is provisional', () => given(escalate).tried('vanished'), 'alps#main'],
    [
      'contract §5 it ended and is to be requeued',
      () =>
        given({ policy: { rules: [requeue('any', 'scheduler')] } })
          .tried('preempted')
          .acts(),
      'alps#main',
    ],
    [
      'it ended and a requeue is intended',
      () =>
        given({ policy: { rules: [requeue('any', 'supervisor')] } })
          .tried('preempted')
          .acts()
          .requeueIntended(),
      'alps#main',
    ],
    ['the job ended', () => given().tried('vanished').acts(), ''],
    ['it is adopted', () => adopted(), 'alps#main'],
  ] as const)('given %s, then under %j', (_, build, active) => {
    const summary = summaryOf(build().view);
    expect(summary.active).toBe(active);
    expect(summary.watchline === '').toBe(active === '');
  });
  test('the rest says what lists need', () => {
    expect(summaryOf(given().tried('completed').acts().view)).toMatchObject({
      state: 'succeeded',
      name: 'train',
      project: 'language',
      ended: true,
    });
  });
});

describe('the watchline says all that a poll needs', () => {
  test.each([
    ['gated and not let go', () => given().planned().bound(), { released: false, seen: 'gated.0.' }],
    [
      'its release is intended',
      () => given().planned().bound().commit({ type: 'release_intended', n: 1 }),
      { released: true, seen: 'gated.0.' },
    ],
    [
      'waiting',
      () => given().planned().bound().released().seen('queued', { pending: 'budget' }),
      { released: true, seen: 'queued.0.budget' },
    ],
    ['running its third run', () => given().running().seen('running', { run: 2 }), { run: 2, seen: 'running.2.' }],
    [
      'with a checkpoint root',
      () => given({ checkpoint: { root: '/scratch/llama', required: false } }).running(),
      { checkpointRoot: '/scratch/llama' },
    ],
    ['with its time limit', () => given().running({ resources: { timeLimitSeconds: 77 } }), { timeLimitSeconds: 77 }],
  ] as const)('given %s', (_, build, expected) => {
    const job = build();
    const { target, rootInLog } = watched(job);
    expect(target).toMatchObject({ job: job.view.job, n: 1, requeueable: false, ...expected });
    expect(target.receipt).toEqual({ ...job.attempt.receipt, identity: 'ours-1' });
    expect(rootInLog).toBe(false);
  });
  test('given a limit on silence, then the poll knows', () => {
    expect(watched(given({ policy: { limits: { stalledAfterSeconds: 600 } } }).running()).stalledAfterSeconds).toBe(600);
    expect(watched(given().running()).stalledAfterSeconds).toBe(0);
  });
  test('contract §7 given an adopted job, then its own name stands for the identity', () => {
    const { target } = watched(adopted('llama 70b'));
    expect(target).toMatchObject({ receipt: { schedulerId: '4711', identity: 'llama 70b' }, released: true, requeueable: true });
    expect(target).not.toHaveProperty('checkpointRoot');
  });
  test('contract §3 given a provisional end, then it equals no observation, so that a better one is told', () => {
    const { seen } = watched(given(escalate).tried('vanished')).target;
    for (const state of [...LIVE_STATES, 'ended'] as const) expect(seen).not.toBe(seenOf(state, 0));
  });
});

describe('P1.6 the watchline is at most 200 bytes', () => {
  const longest = <T extends string>(list: readonly T[]): T => list.toSorted((a, b) => b.length - a.length)[0]!;
  /** Every part as long as the record allows it. */
  const extreme = (root?: string): Given => {
    const job = given({
      ...(root === undefined ? {} : { checkpoint: { root, required: true } }),
      policy: { limits: { attempts: 1000, stalledAfterSeconds: 3650 * 86_400 } },
    });
    job.planned({ resources: { timeLimitSeconds: 3650 * 86_400 } });
    const schedulerId = 'x'.repeat(64);
    job.commit({ type: 'attempt_bound', n: 1, receipt: { ...job.receipt(schedulerId), submittedAt: 9_999_999_999_999 } });
    return job.released().seen(longest(LIVE_STATES), { run: 999, pending: longest(PENDING_GROUPS) });
  };
  test.each([
    ['no root', undefined, false],
    ['a short root', '/scratch/llama', false],
    ['a long root', `/${'r'.repeat(500)}`, true],
    ['a root that is long only in bytes', `/${'ü'.repeat(60)}`, true],
    ['a root full of quotes', `/${'"'.repeat(60)}`, true],
  ] as const)('given the longest of everything and %s', (_, root, inLog) => {
    const job = extreme(root);
    expect(bytes(summaryOf(job.view).watchline)).toBeLessThanOrEqual(200);
    expect(watched(job).rootInLog).toBe(inLog);
    expect(watched(job).target.checkpointRoot).toBe(inLog ? undefined : root);
  });
  test('given an adopted job with the longest name, then it fits or is taken from the log', () => {
    for (const name of ['n'.repeat(63), 'ü'.repeat(63)]) {
      const job = adopted(name);
      expect(bytes(summaryOf(job.view).watchline)).toBeLessThanOrEqual(200);
      const { rootInLog, target } = watched(job);
      expect(rootInLog || target.receipt.identity === name).toBe(true);
    }
  });
  test('a longer scheduler id is refused by the record', () => {
    const receipt = { cluster: 'alps', login: 'main', identity: 'x', submittedAt: 0 };
    expect(receiptSchema.safeParse({ ...receipt, schedulerId: 'x'.repeat(64) }).success).toBe(true);
    expect(receiptSchema.safeParse({ ...receipt, schedulerId: 'x'.repeat(65) }).success).toBe(false);
  });
});
