/**
 * What most states share: the fields that every state has, how a state is left, and figures of seconds.
 */

import { compileExpression, insideOf, type Place, type Root } from './expression.ts';
import type { Exit, Seconds } from './machine.ts';
import { refuse, textAt, wholeNumberAt } from './refusal.ts';
import { compileAssign, compileTemplate } from './template.ts';

/** What every state may have. */
export const COMMON = ['Type', 'Comment', 'QueryLanguage'] as const;
export const EXIT = ['Assign', 'Output', 'Next', 'End'] as const;

/** Longest wait and time limit that AWS takes, in seconds. */
export const LONGEST_SECONDS = 99_999_999;

export type Fields = Record<string, unknown>;

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
