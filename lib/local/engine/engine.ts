/**
 * The state machine engine: runs one definition, in this process, with the words, errors and event counts of Step Functions.
 *
 * It exists so that the file which is deployed is the file which is tested, simulated and run locally. It keeps nothing: executions
 * are disposable by design and are started again from the record. Guards: one running execution per name, at most one successful
 * signal per token, and no clock, timer or random number but the injected ones.
 */

import type { Engine, EngineOptions, StartRequest } from './api.ts';
import { describe, statusOf, summarize } from './description.ts';
import { carryOut } from './execution.ts';
import { RequestRefused, StateFault } from './fault.ts';
import { EVENT_CAP } from './history.ts';
import { type Json, tooLarge } from './json.ts';
import { loadMachine } from './load.ts';
import { endRun, type Run, type StartedExecution, type World } from './run.ts';
import type { Waiting } from './task.ts';
import { hex, isToken } from './token.ts';

export type { Engine, EngineLimits, EngineOptions, ExecutionDescription, ExecutionSummary, StartRequest } from './api.ts';
export type { EngineFunction, ExecutionStatus, FunctionContext, StartedExecution } from './run.ts';

const REGION_AND_ACCOUNT = 'us-east-1:000000000000';
const FORBIDDEN_IN_NAMES = /[\s?*<>{}[\]"#%\\^|~`$&,;:/\p{Cc}]/u;
const LIST_DEFAULT = 100;
const LIST_MOST = 1000;

/** Throws MachineRefused for a definition with anything that is not implemented. */
export function createEngine(options: EngineOptions): Engine {
  const { clock, random, functions } = options;
  const machineName = options.machineName ?? 'supervisor';
  const machineArn = `arn:aws:states:${REGION_AND_ACCOUNT}:stateMachine:${machineName}`;
  const executionArn = (name: string): string => `arn:aws:states:${REGION_AND_ACCOUNT}:execution:${machineName}:${name}`;
  const keepEnded = options.limits?.ended ?? 1000;
  const keepHistories = options.limits?.histories ?? 100;
  const runs = new Map<string, Run>();
  /** Oldest first. */
  const ended: Run[] = [];
  const tokens = new Map<string, Waiting>();

  const world: World = {
    machine: loadMachine(options.definition, options.substitutions, new Set(Object.keys(functions))),
    machineName,
    machineArn,
    functions,
    clock,
    random,
    eventCap: options.limits?.events ?? EVENT_CAP,
    tokens,
    async start(request) {
      const start = (): StartedExecution => startExecution(request);
      return options.aroundStart === undefined ? start() : options.aroundStart(request, start);
    },
    ended(run) {
      ended.push(run);
      const withoutHistory = ended[ended.length - 1 - keepHistories];
      if (withoutHistory !== undefined) withoutHistory.history.events = [];
      if (ended.length > keepEnded) runs.delete(ended.shift()!.name);
      options.onEnd?.(describe(run, machineArn));
    },
  };

  function startExecution(request: StartRequest): StartedExecution {
    const name = request.name ?? hex(random) + hex(random);
    if (name.length < 1 || name.length > 80 || FORBIDDEN_IN_NAMES.test(name))
      throw new RequestRefused('InvalidName', `Invalid Name: '${name}'`);
    if (parsed(request.input) === undefined || tooLarge(request.input)) {
      throw new RequestRefused('InvalidExecutionInput', 'the input is no JSON or too large');
    }
    const same = runs.get(name);
    if (same !== undefined) {
      if (same.live && same.input === request.input) return { executionArn: same.arn, startedAtMs: same.startedAtMs };
      throw new RequestRefused('ExecutionAlreadyExists', `Execution Already Exists: '${same.arn}'`);
    }
    const run: Run = {
      name,
      arn: executionArn(name),
      input: request.input,
      startedAtMs: clock.now(),
      history: { count: 0, events: [] },
      open: new Set(),
      ending: undefined,
      stoppedAtMs: undefined,
      live: true,
    };
    runs.set(name, run);
    // Not awaited: what it can reject with is a bug of the engine or of onEnd, and has to bring the process down.
    void carryOut(run, world);
    return { executionArn: run.arn, startedAtMs: run.startedAtMs };
  }

  const runOf = (name: string): Run => {
    const run = runs.get(name);
    if (run === undefined) throw new RequestRefused('ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn(name)}'`);
    return run;
  };

  const waitingFor = (token: string): Waiting => {
    const waiting = tokens.get(token);
    if (waiting !== undefined) return waiting;
    // The token itself stays out of the message: messages are logged.
    if (!isToken(token)) throw new RequestRefused('InvalidToken', 'Invalid Token');
    throw new RequestRefused('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
  };

  const kill = (name: string): boolean => {
    const run = runs.get(name);
    if (run === undefined || !run.live) return false;
    run.live = false;
    for (const close of [...run.open]) close();
    return runs.delete(name);
  };

  return {
    machineArn,
    executionArn,
    startExecution,
    describeExecution: (name) => describe(runOf(name), machineArn),
    listExecutions({ status, maxResults = LIST_DEFAULT } = {}) {
      const found = [...runs.values()].reverse().filter((run) => status === undefined || statusOf(run) === status);
      return found.slice(0, Math.min(maxResults, LIST_MOST)).map(summarize);
    },
    history: (name) => [...runOf(name).history.events],
    stopExecution(name, error, cause) {
      const run = runOf(name);
      if (run.live) {
        endRun(run, world, { status: 'ABORTED', ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) });
      }
      return { stoppedAtMs: run.stoppedAtMs ?? clock.now() };
    },
    sendTaskSuccess(token, output) {
      const result = parsed(output);
      if (result === undefined || tooLarge(output)) throw new RequestRefused('InvalidOutput', 'the output is no JSON or too large');
      waitingFor(token).settle({ result: result.value });
    },
    sendTaskFailure(token, error = 'States.TaskFailed', cause = '') {
      waitingFor(token).settle({ fault: StateFault.task(error, cause) });
    },
    sendTaskHeartbeat: (token) => waitingFor(token).beat(),
    kill,
    close() {
      for (const name of [...runs.keys()]) kill(name);
    },
  };
}

/** In a box, because `null` is JSON too; undefined when the text is none. */
function parsed(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
