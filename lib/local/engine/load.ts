/**
 * A definition (Amazon States Language, JSONata) → a Machine, or MachineRefused naming the place.
 *
 * Guards the engine's promise: everything in a loaded machine is implemented, every target exists, every `${…}` was replaced and every
 * function is there. What is checked here cannot surprise a running execution.
 */

import type { Place } from './expression.ts';
import { loadState } from './load-state.ts';
import type { Machine, State } from './machine.ts';
import { fieldsAt, refuse, textAt, wholeNumberAt } from './refusal.ts';
import { assignedNames } from './template.ts';

/** What replaces `${Name}` in the definition, as CloudFormation does at deployment. */
export type Substitutions = { readonly [name: string]: string };

/** AWS ends any execution after a year. */
const YEAR_SECONDS = 31_536_000;

/** `definition`: the JSON, as text or parsed (it is not changed). `functionNames`: which functions can be called; omitted: any. */
export function loadMachine(definition: unknown, substitutions: Substitutions = {}, functionNames?: ReadonlySet<string>): Machine {
  const parsed: unknown = typeof definition === 'string' ? JSON.parse(definition) : definition;
  const whole = fieldsAt(substitute(parsed, '$', substitutions), '$', [
    'Comment',
    'QueryLanguage',
    'StartAt',
    'States',
    'TimeoutSeconds',
    'Version',
  ]);
  if (whole['QueryLanguage'] !== 'JSONata') refuse('$.QueryLanguage', 'must be JSONata: JSONPath is not implemented here');
  if (whole['Version'] !== undefined && whole['Version'] !== '1.0') refuse('$.Version', 'must be 1.0');
  const raw = statesOf(whole['States']);
  const place: Place = { roots: ['input', 'context'], token: false, variables: variablesOf(raw) };
  const states = new Map(
    Object.entries(raw).map(([name, value]) => [name, loadState(name, value, `$.States.${name}`, place, functionNames)]),
  );
  const startAt = textAt(whole['StartAt'], '$.StartAt');
  if (!states.has(startAt)) refuse('$.StartAt', `there is no state ${startAt}`);
  for (const state of states.values()) checkTargets(state, states);
  const timeoutSeconds =
    whole['TimeoutSeconds'] === undefined ? undefined : wholeNumberAt(whole['TimeoutSeconds'], '$.TimeoutSeconds', 1, YEAR_SECONDS);
  return { startAt, timeoutSeconds, states };
}

function substitute(value: unknown, path: string, substitutions: Substitutions): unknown {
  if (typeof value === 'string') {
    const replaced = value.replaceAll(/\$\{([A-Za-z0-9_]+)\}/g, (whole, name: string) => substitutions[name] ?? whole);
    if (replaced.includes('${')) refuse(path, `nothing replaces ${/\$\{[^}]*\}?/.exec(replaced)?.[0]}`);
    return replaced;
  }
  if (Array.isArray(value)) return value.map((entry, at) => substitute(entry, `${path}[${at}]`, substitutions));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (key.includes('${')) refuse(`${path}.${key}`, 'only texts are replaced, not names of fields');
      return [key, substitute(entry, `${path}.${key}`, substitutions)];
    }),
  );
}

function statesOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('$.States', 'must be an object');
  for (const name of Object.keys(value)) if (name.length > 80) refuse(`$.States.${name}`, 'a name has at most 80 characters');
  return value as Record<string, unknown>;
}

/** Every variable that any state, choice rule or catcher assigns. */
function variablesOf(states: Record<string, unknown>): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (holder: unknown, path: string): void => {
    const assign = (holder as { Assign?: unknown } | null)?.Assign;
    if (assign !== undefined) for (const name of assignedNames(assign, `${path}.Assign`)) names.add(name);
  };
  for (const [name, state] of Object.entries(states)) {
    add(state, `$.States.${name}`);
    for (const key of ['Choices', 'Catch'] as const) {
      const list = (state as { [field: string]: unknown } | null)?.[key];
      if (Array.isArray(list)) for (const [at, entry] of list.entries()) add(entry, `$.States.${name}.${key}[${at}]`);
    }
  }
  return names;
}

function checkTargets(state: State, states: ReadonlyMap<string, State>): void {
  const target = (name: string | undefined, place: string): void => {
    if (name !== undefined && !states.has(name)) refuse(`$.States.${state.name}.${place}`, `there is no state ${name}`);
  };
  if (state.type === 'Choice') {
    for (const [at, rule] of state.rules.entries()) target(rule.next, `Choices[${at}].Next`);
    target(state.otherwise, 'Default');
  } else if (state.type !== 'Fail') {
    target(state.exit.next, 'Next');
  }
  if (state.type === 'Task') for (const [at, catcher] of state.catchers.entries()) target(catcher.next, `Catch[${at}].Next`);
}
