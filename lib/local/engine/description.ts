/**
 * What callers are told about an execution: its summary in lists, its description otherwise.
 */

import type { ExecutionStatus, Run } from './run.ts';

export interface ExecutionSummary {
  readonly name: string;
  readonly executionArn: string;
  readonly status: ExecutionStatus;
  readonly startedAtMs: number;
  readonly stoppedAtMs?: number;
}

export interface ExecutionDescription extends ExecutionSummary {
  readonly stateMachineArn: string;
  /** JSON text, as given. */
  readonly input: string;
  /** JSON text; of an execution that succeeded. */
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
  readonly eventCount: number;
}

export function statusOf(run: Run): ExecutionStatus {
  return run.ending?.status ?? 'RUNNING';
}

export function summarize(run: Run): ExecutionSummary {
  return {
    name: run.name,
    executionArn: run.arn,
    status: statusOf(run),
    startedAtMs: run.startedAtMs,
    ...(run.stoppedAtMs === undefined ? {} : { stoppedAtMs: run.stoppedAtMs }),
  };
}

export function describe(run: Run, stateMachineArn: string): ExecutionDescription {
  const { output, error, cause } = run.ending ?? {};
  return {
    ...summarize(run),
    stateMachineArn,
    input: run.input,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
    eventCount: run.history.count,
  };
}
