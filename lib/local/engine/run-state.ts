/**
 * One state of a machine, with what it calls mocked: what AWS's TestState does, on the very functions the engine runs on.
 *
 * A table of single states reads like a specification of the machine file, runs offline, and can be sent to the real TestState by
 * whoever has an account. That comparison is the guard against this engine drifting away from AWS.
 */

import type { Context, Scope, Variables } from './expression.ts';
import { StateFault } from './fault.ts';
import type { Json } from './json.ts';
import type { Machine, State, TaskState } from './machine.ts';
import {
  type Departure,
  failureOf,
  judge,
  leaveCaught,
  leaveChoice,
  leavePass,
  leaveTask,
  type Request,
  requestOf,
  waitMsOf,
} from './step.ts';

export type Mock = { readonly result: Json } | { readonly error: string; readonly cause?: string };

export interface StateTest {
  readonly machine: Machine;
  readonly state: string;
  readonly input: Json;
  readonly variables?: Variables;
  /** Laid over a plausible context. */
  readonly context?: { readonly [part in keyof Context]?: Partial<Context[part]> };
  /** What a task's call comes to: the whole result of the integration, or the output of SendTaskSuccess. Needed by Task states alone. */
  readonly mock?: Mock;
  /** Retries already given by the retrier that names the mocked error. */
  readonly retrierRetryCount?: number;
  /** For jitter; 1 shows the full delay. */
  readonly random?: () => number;
}

export interface StateReport {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'RETRIABLE' | 'CAUGHT_ERROR';
  readonly output?: Json;
  readonly variables?: Variables;
  /** Absent when the execution ends here. */
  readonly next?: string;
  readonly error?: string;
  readonly cause?: string;
  /** Of a Task: what it calls with, and its limits. */
  readonly arguments?: Request['arguments'];
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
  /** Of RETRIABLE and CAUGHT_ERROR: which entry of Retry or Catch. */
  readonly index?: number;
  readonly delayMs?: number;
}

export async function runState(test: StateTest): Promise<StateReport> {
  const state = test.machine.states.get(test.state);
  if (state === undefined) throw new Error(`there is no state ${test.state}`);
  const scope: Scope = { states: { input: test.input, context: contextOf(test) }, variables: test.variables ?? {} };
  if (state.type === 'Task') return runTask(test, state, scope);
  try {
    return succeeded(await departure(state, scope));
  } catch (thrown) {
    return failed(thrown);
  }
}

async function runTask(test: StateTest, state: TaskState, scope: Scope): Promise<StateReport> {
  let seen: Pick<StateReport, 'arguments' | 'timeoutSeconds' | 'heartbeatSeconds'> = {};
  try {
    const request = await requestOf(state, scope);
    const { heartbeatSeconds, ...rest } = request;
    seen = heartbeatSeconds === undefined ? rest : { ...rest, heartbeatSeconds };
    if (test.mock === undefined) throw new Error(`${state.name} is a Task: say what its call comes to`);
    if ('error' in test.mock) throw faultOf(test.mock.error, test.mock.cause ?? '');
    return { ...seen, ...succeeded(await leaveTask(state, scope, test.mock.result)) };
  } catch (thrown) {
    if (!(thrown instanceof StateFault)) throw thrown;
    const used = state.retriers.map(() => test.retrierRetryCount ?? 0);
    const verdict = judge(state, thrown, used, test.random ?? (() => 1));
    if (verdict.kind === 'failed') return { ...seen, ...failed(thrown) };
    const named = { ...seen, error: thrown.error, cause: thrown.cause };
    if (verdict.kind === 'retry') return { ...named, status: 'RETRIABLE', index: verdict.retrier, delayMs: verdict.delayMs };
    const left = succeeded(await leaveCaught(state.catchers[verdict.catcher]!, scope, thrown));
    return { ...named, ...left, status: 'CAUGHT_ERROR', index: verdict.catcher };
  }
}

async function departure(state: Exclude<State, TaskState>, scope: Scope): Promise<Departure> {
  if (state.type === 'Choice') return leaveChoice(state, scope);
  if (state.type === 'Fail') throw await failureOf(state, scope);
  if (state.type === 'Wait') await waitMsOf(state, scope, 0);
  return leavePass(state, scope);
}

function succeeded({ output, variables, next }: Departure): StateReport {
  return { status: 'SUCCEEDED', output, variables, ...(next === undefined ? {} : { next }) };
}

function failed(thrown: unknown): StateReport {
  if (!(thrown instanceof StateFault)) throw thrown;
  return { status: 'FAILED', error: thrown.error, cause: thrown.cause };
}

function faultOf(error: string, cause: string): StateFault {
  if (error === 'States.Timeout') return StateFault.timeout(cause);
  if (error === 'States.HeartbeatTimeout') return StateFault.heartbeat(cause);
  return StateFault.task(error, cause);
}

function contextOf(test: StateTest): Context {
  const arn = 'arn:aws:states:us-east-1:000000000000';
  const given = test.context ?? {};
  return {
    Execution: {
      Id: `${arn}:execution:supervisor:test`,
      Input: {},
      Name: 'test',
      StartTime: '2026-01-01T00:00:00.000Z',
      ...given.Execution,
    },
    State: { EnteredTime: '2026-01-01T00:00:00.000Z', Name: test.state, RetryCount: 0, ...given.State },
    StateMachine: { Id: `${arn}:stateMachine:supervisor`, Name: 'supervisor', ...given.StateMachine },
    Task: { Token: 'token', ...given.Task },
  };
}
