/**
 * Bounds of what a user wrote, checked before anything else reads it: depth, size, and characters that no shell, record or
 * scheduler carries. Guards the readers that follow: they may recurse, because nothing deeper than DEEPEST reaches them.
 */
import { childPath, counted, type Faults, kindOf, refuse } from './refusal.ts';

export const DEEPEST = 32;
export const MOST_VALUES = 20_000;

interface Visit {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/** False when the input is too deep or too large to be read at all; other faults are collected and reading goes on. */
export const withinBounds = (input: unknown, faults: Faults): boolean => {
  // A list instead of recursion: the input's depth is not ours to trust.
  const waiting: Visit[] = [{ value: input, path: '', depth: 0 }];
  let seen = 0;
  for (let visit = waiting.pop(); visit; visit = waiting.pop()) {
    seen += 1;
    const { value, path, depth } = visit;
    if (depth > DEEPEST) {
      refuse(faults, path, 'too_deep', `is nested more than ${DEEPEST} deep; flatten it`);
      return false;
    }
    if (seen + waiting.length > MOST_VALUES) {
      refuse(faults, '', 'too_large', `holds more than ${counted(MOST_VALUES)} values; make it smaller`);
      return false;
    }
    if (typeof value === 'object' && value !== null) {
      // Pushed in reverse, so that faults come in the order in which they were written.
      const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
      if (seen + keys.length > MOST_VALUES) {
        refuse(faults, path, 'too_large', `holds ${counted(keys.length)} values; the spec may hold ${counted(MOST_VALUES)}`);
        return false;
      }
      for (const key of keys.reverse()) {
        if (typeof key === 'string') checkKey(key, path, faults);
        waiting.push({ value: (value as Record<string | number, unknown>)[key], path: childPath(path, key), depth: depth + 1 });
      }
    } else checkLeaf(value, path, faults);
  }
  return true;
};

const checkKey = (key: string, path: string, faults: Faults): void => {
  checkText(key, childPath(path, key), faults, 'the name');
  // Assigning it would change an object's prototype somewhere down the line instead of storing a value.
  if (key === '__proto__') refuse(faults, childPath(path, key), 'reserved', 'is a name that cannot be used; choose another');
};

const checkLeaf = (value: unknown, path: string, faults: Faults): void => {
  if (typeof value === 'string') checkText(value, path, faults, 'the text');
  else if (typeof value === 'number' && !Number.isFinite(value)) refuse(faults, path, 'wrong_type', 'is no finite number');
  else if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    refuse(faults, path, 'wrong_type', `is ${kindOf(value)}, which JSON cannot hold`);
};

const checkText = (text: string, path: string, faults: Faults, what: string): void => {
  if (text.includes('\0')) refuse(faults, path, 'forbidden_character', `${what} holds a NUL character; remove it`);
  else if (!text.isWellFormed()) refuse(faults, path, 'forbidden_character', `${what} holds half a surrogate pair; send valid Unicode`);
};
