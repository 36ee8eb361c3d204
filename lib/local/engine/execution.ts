/**
 * One execution: from StartAt, state after state, to its end.
 *
 * Guards: after an execution ended, for whatever reason, it records nothing, calls nothing and holds no timer or token; and every loop
 * here is bounded by the cap of its history, since every turn records an event.
 */

import type { Context, Scope, Variables } from './expression.ts';
import { StateFault } from './fault.ts';
import { type HistoryEventType, record } from './history.ts';
import type { Json } from './json.ts';
import type { State, TaskState } from './machine.ts';
import { type Ending, endRun, type Run, type World } from './run.ts';
import { type Departure, failureOf, judge, leaveCaught, leaveChoice, leavePass, leaveTask, requestOf, waitMsOf } from './step.ts';
import { attempt } from './task.ts';
import { mintToken } from './token.ts';

/** Unwinds an execution that ended or was killed while it was waiting for something. */
class Gone extends Error {}

/** Runs to the end. Rejects only for an error of the engine itself or of a listener. */
export async function carryOut(run: Run, world: World): Promise<void> {
  let ending: Ending;
  try {
    const limitSeconds = world.machine.timeoutSeconds;
    if (limitSeconds !== undefined) {
      const timedOut: Ending = { status: 'TIMED_OUT', error: 'States.Timeout', cause: `the execution took longer than ${limitSeconds} s` };
      run.open.add(world.clock.after(limitSeconds * 1000, () => endRun(run, world, timedOut)));
    }
    note(run, world, 'ExecutionStarted', '');
    ending = { status: 'SUCCEEDED', output: JSON.stringify(await walk(run, world)) };
  } catch (thrown) {
    if (thrown instanceof Gone) return;
    if (!(thrown instanceof StateFault)) throw thrown;
    ending = { status: 'FAILED', error: thrown.error, cause: thrown.cause };
  }
  endRun(run, world, ending);
}

async function walk(run: Run, world: World): Promise<Json> {
  const executionInput = JSON.parse(run.input) as Json;
  let variables: Variables = {};
  let input = executionInput;
  let at: string | undefined = world.machine.startAt;
  const entered = new Map<string, number>();
  while (at !== undefined) {
    const state: State = world.machine.states.get(at)!;
    note(run, world, `${state.type}StateEntered`, state.name);
    const enteredAt = new Date(momentOf(entered, state.name, world.clock.now())).toISOString();
    const scopeAt = (retryCount: number, token?: string): Scope => ({
      states: { input, context: contextOf(run, world, executionInput, state.name, enteredAt, retryCount, token) },
      variables,
    });
    const departure: Departure = await depart(run, world, state, scopeAt);
    note(run, world, `${state.type}StateExited`, state.name);
    ({ output: input, variables, next: at } = departure);
  }
  return input;
}

/** On AWS no state is entered twice in a millisecond, and handlers order waits by it; here a turn may take no time at all. */
function momentOf(entered: Map<string, number>, state: string, nowMs: number): number {
  const before = entered.get(state);
  const moment = before === undefined ? nowMs : Math.max(nowMs, before + 1);
  entered.set(state, moment);
  return moment;
}

type ScopeAt = (retryCount: number, token?: string) => Scope;

async function depart(run: Run, world: World, state: State, scopeAt: ScopeAt): Promise<Departure> {
  const checked = <T>(work: Promise<T>): Promise<T> => evaluated(run, world, state.name, work);
  switch (state.type) {
    case 'Task':
      return departTask(run, world, state, scopeAt);
    case 'Choice':
      return checked(leaveChoice(state, scopeAt(0)));
    case 'Wait':
      await pause(run, world, await checked(waitMsOf(state, scopeAt(0), world.clock.now())));
      return checked(leavePass(state, scopeAt(0)));
    case 'Pass':
    case 'Succeed':
      return checked(leavePass(state, scopeAt(0)));
    case 'Fail':
      throw await checked(failureOf(state, scopeAt(0)));
  }
}

/** Attempts until one succeeds, is caught, or nothing is left to try. */
async function departTask(run: Run, world: World, state: TaskState, scopeAt: ScopeAt): Promise<Departure> {
  const used = state.retriers.map(() => 0);
  for (let retryCount = 0; ; retryCount++) {
    // A new token per attempt: the one before is dead.
    const token = state.call === 'invokeAndWait' ? mintToken(world.random) : undefined;
    const scope = scopeAt(retryCount, token);
    try {
      return await attemptOnce(run, world, state, scope, token);
    } catch (thrown) {
      if (!(thrown instanceof StateFault)) throw thrown;
      const verdict = judge(state, thrown, used, world.random);
      if (verdict.kind === 'failed') throw thrown;
      if (verdict.kind === 'caught') {
        return await evaluated(run, world, state.name, leaveCaught(state.catchers[verdict.catcher]!, scope, thrown));
      }
      used[verdict.retrier] = used[verdict.retrier]! + 1;
      await pause(run, world, verdict.delayMs);
    }
  }
}

async function attemptOnce(run: Run, world: World, state: TaskState, scope: Scope, token: string | undefined): Promise<Departure> {
  const request = await evaluated(run, world, state.name, requestOf(state, scope));
  note(run, world, 'TaskScheduled', state.name);
  note(run, world, 'TaskStarted', state.name);
  const outcome = await attempt(run, state, request, token, world, () => note(run, world, 'TaskSubmitted', state.name));
  assertLive(run);
  if ('fault' in outcome) {
    note(run, world, outcome.fault.kind === 'timeout' ? 'TaskTimedOut' : 'TaskFailed', state.name, outcome.fault.error);
    throw outcome.fault;
  }
  note(run, world, 'TaskSucceeded', state.name);
  return evaluated(run, world, state.name, leaveTask(state, scope, outcome.result));
}

function note(run: Run, world: World, type: HistoryEventType, state: string, error?: string): void {
  assertLive(run);
  record(run.history, world.eventCap, { type, atMs: world.clock.now(), state, ...(error === undefined ? {} : { error }) });
}

/** Waits for an evaluation; what comes of it counts only if the execution still lives. */
async function evaluated<T>(run: Run, world: World, state: string, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    assertLive(run);
    return value;
  } catch (thrown) {
    // The note also unwinds an execution that is gone.
    if (thrown instanceof StateFault && thrown.kind === 'query') note(run, world, 'EvaluationFailed', state, thrown.error);
    throw thrown;
  }
}

function assertLive(run: Run): void {
  if (!run.live) throw new Gone();
}

function pause(run: Run, world: World, ms: number): Promise<void> {
  assertLive(run);
  return new Promise((resolve) => {
    const cancel = world.clock.after(ms, () => {
      run.open.delete(cancel);
      resolve();
    });
    run.open.add(cancel);
  });
}

function contextOf(
  run: Run,
  world: World,
  input: Json,
  state: string,
  enteredAt: string,
  retryCount: number,
  token: string | undefined,
): Context {
  return {
    Execution: { Id: run.arn, Input: input, Name: run.name, StartTime: new Date(run.startedAtMs).toISOString() },
    State: { EnteredTime: enteredAt, Name: state, RetryCount: retryCount },
    StateMachine: { Id: world.machineArn, Name: world.machineName },
    ...(token === undefined ? {} : { Task: { Token: token } }),
  };
}
