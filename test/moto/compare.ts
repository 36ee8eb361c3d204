/** Two traces of one scenario, field by field. */
import { isDeepStrictEqual } from 'node:util';
import type { Trace } from './scenario.ts';

export const FIELDS = [
  'status',
  'output',
  'error',
  'states',
  'events',
  'calls',
  'tokens',
  'starts',
  'delaysSeconds',
  'signals',
  'successors',
] as const;
export type Field = (typeof FIELDS)[number];

export const differing = (ours: Trace, theirs: Trace): Field[] => FIELDS.filter((field) => !isDeepStrictEqual(ours[field], theirs[field]));

/** For people: both sides of one field, lists from where they part. */
export const shown = (field: Field, ours: Trace, theirs: Trace): string => {
  const [our, their] = [ours[field], theirs[field]];
  if (!Array.isArray(our) || !Array.isArray(their)) return `${field}: ours ${JSON.stringify(our)}, theirs ${JSON.stringify(their)}`;
  const at = our.findIndex((entry: unknown, index) => !isDeepStrictEqual(entry, their[index]));
  const from = at === -1 ? our.length : at;
  const told = (list: readonly unknown[]): string => JSON.stringify(list.slice(from, from + 4));
  return `${field} from ${from + 1}: ours ${told(our)}, theirs ${told(their)}`;
};
