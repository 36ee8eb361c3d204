/**
 * How a run of the memory cluster ended, as its scheduler would say it, and the outcome read from that (contract §3).
 * Pure. Guards promise 1: one vocabulary of causes; the raw words stay beside it as evidence.
 */
import { type Cause, type Evidence, type Outcome, outcomeOf } from '../../job/cause.ts';
import type { Ends } from './script.ts';

export interface Ending {
  readonly cause: Cause;
  readonly detail: Outcome['detail'];
  /** The scheduler's word for it. */
  readonly word: string;
  readonly exitCode?: string;
  readonly nodes?: readonly string[];
  readonly message?: string;
  /** The wrapper lived to write its result file. */
  readonly result?: boolean;
  /** Node loss only: processes live on, for how long, and whether the node's agent answers. */
  readonly survives?: boolean;
  readonly survivesSeconds?: number;
  readonly answers?: boolean;
  readonly vanishes?: boolean;
}

/** By whom a cancel is said to have come. `login`: the account of the job, ours or its owner's, which a scheduler cannot tell apart. */
export type Canceller = 'login' | 'admin' | 'unknown';

export const endingOf = (ends: Exclude<Ends, 'hangs'>, nodes: readonly string[]): Ending => {
  if (typeof ends === 'string') return plainEnding(ends, nodes);
  if ('exit' in ends) return { cause: 'exited', detail: { code: ends.exit }, word: 'FAILED', exitCode: `${ends.exit}:0`, result: true };
  if ('signal' in ends) {
    // Nobody above explains a KILL: it may have been the kernel, short of memory.
    const detail = { signal: ends.signal, ...(ends.signal === 9 ? { maybe_oom: true } : {}) };
    return { cause: 'signalled', detail, word: 'FAILED', exitCode: `0:${ends.signal}`, result: true };
  }
  if ('preempted' in ends) return { ...PREEMPTED, detail: ends.preempted.by ? { by: ends.preempted.by } : {} };
  if ('out_of_memory' in ends) return { cause: 'out_of_memory', detail: ends.out_of_memory, word: 'OUT_OF_MEMORY', exitCode: '0:125' };
  if ('launch_failed' in ends) return { cause: 'launch_failed', detail: ends.launch_failed, word: 'FAILED', exitCode: '0:53' };
  const lost = ends.node_lost;
  const failed = lost.nodes ?? nodes.slice(0, 1);
  return {
    cause: 'node_lost',
    // The nodes of the run name none of them as failed; only `failedNodes` may be excluded from the next attempt.
    detail: { nodes: nodes.join(',').slice(0, 1024), failedNodes: [...failed] },
    word: 'NODE_FAIL',
    nodes,
    survives: lost.survives,
    answers: lost.answers,
    ...(lost.survivesSeconds === undefined ? {} : { survivesSeconds: lost.survivesSeconds }),
  };
};

const PREEMPTED: Ending = { cause: 'preempted', detail: {}, word: 'PREEMPTED', exitCode: '0:15' };

const plainEnding = (ends: Exclude<Extract<Ends, string>, 'hangs'>, nodes: readonly string[]): Ending => {
  switch (ends) {
    case 'completed':
      return { cause: 'completed', detail: {}, word: 'COMPLETED', exitCode: '0:0', result: true };
    case 'preempted':
      return PREEMPTED;
    case 'node_lost':
      return endingOf({ node_lost: { survives: false, answers: false } }, nodes);
    case 'out_of_memory':
      return endingOf({ out_of_memory: { scope: 'job' } }, nodes);
    case 'launch_failed':
      return endingOf({ launch_failed: { stage: 'prolog' } }, nodes);
    case 'time_limit':
      return { cause: 'time_limit', detail: { clock: 'job' }, word: 'TIMEOUT', exitCode: '0:15' };
    case 'evicted':
      return { cause: 'evicted', detail: { which: 'node pressure' }, word: 'EVICTED' };
    case 'boot_failed':
      return { cause: 'boot_failed', detail: {}, word: 'BOOT_FAIL' };
    case 'scheduler_failed':
      return { cause: 'scheduler_failed', detail: { what: 'lost by the scheduler' }, word: 'FAILED', message: 'the scheduler lost it' };
    case 'revoked':
      return { cause: 'revoked', detail: {}, word: 'REVOKED' };
    case 'contradictory':
      return {
        cause: 'contradictory',
        detail: { both: ['the scheduler: COMPLETED', 'no wrapper ever claimed the run'] },
        word: 'COMPLETED',
      };
    case 'unrecognised':
      return { cause: 'unrecognised', detail: { word: 'MELTED' }, word: 'MELTED' };
    case 'vanishes':
      return { cause: 'vanished', detail: {}, word: 'UNKNOWN', vanishes: true };
  }
};

export const cancelledBy = (by: Canceller, login: string): Ending => {
  if (by === 'unknown') return { cause: 'cancelled_by_unknown', detail: {}, word: 'CANCELLED' };
  const uid = by === 'admin' ? 'root' : login;
  return { cause: by === 'admin' ? 'cancelled_by_admin' : 'cancelled_by_user', detail: { uid }, word: `CANCELLED by ${uid}` };
};

/** An unreleased attempt dies of its gate, a released one of having found no room: one scheduler word, two causes. */
export const expired = (released: boolean, reason: string): Ending =>
  released
    ? { cause: 'no_capacity', detail: { reason }, word: 'DEADLINE', exitCode: '0:1' }
    : { cause: 'gate_expired', detail: {}, word: 'DEADLINE', exitCode: '0:1' };

/** The wrapper's own refusal: code 79 *and* its file; 79 alone would be the program's. */
export const refusedByWrapper = (stage: 'guard' | 'checkpoint', why: string): Ending => ({
  cause: 'launch_failed',
  detail: { stage },
  word: 'FAILED',
  exitCode: '79:0',
  message: why,
});

/** The wrapper found a later mark, a later claim or `stop` and ended its program: dispatch did it. */
export const stoppedByWrapper = (why: string): Ending => ({
  cause: 'cancelled_by_dispatch',
  detail: {},
  word: 'FAILED',
  exitCode: '79:0',
  message: why,
  result: true,
});

export interface Seen {
  readonly source: string;
  readonly ran: boolean;
  readonly clusterEndedAt: number;
  /** Milliseconds since 1970 by dispatch's clock. */
  readonly observedAt: number;
}

export const outcomeFrom = (ending: Ending, seen: Seen): Outcome => {
  const evidence: Evidence = {
    source: seen.source,
    state: ending.word,
    at: seen.clusterEndedAt,
    ...(ending.exitCode === undefined ? {} : { exitCode: ending.exitCode }),
    ...(ending.nodes === undefined ? {} : { nodes: ending.nodes.join(',').slice(0, 1024) }),
    ...(ending.message === undefined ? {} : { message: ending.message.slice(0, 1024) }),
  };
  return outcomeOf(ending.cause, {
    detail: ending.detail,
    evidence: [evidence],
    ran: seen.ran ? 'yes' : 'no',
    observedAt: seen.observedAt,
  });
};
