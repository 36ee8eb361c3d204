/**
 * What a state works out, apart from waiting and calling: arguments, time limits, the choice taken, output and variables, and what
 * becomes of a fault. The running engine and `runState` both stand on these functions, so that a table of single states proves both.
 *
 * Guards: Assign and Output of one exit are worked out from the same, old variables; retriers are looked at before catchers, and the
 * first retrier that names a fault decides alone, also when its tries are used up.
 */

import type { Scope, Variables } from './expression.ts';
import { names, StateFault } from './fault.ts';
import { acrossBoundary, type Json } from './json.ts';
import { LONGEST_SECONDS } from './load-exit.ts';
import type { Catcher, ChoiceState, Exit, FailState, PassState, Seconds, TaskState, WaitState } from './machine.ts';

/** How a state was left: `next` undefined ends the execution with success. */
export interface Departure {
  readonly output: Json;
  readonly variables: Variables;
  readonly next: string | undefined;
}

/** What a task is about to call. */
export interface Request {
  readonly arguments: { readonly [name: string]: Json };
  readonly timeoutSeconds: number;
  readonly heartbeatSeconds: number | undefined;
}

export type Verdict =
  | { readonly kind: 'retry'; readonly retrier: number; readonly delayMs: number }
  | { readonly kind: 'caught'; readonly catcher: number }
  | { readonly kind: 'failed' };

export async function requestOf(state: TaskState, scope: Scope): Promise<Request> {
  const given = acrossBoundary(await state.arguments(scope), `the arguments of ${state.name}`);
  const timeoutSeconds = await secondsOf(state.timeoutSeconds, scope, `TimeoutSeconds of ${state.name}`, 1);
  const heartbeatSeconds =
    state.heartbeatSeconds === undefined
      ? undefined
      : await secondsOf(state.heartbeatSeconds, scope, `HeartbeatSeconds of ${state.name}`, 1);
  if (heartbeatSeconds !== undefined && heartbeatSeconds >= timeoutSeconds) {
    throw StateFault.terminal('States.Runtime', `HeartbeatSeconds of ${state.name} must be less than TimeoutSeconds`);
  }
  return { arguments: given as Request['arguments'], timeoutSeconds, heartbeatSeconds };
}

/** Through an exit; `otherwise` is the output where no Output is written. */
export async function leave(exit: Exit, scope: Scope, otherwise: Json): Promise<Departure> {
  const assigned = exit.assign === undefined ? {} : await exit.assign(scope);
  const output = exit.output === undefined ? otherwise : await exit.output(scope);
  return { output: acrossBoundary(output, 'an output'), variables: { ...scope.variables, ...assigned }, next: exit.next };
}

export function leaveTask(state: TaskState, scope: Scope, result: Json): Promise<Departure> {
  return leave(state.exit, withState(scope, { result }), result);
}

export function leaveCaught(catcher: Catcher, scope: Scope, fault: StateFault): Promise<Departure> {
  const errorOutput = { Error: fault.error, Cause: fault.cause };
  return leave(catcher, withState(scope, { errorOutput }), errorOutput);
}

export function leavePass(state: PassState | WaitState, scope: Scope): Promise<Departure> {
  return leave(state.exit, scope, scope.states.input);
}

export async function leaveChoice(state: ChoiceState, scope: Scope): Promise<Departure> {
  for (const rule of state.rules) {
    const holds = await rule.condition(scope);
    if (typeof holds !== 'boolean') throw StateFault.query(`a condition of ${state.name} is neither true nor false`);
    if (holds) return leave(rule, scope, scope.states.input);
  }
  if (state.otherwise === undefined)
    throw StateFault.task('States.NoChoiceMatched', `no rule of ${state.name} matches and it has no Default`);
  return { output: scope.states.input, variables: scope.variables, next: state.otherwise };
}

export async function failureOf(state: FailState, scope: Scope): Promise<StateFault> {
  return StateFault.task(String(await state.error(scope)), String(await state.cause(scope)));
}

/** How long a Wait waits, in milliseconds from `nowMs`. */
export async function waitMsOf(state: WaitState, scope: Scope, nowMs: number): Promise<number> {
  if (state.seconds !== undefined) return 1000 * (await secondsOf(state.seconds, scope, `Seconds of ${state.name}`, 0));
  const at = Date.parse(String(await state.timestamp?.(scope)));
  if (Number.isNaN(at)) throw StateFault.terminal('States.Runtime', `Timestamp of ${state.name} is no moment`);
  return Math.max(0, at - nowMs);
}

/**
 * What becomes of a fault. `used[i]` counts the retries that retrier i has already given in this visit of the state;
 * `random` is called once, and only where jitter is asked for.
 */
export function judge(state: TaskState, fault: StateFault, used: readonly number[], random: () => number): Verdict {
  const retrier = state.retriers.findIndex(({ errorEquals }) => names(errorEquals, fault));
  const found = state.retriers[retrier];
  const count = used[retrier] ?? 0;
  if (found !== undefined && count < found.maxAttempts) {
    const grownSeconds = found.intervalSeconds * found.backoffRate ** count;
    // Without a cap, a high rate grows past what a timer takes.
    const delaySeconds = Math.min(grownSeconds, found.maxDelaySeconds ?? LONGEST_SECONDS);
    return { kind: 'retry', retrier, delayMs: Math.round(delaySeconds * 1000 * (found.fullJitter ? random() : 1)) };
  }
  const catcher = state.catchers.findIndex(({ errorEquals }) => names(errorEquals, fault));
  return catcher === -1 ? { kind: 'failed' } : { kind: 'caught', catcher };
}

async function secondsOf(seconds: Seconds, scope: Scope, what: string, least: number): Promise<number> {
  const value = typeof seconds === 'number' ? seconds : await seconds.evaluate(scope);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > LONGEST_SECONDS) {
    throw StateFault.terminal('States.Runtime', `${what} must be a whole number from ${least} to ${LONGEST_SECONDS}`);
  }
  return value;
}

function withState(scope: Scope, more: { result: Json } | { errorOutput: Json }): Scope {
  return { states: { ...scope.states, ...more }, variables: scope.variables };
}
