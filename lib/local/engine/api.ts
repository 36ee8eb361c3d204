/**
 * What the engine offers and what it needs: the operations of Step Functions that dispatch uses, called directly. Times are
 * milliseconds since 1970; inputs and outputs are JSON text, as on the wire.
 */

import type { Clock } from '../clock.ts';
import type { ExecutionDescription, ExecutionSummary } from './description.ts';
import type { HistoryEvent } from './history.ts';
import type { Substitutions } from './load.ts';
import type { EngineFunction, ExecutionStatus, StartedExecution } from './run.ts';

export type { ExecutionDescription, ExecutionSummary } from './description.ts';

export interface StartRequest {
  /** 1 to 80 characters; omitted: drawn from `random`. */
  readonly name?: string;
  /** JSON text; compared byte by byte when a name is used again. */
  readonly input: string;
}

export interface EngineOptions {
  /** The definition, as JSON text or parsed. */
  readonly definition: unknown;
  /** What replaces `${Name}` in the definition. */
  readonly substitutions?: Substitutions;
  /** By the name that FunctionName has after substitution. */
  readonly functions: { readonly [name: string]: EngineFunction };
  readonly clock: Clock;
  /** At least 0, less than 1: tokens, names, jitter. */
  readonly random: () => number;
  readonly machineName?: string;
  /** Called once per execution that ends, however it ends; never for one that was killed. */
  readonly onEnd?: (execution: ExecutionDescription) => void;
  /** Stands around the StartExecution that a *state* makes, so that a simulation can delay, lose or fail it. */
  readonly aroundStart?: (request: { name: string; input: string }, start: () => StartedExecution) => Promise<StartedExecution>;
  readonly limits?: EngineLimits;
}

export interface EngineLimits {
  /** History events per execution; 25,000. */
  readonly events?: number;
  /** Ended executions that can still be described; their names stay taken as long. 1,000. */
  readonly ended?: number;
  /** Ended executions whose events are kept; 100. */
  readonly histories?: number;
}

export interface Engine {
  readonly machineArn: string;
  executionArn(name: string): string;
  /** Throws ExecutionAlreadyExists, InvalidName, InvalidExecutionInput. */
  startExecution(request: StartRequest): StartedExecution;
  /** Throws ExecutionDoesNotExist. */
  describeExecution(name: string): ExecutionDescription;
  /** Newest first; `maxResults` 100, at most 1,000. */
  listExecutions(filter?: { status?: ExecutionStatus; maxResults?: number }): ExecutionSummary[];
  /** Empty once the events of an ended execution were let go. Throws ExecutionDoesNotExist. */
  history(name: string): readonly HistoryEvent[];
  /** Ends it as ABORTED; one that has ended stays as it is. Throws ExecutionDoesNotExist. */
  stopExecution(name: string, error?: string, cause?: string): { stoppedAtMs: number };
  /** `output`: JSON text. Throws TaskTimedOut, InvalidToken, InvalidOutput. */
  sendTaskSuccess(token: string, output: string): void;
  /** Throws TaskTimedOut, InvalidToken. */
  sendTaskFailure(token: string, error?: string, cause?: string): void;
  /** Throws TaskTimedOut, InvalidToken. */
  sendTaskHeartbeat(token: string): void;
  /** Loses an execution without a trace: no event, no onEnd, its name free again. True if it was running. */
  kill(name: string): boolean;
  /** Kills whatever runs, so that no timer is left. */
  close(): void;
}
