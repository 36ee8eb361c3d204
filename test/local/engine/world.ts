/** Small machines on an engine under virtual time. */

import { type VirtualClock, virtualClock } from '../../../lib/local/clock.ts';
import {
  createEngine,
  type Engine,
  type EngineFunction,
  type EngineOptions,
  type ExecutionDescription,
} from '../../../lib/local/engine/engine.ts';
import type { Json } from '../../../lib/local/engine/json.ts';

export const INVOKE = 'arn:aws:states:::lambda:invoke';
export const WAIT_FOR_TOKEN = 'arn:aws:states:::lambda:invoke.waitForTaskToken';

export type Fields = Record<string, unknown>;

/** A machine of these states that starts at the first of them. */
export function machineOf(states: Fields, more: Fields = {}): Fields {
  return { QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0], States: states, ...more };
}

/** A Task that calls `f` and ends. */
export function task(more: Fields = {}): Fields {
  return {
    Type: 'Task',
    Resource: INVOKE,
    Arguments: { FunctionName: 'f', Payload: {} },
    ...(more['Next'] === undefined ? { End: true } : {}),
    ...more,
  };
}

/** A Task that hands its token to `f` and waits an hour. */
export function wait(more: Fields = {}): Fields {
  const given = { FunctionName: 'f', Payload: { token: '{% $states.context.Task.Token %}' } };
  return task({ Resource: WAIT_FOR_TOKEN, Arguments: given, TimeoutSeconds: 3600, ...more });
}

export function named(name: string, message = ''): Error {
  return Object.assign(new Error(message), { name });
}

export interface World {
  clock: VirtualClock;
  engine: Engine;
  calls: Json[];
  ended: ExecutionDescription[];
  /** The token handed to the n-th call. */
  token(call?: number): string;
  /** Starts one execution and lets it go as far as it goes without time. */
  start(input?: Json, name?: string): Promise<string>;
  /** The one execution that ended. */
  end(): ExecutionDescription;
}

export function world(states: Fields, f: EngineFunction = () => ({}), more: Partial<EngineOptions> & { machine?: Fields } = {}): World {
  const { machine, ...options } = more;
  const clock = virtualClock(0);
  const calls: Json[] = [];
  const ended: ExecutionDescription[] = [];
  const engine = createEngine({
    definition: machineOf(states, machine),
    functions: {
      f: (payload, context) => {
        calls.push(payload);
        return f(payload, context);
      },
    },
    clock,
    random: () => 0.5,
    onEnd: (execution) => ended.push(execution),
    ...options,
  });
  return {
    clock,
    engine,
    calls,
    ended,
    token: (call = 0) => (calls[call] as { token: string }).token,
    async start(input = {}, name = 'e') {
      engine.startExecution({ name, input: JSON.stringify(input) });
      await clock.settle();
      return name;
    },
    end() {
      if (ended.length !== 1) throw new Error(`${ended.length} executions ended`);
      return ended[0]!;
    },
  };
}

/** The output of the one execution that ended, which must have succeeded. */
export function outputOf({ end }: World): unknown {
  const { status, output, error, cause } = end();
  if (status !== 'SUCCEEDED') throw new Error(`${status}: ${error} ${cause}`);
  return JSON.parse(output!);
}
