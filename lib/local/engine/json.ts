/**
 * The JSON boundary: what crosses from one state, function or caller to the next is text on AWS, so it is text here.
 *
 * Guards: nothing reaches a function or a state that would not survive the wire. `undefined` fields vanish, a Date becomes a string, a
 * class instance becomes a plain object, and what is larger than AWS allows ends the execution.
 */

import { StateFault } from './fault.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Limit of every input, output, payload, result and variable, in bytes of UTF-8 (reference: AWS service quotas, hard). */
export const DATA_LIMIT_BYTES = 262_144;

export function tooLarge(text: string): boolean {
  // UTF-8 needs at most three bytes for a UTF-16 unit: most texts need no count.
  return text.length * 3 > DATA_LIMIT_BYTES && Buffer.byteLength(text) > DATA_LIMIT_BYTES;
}

/** The text of a value; nothing at all becomes `null`, as a function's empty answer does on AWS. */
export function toText(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** A fresh copy of `value` as it looks on the other side. Throws `States.DataLimitExceeded`, which nothing catches. */
export function acrossBoundary(value: unknown, what: string): Json {
  const text = toText(value);
  if (tooLarge(text)) throw StateFault.terminal('States.DataLimitExceeded', `${what} is larger than ${DATA_LIMIT_BYTES} bytes`);
  return JSON.parse(text) as Json;
}

/** A copy that nobody can change under the reader. */
export function copyOf(value: Json): Json {
  return typeof value === 'object' && value !== null ? (JSON.parse(JSON.stringify(value)) as Json) : value;
}
