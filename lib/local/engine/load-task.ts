/**
 * A Task state of a definition → a TaskState, with its retriers and catchers.
 *
 * Guards: only the three calls the engine makes, only the arguments it understands, and no time limit or retry figure that AWS would
 * turn down. `States.ALL` stands alone and last, as the language demands, or a later entry would never be reached.
 */

import type { Place } from './expression.ts';
import { COMMON, EXIT, exitOf, LONGEST_SECONDS, secondsAt } from './load-exit.ts';
import { type Call, type Catcher, RESOURCES, type Retrier, type TaskState } from './machine.ts';
import { fieldsAt, listAt, refuse, textAt, wholeNumberAt } from './refusal.ts';
import { compileTemplate } from './template.ts';

const TASK = ['Resource', 'Arguments', 'TimeoutSeconds', 'HeartbeatSeconds', 'Retry', 'Catch'] as const;
const ARGUMENTS: { readonly [call in Call]: readonly string[] } = {
  invoke: ['FunctionName', 'Payload'],
  invokeAndWait: ['FunctionName', 'Payload'],
  startExecution: ['StateMachineArn', 'Name', 'Input'],
};

/** AWS takes no longer delay between two tries. */
const LONGEST_DELAY_SECONDS = 31_622_399;

export function loadTask(name: string, value: unknown, path: string, place: Place, functionNames?: ReadonlySet<string>): TaskState {
  const fields = fieldsAt(value, path, [...COMMON, ...EXIT, ...TASK]);
  const resource = textAt(fields['Resource'], `${path}.Resource`);
  if (!Object.hasOwn(RESOURCES, resource)) refuse(`${path}.Resource`, `${resource} is not implemented here`);
  const call = RESOURCES[resource as keyof typeof RESOURCES];
  const given = fieldsAt(fields['Arguments'], `${path}.Arguments`, ARGUMENTS[call]);
  for (const key of ARGUMENTS[call]) if (given[key] === undefined) refuse(`${path}.Arguments`, `needs ${key}`);
  const timeoutSeconds =
    fields['TimeoutSeconds'] === undefined ? LONGEST_SECONDS : secondsAt(fields['TimeoutSeconds'], `${path}.TimeoutSeconds`, place, 1);
  const heartbeatSeconds =
    fields['HeartbeatSeconds'] === undefined ? undefined : secondsAt(fields['HeartbeatSeconds'], `${path}.HeartbeatSeconds`, place, 1);
  if (typeof heartbeatSeconds === 'number' && typeof timeoutSeconds === 'number' && heartbeatSeconds >= timeoutSeconds) {
    refuse(`${path}.HeartbeatSeconds`, 'must be less than TimeoutSeconds');
  }
  return {
    type: 'Task',
    name,
    call,
    functionName: call === 'startExecution' ? '' : functionNameAt(given['FunctionName'], `${path}.Arguments.FunctionName`, functionNames),
    arguments: compileTemplate(given, `${path}.Arguments`, { ...place, token: call === 'invokeAndWait' }),
    timeoutSeconds,
    heartbeatSeconds,
    retriers: retriersOf(fields['Retry'], `${path}.Retry`),
    catchers: catchersOf(fields['Catch'], `${path}.Catch`, place),
    exit: exitOf(fields, path, place, 'result'),
  };
}

function functionNameAt(value: unknown, path: string, functionNames?: ReadonlySet<string>): string {
  const name = textAt(value, path);
  if (name.includes('{%')) refuse(path, 'a function named by an expression is not implemented here');
  if (functionNames !== undefined && !functionNames.has(name)) refuse(path, `there is no function ${name}`);
  return name;
}

function retriersOf(value: unknown, path: string): Retrier[] {
  if (value === undefined) return [];
  const list = listAt(value, path);
  return list.map((entry, at): Retrier => {
    const here = `${path}[${at}]`;
    const known = ['Comment', 'ErrorEquals', 'IntervalSeconds', 'BackoffRate', 'MaxAttempts', 'MaxDelaySeconds', 'JitterStrategy'];
    const fields = fieldsAt(entry, here, known);
    const wholeOr = (field: string, least: number, most: number, otherwise: number): number =>
      fields[field] === undefined ? otherwise : wholeNumberAt(fields[field], `${here}.${field}`, least, most);
    const intervalSeconds = wholeOr('IntervalSeconds', 1, LONGEST_SECONDS, 1);
    const backoffRate = fields['BackoffRate'] ?? 2;
    if (typeof backoffRate !== 'number' || !(backoffRate >= 1)) refuse(`${here}.BackoffRate`, 'must be a number of at least 1');
    const jitter = fields['JitterStrategy'] ?? 'NONE';
    if (jitter !== 'NONE' && jitter !== 'FULL') refuse(`${here}.JitterStrategy`, 'must be NONE or FULL');
    return {
      errorEquals: errorEqualsAt(fields['ErrorEquals'], `${here}.ErrorEquals`, at === list.length - 1),
      intervalSeconds,
      backoffRate,
      maxAttempts: wholeOr('MaxAttempts', 0, LONGEST_SECONDS, 3),
      maxDelaySeconds:
        fields['MaxDelaySeconds'] === undefined
          ? undefined
          : wholeNumberAt(fields['MaxDelaySeconds'], `${here}.MaxDelaySeconds`, intervalSeconds + 1, LONGEST_DELAY_SECONDS),
      fullJitter: jitter === 'FULL',
    };
  });
}

function catchersOf(value: unknown, path: string, place: Place): Catcher[] {
  if (value === undefined) return [];
  const list = listAt(value, path);
  return list.map((entry, at): Catcher => {
    const here = `${path}[${at}]`;
    const fields = fieldsAt(entry, here, ['Comment', 'ErrorEquals', 'Assign', 'Output', 'Next']);
    const errorEquals = errorEqualsAt(fields['ErrorEquals'], `${here}.ErrorEquals`, at === list.length - 1);
    return { errorEquals, ...exitOf(fields, here, place, 'errorOutput') };
  });
}

function errorEqualsAt(value: unknown, path: string, last: boolean): string[] {
  const names = listAt(value, path).map((name, at) => textAt(name, `${path}[${at}]`));
  if (names.includes('States.ALL') && (names.length > 1 || !last)) refuse(path, 'States.ALL stands alone, in the last entry');
  return names;
}
