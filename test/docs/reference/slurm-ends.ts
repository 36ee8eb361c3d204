/**
 * What Slurm says at the end of an attempt, one sample per row of the classification table. The cause is not written here: the code that
 * classifies real ends is asked, so that the reference cannot promise another one.
 */
import { classify, type RunFiles, type Sources } from '../../../lib/cluster/slurm/classify.ts';
import type { Result } from '../../../lib/cluster/slurm/control-files.ts';
import type { Accounting, AccountingRow } from '../../../lib/cluster/slurm/sacct.ts';
import type { ControllerRow } from '../../../lib/cluster/slurm/squeue.ts';
import type { Outcome } from '../../../lib/job/cause.ts';

const T0 = 1_800_000_000;
const OURS = 2001;
const OBJECT = { schedulerId: '7', identity: 'dtst0-0123456789abcdef-1', submittedAt: T0 * 1000 };
const WELL = { code: 0, signal: 0 };
const times = { submit: T0, start: T0 + 10, end: T0 + 100 };

const controller = (state: string, over: Partial<ControllerRow>): ControllerRow => ({
  ...{ id: '7', name: OBJECT.identity, state, reason: 'None', exit: WELL, derived: WELL, run: 0, ...times, eligible: T0 },
  ...{ preempt: undefined, nodes: 'n[1-2]', partition: 'batch', ...over },
});
const row = (state: string, over: Partial<AccountingRow>): AccountingRow => ({
  ...{ id: '7', index: 1n, name: OBJECT.identity, state, exit: WELL, derived: WELL, ...times, elapsedSeconds: 90, nodes: 'n[1-2]' },
  ...{ steps: [{ step: 'batch', state: 'COMPLETED', exit: WELL }], ...over },
});
const rows = (...some: AccountingRow[]): Accounting => ({ kind: 'rows', rows: some, odd: 0 });
const ran = (over: Partial<Result> = {}): RunFiles => ({
  claimed: true,
  result: { id: '7', run: 0, exit: 0, told: false, startedAt: 1, endedAt: 2, ...over },
});

interface Sample {
  /** In Slurm's own words, for people. */
  readonly says: string;
  /** Shown beside the cause itself, not only in the whole table. */
  readonly typical?: true;
  readonly sources: Partial<Sources>;
}

/** The same end told by the controller and by accounting. */
const both = (
  state: string,
  told: { readonly c?: Partial<ControllerRow>; readonly a?: Partial<AccountingRow>; readonly over?: Partial<Sources> } = {},
): Partial<Sources> => ({ controller: controller(state, told.c ?? {}), accounting: rows(row(state, told.a ?? {})), ...told.over });
const exit = (code: number, signal = 0): { exit: { code: number; signal: number } } => ({ exit: { code, signal } });
const unstarted = { c: { nodes: '' }, a: { nodes: '', elapsedSeconds: 0 } };

const SAMPLES: readonly Sample[] = [
  { says: '`COMPLETED`', typical: true, sources: both('COMPLETED', { over: { files: ran() } }) },
  {
    says: '`COMPLETED`, with a step that failed inside',
    sources: both('COMPLETED', { a: { steps: [{ step: '0', state: 'FAILED', ...exit(1) }] }, over: { files: ran() } }),
  },
  { says: '`PREEMPTED`', typical: true, sources: both('PREEMPTED') },
  {
    says: '`FAILED` by signal 15 or exit code 143, in the grace time of a preemption',
    typical: true,
    sources: both('FAILED', { c: { preempt: T0 + 50, ...exit(0, 15) } }),
  },
  { says: '`NODE_FAIL`', typical: true, sources: both('NODE_FAIL', { c: { reason: 'NodeDown' } }) },
  { says: '`NODE_FAIL` of a job on one node', sources: both('NODE_FAIL', { c: { reason: 'NodeDown', nodes: 'n03' } }) },
  { says: '`NODE_FAIL` whose code Slurm set itself: the batch step is missing', sources: both('NODE_FAIL', { c: exit(0, 1) }) },
  {
    says: '`CANCELLED by 0`, with nodes and a batch step that never ended: the prolog failed',
    sources: both('CANCELLED', {
      a: { state: 'CANCELLED by 0', elapsedSeconds: 0, steps: [{ step: 'batch', state: 'CANCELLED', exit: undefined }] },
    }),
  },
  {
    says: '`FAILED` with wait status 53: the output path cannot be used',
    typical: true,
    sources: both('FAILED', { c: { reason: 'JobLaunchFailure', ...exit(0, 53) } }),
  },
  { says: '`FAILED` with wait status 48: the node cannot become the user', sources: both('FAILED', { c: exit(0, 48) }) },
  {
    says: '`FAILED` with exit code 79, and the file by which the wrapper refused to run',
    typical: true,
    sources: both('FAILED', { c: exit(79), over: { files: { claimed: false, refused: { stage: 'guard', says: 'never released' } } } }),
  },
  {
    says: '`FAILED`, and no run was claimed: the wrapper itself could not run',
    sources: both('FAILED', { c: exit(2), over: { files: { claimed: false } } }),
  },
  { says: '`BOOT_FAIL`', typical: true, sources: both('BOOT_FAIL') },
  {
    says: '`FAILED`, reason `SystemFailure`',
    typical: true,
    sources: both('FAILED', { c: { reason: 'SystemFailure', ...exit(0, 1) } }),
  },
  { says: '`NODE_FAIL`, reason `PartitionDown`', typical: true, sources: both('NODE_FAIL', { c: { reason: 'PartitionDown' } }) },
  { says: '`REVOKED`', typical: true, sources: both('REVOKED') },
  { says: '`DEADLINE` of a released job', typical: true, sources: both('DEADLINE', unstarted) },
  {
    says: '`DEADLINE` of a job that was not released',
    typical: true,
    sources: both('DEADLINE', { ...unstarted, over: { released: false } }),
  },
  { says: '`TIMEOUT`', typical: true, sources: both('TIMEOUT', { c: { reason: 'TimeLimit' } }) },
  { says: '`TIMEOUT`, reason `InactiveLimit`', sources: both('TIMEOUT', { c: { reason: 'InactiveLimit' } }) },
  {
    says: '`FAILED`, and the result file says that the wrapper ended it at its limit',
    typical: true,
    sources: both('FAILED', { c: exit(143), over: { files: ran({ exit: 143, stopped: 'time_limit' }) } }),
  },
  { says: '`OUT_OF_MEMORY`', typical: true, sources: both('OUT_OF_MEMORY', { over: { files: ran() } }) },
  {
    says: '`FAILED`, and a step or the derived exit code says out of memory',
    typical: true,
    sources: both('FAILED', { c: exit(1), a: { steps: [{ step: '0', state: 'OUT_OF_MEMORY', ...exit(0, 125) }] } }),
  },
  {
    says: '`FAILED`, and only the error file speaks of an oom-kill',
    sources: both('FAILED', { c: exit(1), over: { stderr: 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some' } }),
  },
  {
    says: '`TIMEOUT` whose reason names a limit on minutes',
    typical: true,
    sources: both('TIMEOUT', { c: { reason: 'Job is at or exceeds QOS normal GrpCPUMinutes limit' } }),
  },
  { says: '`FAILED`, reason `BadConstraints`', typical: true, sources: both('FAILED', { c: { reason: 'BadConstraints', nodes: '' } }) },
  {
    says: '`FAILED` in accounting alone, start = end = submit, no node: a refusal that left a record',
    sources: { accounting: rows(row('FAILED', { nodes: '', ...exit(1), start: T0, end: T0, elapsedSeconds: 0, steps: [] })) },
  },
  {
    says: '`CANCELLED`, reason `DependencyNeverSatisfied`',
    typical: true,
    sources: both('CANCELLED', { c: { reason: 'DependencyNeverSatisfied', nodes: '' }, a: unstarted.a }),
  },
  { says: '`FAILED` with an exit code', typical: true, sources: both('FAILED', { c: { reason: 'NonZeroExitCode', ...exit(3) } }) },
  {
    says: '`FAILED` with exit code 79 and a result file: the program’s own code',
    sources: both('FAILED', { c: exit(79), over: { files: ran({ exit: 79 }) } }),
  },
  { says: '`FAILED` by a signal', typical: true, sources: both('FAILED', { c: exit(0, 11) }) },
  { says: '`FAILED` by signal 9, and nothing explains it', sources: both('FAILED', { c: exit(0, 9) }) },
  {
    says: '`FAILED`, and the result file says that a later mark, a later run or `stop` fenced it',
    typical: true,
    sources: both('FAILED', { over: { files: ran({ exit: 143, stopped: 'fenced' }) } }),
  },
  { says: '`CANCELLED by` the login’s own user id', typical: true, sources: both('CANCELLED', { a: { state: `CANCELLED by ${OURS}` } }) },
  { says: '`CANCELLED by 0` or another user id', typical: true, sources: both('CANCELLED', { a: { state: 'CANCELLED by 0' } }) },
  {
    says: '`CANCELLED`, and there is no accounting to say by whom',
    typical: true,
    sources: { controller: controller('CANCELLED', {}), accounting: { kind: 'none' } },
  },
  { says: '`CANCELLED` by nobody, in accounting alone', sources: { accounting: rows(row('CANCELLED', {})) } },
  {
    says: '`CANCELLED`, and the program had ended by itself before',
    sources: both('CANCELLED', { a: { state: `CANCELLED by ${OURS}` }, over: { files: ran() } }),
  },
  {
    says: '`COMPLETED`, and the result file says another exit code',
    typical: true,
    sources: both('COMPLETED', { over: { files: ran({ exit: 1 }) } }),
  },
  { says: '`FAILED`, and the result file says exit code 0', sources: both('FAILED', { c: exit(1), over: { files: ran() } }) },
  {
    says: 'a word that no table knows, with an end time, and the controller has forgotten the job',
    typical: true,
    sources: { accounting: rows(row('MELTED', {})) },
  },
];

export interface SlurmEnd {
  readonly says: string;
  readonly typical: boolean;
  readonly outcome: Outcome;
}

export const slurmEnds = (): readonly SlurmEnd[] =>
  SAMPLES.map(({ says, typical, sources }) => {
    const said = classify({
      object: OBJECT,
      released: true,
      uid: OURS,
      accounting: { kind: 'none' },
      stderr: '',
      observedAt: 5,
      ...sources,
    });
    if (said.kind !== 'ended') throw new Error(`the classification does not take this for an end: ${says}`);
    return { says, typical: typical ?? false, outcome: said.outcome };
  });
