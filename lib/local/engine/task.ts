/**
 * One attempt of a Task: the call, its time limit, and for a `.waitForTaskToken` task the wait for a signal.
 *
 * Guards: whichever of answer, signal, time-out and heartbeat comes first decides, once; afterwards the token is closed and no timer is
 * left. An attempt whose execution ended never settles: nothing waits for it, and what its function still does goes nowhere, as on AWS.
 */

import type { Cancel } from '../clock.ts';
import { RequestRefused, StateFault } from './fault.ts';
import { acrossBoundary, type Json, toText } from './json.ts';
import type { TaskState } from './machine.ts';
import type { Run, World } from './run.ts';
import type { Request } from './step.ts';

export type Outcome = { readonly result: Json } | { readonly fault: StateFault };

/** A task whose token is out. */
export interface Waiting {
  settle(outcome: Outcome): void;
  beat(): void;
}

/** `submitted` is called when a park function has returned and its task goes on waiting. */
export function attempt(
  run: Run,
  state: TaskState,
  request: Request,
  token: string | undefined,
  world: World,
  submitted: () => void,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let open = true;
    let cancelHeartbeat: Cancel | undefined;
    const close = (): void => {
      open = false;
      cancelTimeout();
      cancelHeartbeat?.();
      if (token !== undefined) world.tokens.delete(token);
      run.open.delete(close);
    };
    const settle = (outcome: Outcome): void => {
      if (!open) return;
      close();
      resolve(outcome);
    };
    const beat = (): void => {
      cancelHeartbeat?.();
      const seconds = request.heartbeatSeconds;
      if (seconds === undefined) return;
      cancelHeartbeat = world.clock.after(seconds * 1000, () => settle({ fault: StateFault.heartbeat(`no heartbeat for ${seconds} s`) }));
    };
    const cancelTimeout = world.clock.after(request.timeoutSeconds * 1000, () =>
      settle({ fault: StateFault.timeout(`${state.name} took longer than ${request.timeoutSeconds} s`) }),
    );
    run.open.add(close);
    // Before the call: a signal may come while the park function is still at work.
    if (token !== undefined) world.tokens.set(token, { settle, beat });
    beat();
    calling(run, state, request, world)
      .then((result) => {
        if (token === undefined) settle({ result });
        else if (open) submitted();
      })
      .catch((error: unknown) => settle({ fault: faultOf(error) }));
  });
}

async function calling(run: Run, state: TaskState, request: Request, world: World): Promise<Json> {
  if (state.call === 'startExecution') return starting(request, world);
  const call = world.functions[state.functionName];
  if (call === undefined) throw StateFault.task('Lambda.ResourceNotFoundException', `there is no function ${state.functionName}`);
  const context = { functionName: state.functionName, awsRequestId: `${run.name}-${run.history.count}` };
  const answer: unknown = await call(request.arguments['Payload'] as Json, context);
  return acrossBoundary({ ExecutedVersion: '$LATEST', Payload: plain(answer), StatusCode: 200 }, `the answer of ${state.functionName}`);
}

/** What the function answered, as JSON; what cannot be written as JSON fails the function, as it does on Lambda. */
function plain(answer: unknown): Json {
  try {
    return JSON.parse(toText(answer)) as Json;
  } catch (error) {
    throw StateFault.task('Runtime.MarshalError', String(error));
  }
}

async function starting({ arguments: given }: Request, world: World): Promise<Json> {
  if (given['StateMachineArn'] !== world.machineArn) {
    throw StateFault.task('StepFunctions.StateMachineDoesNotExistException', `this engine runs ${world.machineArn} alone`);
  }
  const input = given['Input'];
  const request = { name: String(given['Name']), input: typeof input === 'string' ? input : toText(input) };
  const started = await world.start(request);
  return { ExecutionArn: started.executionArn, StartDate: new Date(started.startedAtMs).toISOString() };
}

/** A function's error is known to the machine by its name; an error of StartExecution by the name this integration gives it. */
function faultOf(error: unknown): StateFault {
  if (error instanceof StateFault) return error;
  if (error instanceof RequestRefused) return StateFault.task(`StepFunctions.${error.name}Exception`, error.message);
  const { name, message } = (typeof error === 'object' && error !== null ? error : {}) as { name?: unknown; message?: unknown };
  const errorType = typeof name === 'string' && name !== '' ? name : 'Error';
  return StateFault.task(errorType, toText({ errorType, errorMessage: typeof message === 'string' ? message : String(error) }));
}
