/**
 * A loaded state machine: what `load.ts` makes of a definition and the rest of the engine walks through. Only data and compiled
 * templates; nothing here changes once it is loaded.
 */

import type { Expression } from './expression.ts';
import type { Assign, Template } from './template.ts';

/** The three calls a Task can make. */
export const RESOURCES = {
  'arn:aws:states:::lambda:invoke': 'invoke',
  'arn:aws:states:::lambda:invoke.waitForTaskToken': 'invokeAndWait',
  'arn:aws:states:::states:startExecution': 'startExecution',
} as const;

export type Call = (typeof RESOURCES)[keyof typeof RESOURCES];

/** How a state, a choice rule or a catcher is left. Without `next` the execution succeeds. */
export interface Exit {
  readonly assign: Assign | undefined;
  readonly output: Template | undefined;
  readonly next: string | undefined;
}

export interface Retrier {
  readonly errorEquals: readonly string[];
  readonly intervalSeconds: number;
  readonly backoffRate: number;
  readonly maxAttempts: number;
  readonly maxDelaySeconds: number | undefined;
  readonly fullJitter: boolean;
}

export interface Catcher extends Exit {
  readonly errorEquals: readonly string[];
}

/** Seconds, or the expression that says how many. */
export type Seconds = number | Expression;

export interface TaskState {
  readonly type: 'Task';
  readonly name: string;
  readonly call: Call;
  /** Of the two Lambda calls; '' for `startExecution`. */
  readonly functionName: string;
  readonly arguments: Template;
  readonly timeoutSeconds: Seconds;
  readonly heartbeatSeconds: Seconds | undefined;
  readonly retriers: readonly Retrier[];
  readonly catchers: readonly Catcher[];
  readonly exit: Exit;
}

export interface ChoiceRule extends Exit {
  readonly condition: Template;
}

export interface ChoiceState {
  readonly type: 'Choice';
  readonly name: string;
  readonly rules: readonly ChoiceRule[];
  readonly otherwise: string | undefined;
}

export interface WaitState {
  readonly type: 'Wait';
  readonly name: string;
  readonly seconds: Seconds | undefined;
  readonly timestamp: Template | undefined;
  readonly exit: Exit;
}

export interface PassState {
  readonly type: 'Pass' | 'Succeed';
  readonly name: string;
  readonly exit: Exit;
}

export interface FailState {
  readonly type: 'Fail';
  readonly name: string;
  readonly error: Template;
  readonly cause: Template;
}

export type State = TaskState | ChoiceState | WaitState | PassState | FailState;

export interface Machine {
  readonly startAt: string;
  readonly timeoutSeconds: number | undefined;
  readonly states: ReadonlyMap<string, State>;
}
