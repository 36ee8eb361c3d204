/**
 * Readers: one small function per shape that a user may write, each turning unknown JSON into a value or a fault with its path.
 * They exist, beside the schemas of the normalized form, because people need every fault at once and the fix for each.
 * Guards: nothing is guessed or coerced; an unknown key or name never passes.
 */
import { nearest } from './nearest.ts';
import { childPath, counted, type Faults, kindOf, quote, refuse } from './refusal.ts';

/** The value, or undefined after a fault was collected. */
export type Read<T> = (value: unknown, path: string, faults: Faults) => T | undefined;

export interface Field<T, Optional extends boolean> {
  readonly read: Read<T>;
  readonly optional: Optional;
  readonly fallback?: () => T;
  /** What to write where it is missing, in words. */
  readonly write?: string;
}
export const required = <T>(read: Read<T>, write?: string): Field<T, false> => ({
  read,
  optional: false,
  ...(write === undefined ? {} : { write }),
});
export const optional = <T>(read: Read<T>): Field<T, true> => ({ read, optional: true });
export const withDefault = <T>(read: Read<T>, fallback: () => T): Field<T, false> => ({ read, optional: false, fallback });

type Shape = Readonly<Record<string, Field<unknown, boolean>>>;
type Held<F> = F extends Field<infer T, boolean> ? T : never;
type Given<S> = { [K in keyof S as S[K] extends Field<unknown, true> ? never : K]: Held<S[K]> } & {
  [K in keyof S as S[K] extends Field<unknown, true> ? K : never]?: Held<S[K]>;
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object of exactly these keys. `later` names keys that the design knows and this release does not: key → what to do. */
export const object =
  <S extends Shape>(shape: S, later: Readonly<Record<string, string>> = {}): Read<Given<S>> =>
  (value, path, faults) => {
    if (!isObject(value)) return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write an object`);
    const before = faults.met;
    const known = Object.keys(shape);
    for (const key of Object.keys(value)) {
      if (value[key] === undefined || Object.hasOwn(shape, key)) continue;
      if (Object.hasOwn(later, key)) refuse(faults, childPath(path, key), 'unsupported', later[key]!);
      else refuse(faults, childPath(path, key), 'unknown_key', unknownSays(key, known, 'key'));
    }
    const given: Record<string, unknown> = {};
    for (const key of known) {
      const field = shape[key]!;
      const member = Object.hasOwn(value, key) ? value[key] : undefined;
      if (member !== undefined) given[key] = field.read(member, childPath(path, key), faults);
      else if (field.fallback) given[key] = field.fallback();
      else if (!field.optional) {
        refuse(faults, childPath(path, key), 'missing', field.write === undefined ? 'is required' : `is required: ${field.write}`);
      }
    }
    return faults.met === before ? (given as Given<S>) : undefined;
  };

const LISTED_NAMES = 48;
export const unknownSays = (word: string, known: readonly string[], what: string): string => {
  const near = nearest(word, known);
  const names = known.slice(0, LISTED_NAMES).join(', ') + (known.length > LISTED_NAMES ? ', …' : '');
  return near === undefined ? `is no known ${what}; known: ${names}` : `is no known ${what}; did you mean "${near}"? known: ${names}`;
};

export const choice =
  <T extends string>(known: readonly T[], what: string): Read<T> =>
  (value, path, faults) => {
    const found = known.find((name) => name === value);
    if (found !== undefined) return found;
    if (typeof value !== 'string') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write one of ${known.join(', ')}`);
    return refuse(faults, path, 'unknown_value', `${quote(value)} ${unknownSays(value, known, what)}`);
  };

export interface TextLimits {
  readonly most: number;
  /** What it must look like, and that in words: `letters, digits, ...`. Without it any text that is not empty passes. */
  readonly like?: { readonly pattern: RegExp; readonly says: string };
}
export const text =
  ({ most, like }: TextLimits): Read<string> =>
  (value, path, faults) => {
    if (typeof value !== 'string') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write text`);
    if (value.length === 0) return refuse(faults, path, 'malformed', 'is empty; write something or leave the key out');
    if (value.length > most)
      return refuse(faults, path, 'too_long', `has ${counted(value.length)} characters; at most ${counted(most)} are allowed`);
    if (like && !like.pattern.test(value)) return refuse(faults, path, 'malformed', `${quote(value)} must be ${like.says}`);
    return value;
  };

/** What names a thing of ours: safe in a path, a label, a URL and a shell. */
export const LABEL = {
  pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
  says: 'letters, digits, ".", "_" and "-", a letter or digit at both ends',
};
export const label = text({ most: 63, like: LABEL });
/** What a scheduler calls something: printable, without white space, and never mistaken for an option. */
export const WORD = { pattern: /^(?!-)[^\s\p{C}]+$/u, says: 'one printable word without white space that does not begin with "-"' };
export const word = text({ most: 256, like: WORD });

export const whole =
  (least: number, most: number): Read<number> =>
  (value, path, faults) => {
    const range = `a whole number from ${counted(least)} to ${counted(most)}`;
    if (typeof value !== 'number') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write ${range}`);
    if (!Number.isInteger(value) || value < least || value > most)
      return refuse(faults, path, 'out_of_range', `${quote(value)} is not ${range}`);
    return value;
  };

/** A number in [from, most], or in (above, most]. */
export const factor =
  (limits: { readonly from?: number; readonly above?: number; readonly most: number }): Read<number> =>
  (value, path, faults) => {
    const range =
      limits.above === undefined
        ? `a number from ${limits.from} to ${limits.most}`
        : `a number above ${limits.above}, at most ${limits.most}`;
    if (typeof value !== 'number') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write ${range}`);
    const enough = limits.above === undefined ? value >= (limits.from ?? 0) : value > limits.above;
    return enough && value <= limits.most ? value : refuse(faults, path, 'out_of_range', `${quote(value)} is not ${range}`);
  };

export const truth: Read<boolean> = (value, path, faults) =>
  typeof value === 'boolean' ? value : refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write true or false`);

export const listOf =
  <T>(read: Read<T>, most: number, least = 1): Read<T[]> =>
  (value, path, faults) => {
    if (!Array.isArray(value)) return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write a list`);
    if (value.length < least) return refuse(faults, path, 'missing', `needs at least ${least} entry`);
    if (value.length > most)
      return refuse(faults, path, 'too_many', `has ${counted(value.length)} entries; at most ${counted(most)} are allowed`);
    const before = faults.met;
    const items = value.map((item, i) => read(item, childPath(path, i), faults));
    return faults.met === before ? (items as T[]) : undefined;
  };

/** One value or a list of them; always a list without repetitions afterwards. */
export const oneOrMany =
  <T>(read: Read<T>, most: number): Read<T[]> =>
  (value, path, faults) => {
    if (Array.isArray(value)) return unique(listOf(read, most))(value, path, faults);
    const item = read(value, path, faults);
    return item === undefined ? undefined : [item];
  };

export const unique =
  <T>(read: Read<T[]>): Read<T[]> =>
  (value, path, faults) => {
    const items = read(value, path, faults);
    return items && [...new Set(items)];
  };

/** Reads on with what was read, so that faults between fields get a path too. */
export const checked =
  <T, U>(read: Read<T>, next: (value: T, path: string, faults: Faults) => U | undefined): Read<U> =>
  (value, path, faults) => {
    const first = read(value, path, faults);
    return first === undefined ? undefined : next(first, path, faults);
  };
