/** The classification judged on every recorded case against what really happened (contract §3). */
import { describe, expect, it } from 'vitest';
import { stateWord } from '../../../lib/cluster/slurm/words.ts';
import type { Cause } from '../../../lib/job/cause.ts';
import { moments, recordings } from './recordings.ts';

interface Truth {
  /** Per job of the recording, in order; `alive`: it had not ended when the recording did. */
  readonly ends: readonly (Cause | 'alive')[];
  readonly released?: boolean;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly run?: number;
  readonly ran?: 'yes' | 'no';
}
const twelve = (first: Cause, others: Cause): Cause[] => [first, ...Array.from({ length: 11 }, () => others)];

/** By hand, from each recording's story and truth; nothing here was derived from what Slurm printed. */
const TRUTHS: Readonly<Record<string, Truth>> = {
  'ambiguous-submit': { ends: ['cancelled_by_user'] },
  'ambiguous-submit-credential-expired': { ends: [] },
  'ambiguous-submit-killed-3': { ends: ['completed'] },
  'ambiguous-submit-retried': { ends: ['cancelled_by_user', 'cancelled_by_user'], ran: 'no' },
  'ambiguous-submit-timeout-20': { ends: ['completed'] },
  'boot-fail': { ends: ['boot_failed'], ran: 'no' },
  'cancelled-by-alice': { ends: ['cancelled_by_user'], ran: 'yes', detail: { uid: 2001 } },
  'cancelled-by-root': { ends: ['cancelled_by_admin', 'cancelled_by_admin'], detail: { uid: 0 } },
  'chdir-missing': { ends: ['completed'] },
  'controller-restarted': { ends: ['completed', 'cancelled_by_user'] },
  'controller-stopped': { ends: [] },
  'dependency-never': { ends: ['exited', 'dependency_failed'] },
  'duplicate-identity': { ends: ['completed', 'cancelled_by_user'] },
  'exit-137': { ends: ['exited'], detail: { code: 137 } },
  'exit-3': { ends: ['exited'], detail: { code: 3 } },
  'forever-no-limit': { ends: ['completed'] },
  'frozen-release-and-cancel': { ends: ['cancelled_by_user', 'cancelled_by_user'] },
  // Eleven of twelve found the hole of one second; the first did not.
  'gate-begin-at-edge': { ends: twelve('gate_expired', 'completed') },
  'gate-begin-past-edge': { ends: twelve('gate_expired', 'gate_expired'), ran: 'no' },
  'gate-limit-lowered': { ends: ['completed'], released: true },
  'gate-pushed': { ends: ['gate_expired'], ran: 'no' },
  'gate-pushed-released': { ends: ['completed'], released: true },
  'gate-released': { ends: ['completed'], released: true },
  'gate-released-late': { ends: ['no_capacity'], released: true, ran: 'no' },
  'gate-unreleased': { ends: ['gate_expired'], ran: 'no' },
  'held-past-deadline': { ends: ['no_capacity'], released: true, ran: 'no' },
  'held-user': { ends: ['completed'] },
  'kill-9-self': { ends: ['signalled'], detail: { signal: 9, maybe_oom: true } },
  limits: { ends: ['completed', 'completed', 'completed', 'completed', 'completed'] },
  'munge-failure': { ends: [] },
  'no-accounting-cancelled': { ends: ['cancelled_by_unknown'] },
  'no-accounting-failed': { ends: ['exited'], detail: { code: 3 } },
  'no-accounting-gate': { ends: ['gate_expired'], ran: 'no' },
  'no-accounting-preempt-requeue': { ends: ['cancelled_by_unknown'], run: 2 },
  'node-down-admin': { ends: ['node_lost'], detail: { failedNodes: ['n1'] } },
  'node-down-admin-requeue': { ends: ['cancelled_by_user'], run: 1, ran: 'yes' },
  'oom-batch': { ends: ['out_of_memory'], detail: { scope: 'job' } },
  'oom-step': { ends: ['out_of_memory'], detail: { scope: 'step' } },
  'oom-swallowed': { ends: ['completed'], detail: { outOfMemoryInside: true } },
  'output-path-missing': { ends: ['launch_failed'], detail: { stage: 'output' }, ran: 'no' },
  'preempt-cancel': { ends: ['preempted'] },
  'preempt-grace': { ends: ['preempted'] },
  'preempt-grace-step': { ends: ['completed'] },
  'preempt-requeue': { ends: ['completed'], run: 1 },
  'preempt-requeue-not-allowed': { ends: ['preempted'] },
  'prolog-failure': { ends: ['launch_failed'], detail: { stage: 'prolog' }, ran: 'no' },
  purged: { ends: ['exited'], detail: { code: 3 } },
  // Cancelled by alice, but no later look asked accounting who did it, or looked at the last two at all.
  refusals: { ends: ['cancelled_by_unknown', 'cancelled_by_unknown', 'cancelled_by_unknown', 'cancelled_by_unknown', 'alive', 'alive'] },
  'refused-constraint': { ends: ['rejected', 'rejected'], ran: 'no' },
  'requeue-admin': { ends: ['completed'], run: 1 },
  'requeue-denied': { ends: ['completed'], run: 0 },
  // The code of the run before is still printed beside CANCELLED: it is not this end's.
  'requeue-exit': { ends: ['cancelled_by_user'], run: 1 },
  'sacct-json': { ends: ['exited', 'signalled', 'out_of_memory'] },
  'scontrol-denied': { ends: ['completed'], released: true },
  'stdin-truncated': { ends: ['completed', 'exited'] },
  success: { ends: ['completed'] },
  suspended: { ends: ['completed'] },
  timeout: { ends: ['time_limit'] },
  'too-many-nodes-enforced': { ends: [] },
};

/** What an end may be called while its accounting has not arrived. */
const EARLY: Readonly<Partial<Record<Cause, readonly Cause[]>>> = {
  cancelled_by_user: ['cancelled_by_unknown'],
  cancelled_by_admin: ['cancelled_by_unknown'],
  launch_failed: ['cancelled_by_unknown'],
  out_of_memory: ['exited', 'signalled'],
};

it('every recording has its truth here', () => {
  expect(
    recordings()
      .map((one) => one.case)
      .sort(),
  ).toEqual(Object.keys(TRUTHS).sort());
});

describe.each(recordings())('recorded: $case', (recorded) => {
  const truth = TRUTHS[recorded.case]!;
  const all = moments(recorded, () => truth.released ?? false);
  const expected = (id: string) => truth.ends[recorded.jobs.indexOf(id)]!;

  it(`never ends a job that is alive, and never another way than: ${recorded.truth.happened}`, () => {
    for (const { id, row, said } of all) {
      const isAlive = row !== undefined && stateWord(row.state).kind !== 'terminal';
      if (isAlive) expect(said.kind).toBe('unsettled');
      if (said.kind !== 'ended') continue;
      const end = expected(id) as Cause;
      expect([end, ...(said.missing.length > 0 ? (EARLY[end] ?? []) : [])], `job ${id}`).toContain(said.outcome.cause);
      if (said.missing.length > 0) expect(said.outcome.confidence).not.toBe('certain');
    }
  });

  it('says how each job ended once all is known', () => {
    for (const [i, id] of recorded.jobs.entries()) {
      const ends = all.filter((moment) => moment.id === id && moment.said.kind === 'ended').map((moment) => moment.said);
      const last = ends.at(-1);
      if (truth.ends[i] === 'alive') {
        expect(last).toBeUndefined();
        continue;
      }
      expect(last, `job ${id}`).toMatchObject({
        kind: 'ended',
        outcome: { cause: truth.ends[i], ...(truth.detail ? { detail: truth.detail } : {}), ...(truth.ran ? { ran: truth.ran } : {}) },
        ...(truth.run === undefined ? {} : { run: truth.run }),
      });
    }
  });
});
