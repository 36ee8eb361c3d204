/**
 * The table of ends: for each terminal word of Slurm, which cause it is, told by the most trusted evidence first. The rows are
 * tried in order within a word; `test/cluster/slurm/end-table.test.ts` has a case per row.
 *
 * Invariant: total over the terminal words; a cause is `certain` only where no other reading of the same evidence is known.
 */

import type { Cause, Outcome } from '../../job/cause.ts';
import { GUARD_EXIT_CODE } from '../../job/plan-requeue.ts';
import type { End } from './classify.ts';
import type { WaitStatus } from './squeue.ts';

export interface Finding {
  readonly cause: Cause;
  readonly detail?: Outcome['detail'];
  readonly confidence?: Outcome['confidence'];
  readonly ran?: Outcome['ran'];
}

export const causeOf = (end: End): Finding => {
  const refused = end.files?.result ? undefined : end.files?.refused;
  if (!refused) return byWord(end);
  if (isFromOutside(end, refused.stage)) return { ...byWord(end), ran: 'no' };
  return { cause: 'launch_failed', detail: { stage: refused.stage, message: refused.says }, ran: 'no' };
};

/**
 * Whether somebody else ended the run, before its program began: the word of whoever did it tells why. What the wrapper says then is no more
 * than that it was told to end, or what failed since one of its tools was told first; the guard alone has reasons of its own.
 */
const isFromOutside = (end: End, stage: string): boolean =>
  stage !== 'guard' && ((end.word !== 'COMPLETED' && end.word !== 'FAILED') || (stage === 'told' && inGraceTime(end)));

const byWord = (end: End): Finding => {
  switch (end.word) {
    case 'COMPLETED':
      return completed(end);
    case 'CANCELLED':
      return cancelled(end);
    case 'FAILED':
      return failed(end);
    case 'TIMEOUT':
      return timedOut(end);
    case 'NODE_FAIL':
      return nodeFailed(end);
    case 'PREEMPTED':
      return { cause: 'preempted', ran: ranOf(end), detail: end.signs.killed === 'preemption' ? { by: 'the scheduler' } : {} };
    case 'BOOT_FAIL':
      return { cause: 'boot_failed', ran: 'no' };
    case 'OUT_OF_MEMORY':
      return { cause: 'out_of_memory', detail: { scope: 'job', ...programSaid(end) } };
    case 'DEADLINE':
      // Only a pending job can become DEADLINE: it never ran in this run.
      return end.released
        ? { cause: 'no_capacity', detail: { reason: 'not started before its last possible start' }, ran: ranBefore(end) }
        : { cause: 'gate_expired', ran: ranBefore(end) };
    case 'REVOKED':
      return { cause: 'revoked', ran: 'no' };
  }
};

const completed = (end: End): Finding => {
  const result = end.files?.result;
  if (result?.stopped) return stopped(result.stopped);
  if (result && result.exit !== 0) {
    return { cause: 'contradictory', detail: { reason: `Slurm says COMPLETED, the run says exit ${result.exit}`, code: result.exit } };
  }
  if (end.files && !end.files.claimed && !result) {
    // The wrapper cannot end with 0 without having claimed its run: what completed was not our program.
    return { cause: 'contradictory', detail: { reason: 'Slurm says COMPLETED, no run was ever claimed' }, ran: 'unknown' };
  }
  const failedSteps = [
    ...new Set(end.row?.steps.filter((step) => isProgram(step.step) && step.state !== 'COMPLETED').map((s) => `${s.step} ${s.state}`)),
  ];
  const hadOom = isOutOfMemory(end);
  return {
    cause: 'completed',
    detail: {
      ...(failedSteps.length > 0 ? { failedSteps: failedSteps.slice(0, 16) } : {}),
      ...(hadOom ? { outOfMemoryInside: true } : {}),
    },
  };
};

const cancelled = (end: End): Finding => {
  const result = end.files?.result;
  // The program had ended by itself before anybody told it to: its own word stands (contract §3). One that died by a signal may
  // have got it from the cancel, a moment before the wrapper did.
  if (result && !result.told && !result.stopped && !result.signal)
    return { ...byCode(result.exit, result.signal, end), confidence: 'likely' };
  const ran = neverStarted(end) ? ranBefore(end) : ranOf(end);
  if (end.controller?.reason === 'DependencyNeverSatisfied')
    return { cause: 'dependency_failed', detail: { reason: end.controller.reason }, ran: 'no' };
  if (end.byUid === undefined) return { cause: 'cancelled_by_unknown', ran, confidence: end.accounting === 'none' ? 'certain' : 'guess' };
  if (end.byUid === 0 && prologFailed(end))
    return { cause: 'launch_failed', detail: { stage: 'prolog', uid: 0 }, ran: 'no', confidence: 'likely' };
  if (result?.stopped === 'time_limit') return stopped('time_limit');
  return { cause: end.byUid === end.uid ? 'cancelled_by_user' : 'cancelled_by_admin', detail: { uid: end.byUid }, ran };
};

/** Root "cancelled" a job that had nodes and whose batch step never reported an end: its launch was refused (seen live). */
const prologFailed = (end: End): boolean => {
  const row = end.row;
  if (!row || row.nodes === '' || end.files?.claimed || end.files?.refused) return false;
  const batch = row.steps.find((step) => step.step === 'batch');
  return batch ? batch.exit === undefined : row.steps.length === 0 && row.elapsedSeconds <= 1 && row.start !== undefined && wasNamed(end);
};

/** A row that the database closed before it knew the job's partition and name says nothing about steps either. */
const wasNamed = (end: End): boolean => end.row?.name !== 'allocation';

const failed = (end: End): Finding => {
  const exit = exitOf(end);
  const reason = end.controller?.reason ?? '';
  const result = end.files?.result;
  if (result?.stopped) return stopped(result.stopped);
  if (result?.exit === 0) return { cause: 'contradictory', detail: { reason: 'Slurm says FAILED, the run says exit 0' } };
  if (reason === 'BadConstraints' || wasRefused(end))
    return { cause: 'rejected', detail: { by: 'slurm', reason: reason || 'refused at submission' }, ran: 'no' };
  if (reason === 'SystemFailure') return { cause: 'scheduler_failed', detail: { what: reason }, ran: ranOf(end) };
  if (exit?.signal === OUTPUT_UNUSABLE) return { cause: 'launch_failed', detail: { stage: 'output' }, ran: 'no' };
  if (exit?.signal === USER_UNUSABLE) return { cause: 'launch_failed', detail: { stage: 'user' }, ran: 'no' };
  if (isOutOfMemory(end))
    return {
      cause: 'out_of_memory',
      detail: { scope: 'step', ...programSaid(end) },
      ...(recordsOutOfMemory(end) ? {} : { confidence: 'likely' }),
    };
  if (inGraceTime(end) && (exit?.signal === 15 || exit?.code === 143 || result?.exit === 143 || (!result && end.files?.refused))) {
    return { cause: 'preempted', detail: { graceUsed: true }, confidence: 'likely' };
  }
  if (end.files && !end.files.claimed && !result) {
    // Without a claim the program was not started: the wrapper itself could not run, or was cut.
    return {
      cause: 'launch_failed',
      detail: { stage: 'wrapper', ...(exit ? { code: exit.code } : {}) },
      ran: 'unknown',
      confidence: 'likely',
    };
  }
  if (result) return byCode(result.exit, result.signal, end);
  return exit ? byCode(exit.code, exit.signal || undefined, end) : { cause: 'exited', confidence: 'guess' };
};

const timedOut = (end: End): Finding => {
  const reason = end.controller?.reason ?? '';
  const detail = { clock: 'slurm', reason, ...programSaid(end) };
  if (/exceeds? .*limit|GrpWall|Minutes/.test(reason)) return { cause: 'budget', detail };
  return { cause: 'time_limit', detail: reason === 'InactiveLimit' ? { ...detail, clock: 'inactive' } : detail };
};

const nodeFailed = (end: End): Finding => {
  const nodes = end.controller?.nodes || end.row?.nodes || '';
  if (end.controller?.reason === 'PartitionDown')
    return { cause: 'scheduler_failed', detail: { what: 'partition_removed' }, ran: ranOf(end) };
  // The list of a job's nodes names none of them as failed (C002), unless it has only one.
  const failedNodes = end.signs.failedNodes.length > 0 ? [...end.signs.failedNodes] : /^[\w.-]+$/.test(nodes) ? [nodes] : [];
  const setBySlurm = isSetBySlurm(end);
  return {
    cause: 'node_lost',
    detail: {
      nodes: nodes.slice(0, 1024),
      ...(failedNodes.length > 0 ? { failedNodes } : {}),
      ...(setBySlurm ? { what: 'batch step missing' } : {}),
    },
    ran: ranOf(end),
    ...(setBySlurm ? { confidence: 'likely' as const } : {}),
  };
};

const stopped = (by: 'time_limit' | 'fenced'): Finding =>
  by === 'time_limit'
    ? { cause: 'time_limit', detail: { clock: 'wrapper' } }
    : { cause: 'cancelled_by_dispatch', detail: { reason: 'fenced: by a later mark, a later run or stop' } };

const byCode = (exitCode: number, exitSignal: number | undefined, end: End): Finding => {
  // Of several tasks, srun's own code is that of the ones it killed; the first to end is the cause (contract §3).
  const first = exitCode > 128 || exitSignal ? end.signs.firstTask : undefined;
  const { code, signal } = first ? { code: 0, signal: undefined, ...first } : { code: exitCode, signal: exitSignal };
  if (signal)
    return { cause: 'signalled', detail: { signal, ...(code > 0 ? { code } : {}), ...(signal === 9 ? { maybe_oom: true } : {}) } };
  if (code === 0) return { cause: 'completed' };
  // 79 alone is the program's own: the guard's refusal is a file as well (protocols §4.2).
  return { cause: 'exited', detail: { code, ...(code === GUARD_EXIT_CODE && !end.files ? { maybe_guard: true } : {}) } };
};

/** Slurm's own error numbers, stored where a wait status belongs: 253 (memory), 4021 (output), 4016 (user). */
const MEMORY_MARKER = 125;
const OUTPUT_UNUSABLE = 53;
const USER_UNUSABLE = 48;

/** A program can print the words that Slurm prints, so the error file alone makes it likely, no more. */
const isOutOfMemory = (end: End): boolean => recordsOutOfMemory(end) || end.signs.outOfMemory;

const recordsOutOfMemory = (end: End): boolean =>
  end.row?.steps.some((step) => step.state === 'OUT_OF_MEMORY') === true ||
  [end.controller?.derived, end.row?.derived, exitOf(end)].some((status) => status?.signal === MEMORY_MARKER);

const inGraceTime = (end: End): boolean => end.controller?.preempt !== undefined || end.signs.killed === 'preemption';

/** The controller's own number is exact; until 25.11 the database subtracts 128 from codes from 128 on. */
const exitOf = (end: End): WaitStatus | undefined => end.controller?.exit ?? end.row?.exit;

/** 1, set by Slurm itself: `0:1` at the controller, `1:0` in the database. */
const isSetBySlurm = (end: End): boolean => (end.controller ? end.controller.exit?.signal === 1 : end.row?.exit?.code === 1);

/** A refused submission can leave a record under our name: start = end = submit, no node, no step. */
const wasRefused = (end: End): boolean => {
  const row = end.row;
  return (
    end.controller === undefined &&
    row !== undefined &&
    row.nodes === '' &&
    row.exit?.code === 1 &&
    row.start === row.submit &&
    row.end === row.submit &&
    row.steps.length === 0
  );
};

const isProgram = (step: string): boolean => step !== 'batch' && step !== 'extern';

/** No node was ever given to this run. */
const neverStarted = (end: End): boolean =>
  end.controller ? end.controller.nodes === '' : end.row !== undefined && end.row.nodes === '' && end.row.elapsedSeconds === 0;

/** Whether an earlier run of the same object began, where this one did not. */
const ranBefore = (end: End): Outcome['ran'] => ((end.controller?.run ?? 0) > 0 ? 'yes' : 'no');

const ranOf = (end: End): Outcome['ran'] => {
  if (end.files?.claimed) return 'yes';
  if (end.files) return 'unknown';
  return (end.row?.elapsedSeconds ?? 0) > 0 || end.controller?.start !== undefined ? 'yes' : 'unknown';
};

const programSaid = (end: End): Outcome['detail'] => (end.files?.result ? { programExit: end.files.result.exit } : {});
