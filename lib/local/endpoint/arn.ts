/**
 * The ARNs of requests, read for the one machine that the engine runs.
 */

import type { Engine } from '../engine/api.ts';
import { RequestRefused } from '../engine/fault.ts';
import { CallRefused } from './refusal.ts';

const RESOURCE = String.raw`^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}`;
/** With an optional version or alias, of which the engine has none. */
const MACHINE = new RegExp(`${RESOURCE}:stateMachine:[^:]+(:[^:]+)?$`);
const EXECUTION = new RegExp(`${RESOURCE}:execution:[^:]+:([^:]+)$`);

/** Throws InvalidArn, StateMachineDoesNotExist. */
export function requireMachine(engine: Engine, arn: string): void {
  if (!MACHINE.test(arn)) throw invalid('a state machine');
  if (arn !== engine.machineArn) throw new CallRefused('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
}

/** The name of an execution of this machine, which may or may not exist. Throws InvalidArn, ExecutionDoesNotExist. */
export function executionNameOf(engine: Engine, arn: string): string {
  const name = EXECUTION.exec(arn)?.[1];
  if (name === undefined) throw invalid('an execution');
  if (engine.executionArn(name) !== arn) throw new RequestRefused('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  return name;
}

function invalid(what: string): CallRefused {
  // Not repeated: what is no ARN may be anything, a token put into the wrong member included.
  return new CallRefused('InvalidArn', `Invalid Arn: 'this is not the ARN of ${what}'`);
}
