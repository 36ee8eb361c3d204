/**
 * One state of a definition → a State. The list of types and of their fields is closed; Map, Parallel and every JSONPath field are refused.
 */

import { insideOf, type Place } from './expression.ts';
import { COMMON, EXIT, exitOf, type Fields, secondsAt } from './load-exit.ts';
import { loadTask } from './load-task.ts';
import type { ChoiceRule, ChoiceState, FailState, PassState, State, WaitState } from './machine.ts';
import { fieldsAt, listAt, refuse, textAt } from './refusal.ts';
import { compileTemplate } from './template.ts';

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
