/**
 * An execution as the engine keeps it, what executions share, and how one ends.
 *
 * Guards: an ending happens once, closes every timer, wait and token, and is the last event.
 */

import type { Cancel, Clock } from '../clock.ts';
import { append, type History, type HistoryEventType } from './history.ts';
import type { Json } from './json.ts';
import type { Machine } from './machine.ts';
import type { Waiting } from './task.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** What a function is told beside its payload, in the manner of Lambda. */
export interface FunctionContext {
  readonly functionName: string;
  readonly awsRequestId: string;
}

export type EngineFunction = (payload: Json, context: FunctionContext) => unknown;

export interface StartedExecution {
  readonly executionArn: string;
  readonly startedAtMs: number;
}

export interface Ending {
  readonly status: Exclude<ExecutionStatus, 'RUNNING'>;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
}

/** An execution as the engine keeps it. */
export interface Run {
  readonly name: string;
  readonly arn: string;
  /** The text as it was given: idempotent starts compare it. */
  readonly input: string;
  readonly startedAtMs: number;
  readonly history: History;
  /** Closes every timer, wait and token still open. */
  readonly open: Set<Cancel>;
  ending: Ending | undefined;
  stoppedAtMs: number | undefined;
  /** False once ended or killed. */
  live: boolean;
}

/** What executions share. */
export interface World {
  readonly machine: Machine;
  readonly machineName: string;
  readonly machineArn: string;
  readonly functions: { readonly [name: string]: EngineFunction };
  readonly clock: Clock;
  readonly random: () => number;
  readonly eventCap: number;
  /** Tasks whose token may be signalled. */
  readonly tokens: Map<string, Waiting>;
  start(request: { name: string; input: string }): Promise<StartedExecution>;
  ended(run: Run): void;
}

const ENDED_EVENT: { readonly [status in Ending['status']]: HistoryEventType } = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
};

export function endRun(run: Run, world: World, ending: Ending): void {
  // It may have been stopped or killed between its last step and here.
  if (!run.live) return;
  run.live = false;
  run.ending = ending;
  run.stoppedAtMs = world.clock.now();
  for (const close of [...run.open]) close();
  run.open.clear();
  append(run.history, {
    type: ENDED_EVENT[ending.status],
    atMs: run.stoppedAtMs,
    state: '',
    ...(ending.error === undefined ? {} : { error: ending.error }),
  });
  world.ended(run);
}
