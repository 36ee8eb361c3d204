/**
 * Templates: JSON of a definition in which some texts are expressions, compiled once into a function of a scope.
 *
 * Guards: a text that looks like an expression but is not whole is refused at load, so that no expression is passed on as a text.
 */

import { compileExpression, type Expression, FUNCTIONS, insideOf, type Place, type Scope, type Variables } from './expression.ts';
import { acrossBoundary, copyOf, type Json } from './json.ts';
import { refuse } from './refusal.ts';

export type Template = (scope: Scope) => Promise<Json>;
export type Assign = (scope: Scope) => Promise<Variables>;

type Part = { constant: Json } | { expression: Expression } | { list: Part[] } | { fields: [string, Part][] };

/** Throws MachineRefused at load; the template itself throws StateFault. */
export function compileTemplate(value: unknown, path: string, place: Place): Template {
  const part = compilePart(value, path, place);
  return async (scope) => (await evaluate(part, scope)) as Json;
}

/** Every value is worked out with the variables as they were: an Assign sees nothing of itself. */
export function compileAssign(value: unknown, path: string, place: Place): Assign {
  const entries = Object.entries(value as Record<string, unknown>).map(([name, template]) => {
    return [name, compilePart(template, `${path}.${name}`, place)] as const;
  });
  return async (scope) => {
    const assigned: Record<string, Json> = {};
    for (const [name, part] of entries) assigned[name] = acrossBoundary(await evaluate(part, scope), `variable $${name}`);
    return assigned;
  };
}

/** The names an Assign sets; refuses what is no name and what would hide `$states` or a function. */
export function assignedNames(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path, 'must be an object');
  const names = Object.keys(value);
  for (const name of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,79}$/.test(name)) refuse(`${path}.${name}`, 'is no name of a variable');
    if (name === 'states' || FUNCTIONS.has(name)) refuse(`${path}.${name}`, 'this name is taken');
  }
  return names;
}

function compilePart(value: unknown, path: string, place: Place): Part {
  if (typeof value === 'string') {
    const source = insideOf(value, path);
    return source === undefined ? { constant: value } : { expression: compileExpression(source, path, place) };
  }
  if (Array.isArray(value)) {
    const list = value.map((entry, at) => compilePart(entry, `${path}[${at}]`, place));
    return list.every((part) => 'constant' in part) ? { constant: value as Json } : { list };
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([key, entry]): [string, Part] => {
      if (key.endsWith('.$')) refuse(`${path}.${key}`, 'JSONPath is not implemented here');
      return [key, compilePart(entry, `${path}.${key}`, place)];
    });
    return fields.every(([, part]) => 'constant' in part) ? { constant: value as Json } : { fields };
  }
  return { constant: value as Json };
}

async function evaluate(part: Part, scope: Scope): Promise<unknown> {
  if ('constant' in part) return copyOf(part.constant);
  if ('expression' in part) return part.expression.evaluate(scope);
  if ('list' in part) {
    const list: unknown[] = [];
    for (const entry of part.list) list.push(await evaluate(entry, scope));
    return list;
  }
  const fields: Record<string, unknown> = {};
  for (const [key, entry] of part.fields) fields[key] = await evaluate(entry, scope);
  return fields;
}
