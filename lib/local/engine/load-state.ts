/**
 * One state of a definition → a State. The list of types and of their fields is closed; Map, Parallel and every JSONPath field are refused.
 */

import { compileExpression, insideOf, type Place, type Root } from './expression.ts';
import { loadTask } from './load-task.ts';
import type { ChoiceRule, ChoiceState, Exit, FailState, PassState, Seconds, State, WaitState } from './machine.ts';
import { fieldsAt, listAt, refuse, textAt, wholeNumberAt } from './refusal.ts';
import { compileAssign, compileTemplate } from './template.ts';

/** What every state may have. */
export const COMMON = ['Type', 'Comment', 'QueryLanguage'] as const;
export const EXIT = ['Assign', 'Output', 'Next', 'End'] as const;

/** Longest wait and time limit that AWS takes, in seconds. */
export const LONGEST_SECONDS = 99_999_999;

type Fields = Record<string, unknown>;

export function loadState(name: string, value: unknown, path: string, place: Place, functionNames?: ReadonlySet<string>): State {
  const fields = value as Fields | null;
  const language = fields?.['QueryLanguage'];
  if (language !== undefined && language !== 'JSONata') refuse(`${path}.QueryLanguage`, 'must be JSONata');
  switch (fields?.['Type']) {
    case 'Task':
      return loadTask(name, value, path, place, functionNames);
    case 'Choice':
      return loadChoice(name, value, path, place);
    case 'Wait':
      return loadWait(name, value, path, place);
    case 'Pass':
      return { type: 'Pass', name, exit: exitOf(fieldsAt(value, path, [...COMMON, ...EXIT]), path, place) } satisfies PassState;
    case 'Succeed': {
      const { Output } = fieldsAt(value, path, [...COMMON, 'Output']);
      return { type: 'Succeed', name, exit: exitOf({ Output, End: true }, path, place) } satisfies PassState;
    }
    case 'Fail':
      return loadFail(name, value, path, place);
    default:
      return refuse(`${path}.Type`, `state type ${String(fields?.['Type'])} is not implemented here`);
  }
}

/** Assign, Output and where to go: exactly one of Next and End. */
export function exitOf(fields: Fields, path: string, place: Place, ...more: Root[]): Exit {
  const at: Place = { ...place, roots: [...place.roots, ...more] };
  const next = fields['Next'] === undefined ? undefined : textAt(fields['Next'], `${path}.Next`);
  if (fields['End'] !== undefined && fields['End'] !== true) refuse(`${path}.End`, 'must be true or absent');
  if ((next === undefined) === (fields['End'] === undefined)) refuse(path, 'needs either Next or End');
  return {
    assign: fields['Assign'] === undefined ? undefined : compileAssign(fields['Assign'], `${path}.Assign`, at),
    output: fields['Output'] === undefined ? undefined : compileTemplate(fields['Output'], `${path}.Output`, at),
    next,
  };
}

/** A number of seconds, or an expression for one; `least` is what AWS takes here. */
export function secondsAt(value: unknown, path: string, place: Place, least: number): Seconds {
  if (typeof value !== 'string') return wholeNumberAt(value, path, least, LONGEST_SECONDS);
  const source = insideOf(value, path) ?? refuse(path, 'must be a number or an expression');
  return compileExpression(source, path, place);
}

function loadChoice(name: string, value: unknown, path: string, place: Place): ChoiceState {
  // Assign and Output beside Choices belong to the Default alone, which reads as if they were for every rule: not taken.
  const fields = fieldsAt(value, path, [...COMMON, 'Choices', 'Default']);
  const rules = listAt(fields['Choices'], `${path}.Choices`).map((rule, at): ChoiceRule => {
    const rulePath = `${path}.Choices[${at}]`;
    const known = fieldsAt(rule, rulePath, ['Comment', 'Condition', 'Assign', 'Output', 'Next']);
    const condition = known['Condition'];
    if (typeof condition !== 'boolean' && (typeof condition !== 'string' || insideOf(condition, `${rulePath}.Condition`) === undefined)) {
      refuse(`${rulePath}.Condition`, 'must be an expression or a boolean');
    }
    return { condition: compileTemplate(condition, `${rulePath}.Condition`, place), ...exitOf(known, rulePath, place) };
  });
  const otherwise = fields['Default'] === undefined ? undefined : textAt(fields['Default'], `${path}.Default`);
  return { type: 'Choice', name, rules, otherwise };
}

function loadWait(name: string, value: unknown, path: string, place: Place): WaitState {
  const fields = fieldsAt(value, path, [...COMMON, ...EXIT, 'Seconds', 'Timestamp']);
  if ((fields['Seconds'] === undefined) === (fields['Timestamp'] === undefined)) refuse(path, 'needs either Seconds or Timestamp');
  return {
    type: 'Wait',
    name,
    seconds: fields['Seconds'] === undefined ? undefined : secondsAt(fields['Seconds'], `${path}.Seconds`, place, 0),
    timestamp:
      fields['Timestamp'] === undefined
        ? undefined
        : compileTemplate(textAt(fields['Timestamp'], `${path}.Timestamp`), `${path}.Timestamp`, place),
    exit: exitOf(fields, path, place),
  };
}

function loadFail(name: string, value: unknown, path: string, place: Place): FailState {
  const fields = fieldsAt(value, path, [...COMMON, 'Error', 'Cause']);
  const textOf = (field: string) =>
    compileTemplate(fields[field] === undefined ? '' : textAt(fields[field], `${path}.${field}`), `${path}.${field}`, place);
  return { type: 'Fail', name, error: textOf('Error'), cause: textOf('Cause') };
}
