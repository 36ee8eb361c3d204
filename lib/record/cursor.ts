/**
 * Cursors: where a page of a list ended, opaque to whoever carries it.
 * A cursor belongs to one list (its name and the value it was asked for); anything else is refused rather than answered with
 * rows of another list. The check finds damage and guesses, it is no secret: a cursor opens nothing that its list would not.
 */
import { createHash } from 'node:crypto';

const MAX_CURSOR_BYTES = 1024;

export class CursorRefused extends Error {
  override readonly name = 'CursorRefused';
  readonly code = 'record/bad_cursor';
  readonly retryable = false;
  constructor() {
    super('this cursor was not made for this list');
  }
}

const check = (list: string, last: string): string => createHash('sha256').update(`${list}\n${last}`).digest('hex').slice(0, 12);

/** `last` is the key of the last row that was given. */
export const encodeCursor = (list: string, last: string): string =>
  Buffer.from(JSON.stringify([list, last, check(list, last)])).toString('base64url');

const fields = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw new CursorRefused();
  }
};

/** The key after which the next page begins; throws CursorRefused for what `encodeCursor(list, …)` never gave. */
export const decodeCursor = (list: string, cursor: string): string => {
  if (cursor.length > MAX_CURSOR_BYTES) throw new CursorRefused();
  const read = fields(cursor);
  if (!Array.isArray(read) || read[0] !== list) throw new CursorRefused();
  const last: unknown = read[1];
  // Decoding forgives stray characters and further fields; only the exact text, check included, counts.
  if (typeof last !== 'string' || last === '' || encodeCursor(list, last) !== cursor) throw new CursorRefused();
  return last;
};
