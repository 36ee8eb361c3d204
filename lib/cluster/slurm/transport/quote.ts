/**
 * Quoting for a POSIX shell: the only way by which text that others chose (names, paths, reasons) may enter a program.
 *
 * Invariant: sh reads `quote(arg)` as exactly one word whose bytes are the UTF-8 of `arg`.
 */
import assert from 'node:assert/strict';

/** One single-quoted word. Refuses NUL, which no argument can hold, and lone surrogates, which have no UTF-8. */
export function quote(arg: string): string {
  assert(!arg.includes('\0'), 'a shell argument cannot hold NUL');
  assert(arg.isWellFormed(), 'a shell argument must be well-formed Unicode');
  // Nothing is special within single quotes but their end, which is closed, given as an escaped quote, and opened again.
  return `'${arg.replaceAll("'", `'\\''`)}'`;
}
