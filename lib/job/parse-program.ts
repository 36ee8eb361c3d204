/**
 * Reads `program` and `checkpoint`: what runs, in which environment, and where it saves (contract §4, §8.1 of the protocols).
 * Guards: exactly one of script and command; no reserved name; values of `env` and `secrets` never appear in a refusal.
 */

import { checked, choice, isObject, listOf, object, optional, type Read, required, text, truth, withDefault, word } from './parse-value.ts';
import { bytesOf, childPath, counted, type Faults, kindOf, quote, refuse } from './refusal.ts';
import { COMPLETION_MARKERS, type Spec } from './spec.ts';

export const SCRIPT_BYTES = 64 * 1024;
export const COMMAND_BYTES = 64 * 1024;
/** `env` and `secrets` together. */
export const ENVIRONMENT_NAMES = 200;
export const ENVIRONMENT_BYTES = 32 * 1024;
const NAME_CHARACTERS = 256;
const RESERVED_PREFIX = 'DISPATCH_';

const weighs = (value: string, most: number, path: string, faults: Faults, what: string): string | undefined => {
  const bytes = bytesOf(value);
  return bytes <= most
    ? value
    : refuse(faults, path, 'too_large', `${what} has ${counted(bytes)} bytes; at most ${counted(most)} are allowed`);
};

const script: Read<string> = (value, path, faults) => {
  if (typeof value !== 'string') return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write the text of the script`);
  if (value.trim() === '') return refuse(faults, path, 'malformed', 'is empty; write the text of the script or use command');
  return weighs(value, SCRIPT_BYTES, path, faults, 'the script');
};

const argument: Read<string> = (value, path, faults) =>
  typeof value === 'string' ? value : refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write text`);

const command: Read<string[]> = checked(listOf(argument, 1024), (words, path, faults) => {
  if (words[0] === '') return refuse(faults, childPath(path, 0), 'malformed', 'is empty; the first word names what to run');
  const bytes = words.reduce((sum, one) => sum + bytesOf(one) + 1, 0);
  if (bytes <= COMMAND_BYTES) return words;
  return refuse(faults, path, 'too_large', `has ${counted(bytes)} bytes; at most ${counted(COMMAND_BYTES)} are allowed`);
});

const checkName = (name: string, path: string, faults: Faults): void => {
  if (name.length > NAME_CHARACTERS)
    refuse(faults, path, 'too_long', `the name has ${counted(name.length)} characters; at most ${NAME_CHARACTERS} are allowed`);
  else if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    refuse(faults, path, 'malformed', `${quote(name)} is no name of a variable; use letters, digits and "_", no digit first`);
  else if (name.startsWith(RESERVED_PREFIX))
    refuse(faults, path, 'reserved', `names that begin with ${RESERVED_PREFIX} are dispatch's own; choose another`);
};

const tooManyNames = (count: number, path: string, faults: Faults): undefined =>
  refuse(faults, path, 'too_many', `env and secrets have ${counted(count)} names; at most ${ENVIRONMENT_NAMES} are allowed together`);

/** A table of variables; with too many names it is refused as one fault, not name by name. */
const variables =
  <T>(read: Read<T>): Read<Record<string, T>> =>
  (value, path, faults) => {
    if (!isObject(value)) return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write an object of names`);
    const names = Object.keys(value);
    if (names.length > ENVIRONMENT_NAMES) return tooManyNames(names.length, path, faults);
    const before = faults.met;
    const entries = names.map((name): [string, T | undefined] => {
      checkName(name, childPath(path, name), faults);
      return [name, read(value[name], childPath(path, name), faults)];
    });
    return faults.met === before ? (Object.fromEntries(entries) as Record<string, T>) : undefined;
  };

const environmentValue: Read<string> = (value, path, faults) =>
  typeof value === 'string' ? value : refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write text, in quotes`);

const absolutePath: Read<string> = checked(text({ most: 256 }), (path, at, faults) =>
  path.startsWith('/') && !/\p{Cc}/u.test(path)
    ? path
    : refuse(faults, at, 'malformed', `${quote(path)} is no absolute path; begin it with "/" and use no control characters`),
);

const form = object({
  script: optional(script),
  command: optional(command),
  image: optional(word),
  workdir: optional(absolutePath),
  env: withDefault(variables(environmentValue), () => ({}) as Record<string, string>),
  secrets: withDefault(variables(object({ ref: required(word) })), () => ({}) as Record<string, { ref: string }>),
});

export const program: Read<Spec['program']> = checked(form, (program, path, faults) => {
  const before = faults.met;
  if (program.script === undefined && program.command === undefined) refuse(faults, path, 'missing', 'needs script or command');
  if (program.script !== undefined && program.command !== undefined)
    refuse(faults, childPath(path, 'command'), 'conflict', 'stands beside script; keep one of the two');
  const names = Object.keys(program.env);
  const secrets = Object.keys(program.secrets);
  for (const name of secrets)
    if (Object.hasOwn(program.env, name))
      refuse(faults, childPath(childPath(path, 'secrets'), name), 'conflict', 'stands in env too; keep one of the two');
  const at = childPath(path, 'env');
  if (names.length + secrets.length > ENVIRONMENT_NAMES) tooManyNames(names.length + secrets.length, at, faults);
  const bytes = names.reduce((sum, name) => sum + bytesOf(name) + bytesOf(program.env[name]!), 0);
  if (bytes > ENVIRONMENT_BYTES)
    refuse(faults, at, 'too_large', `names and values have ${counted(bytes)} bytes; at most ${counted(ENVIRONMENT_BYTES)} are allowed`);
  return faults.met === before ? program : undefined;
});

const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/[^\s\p{C}]+$/u;

const root: Read<string> = checked(text({ most: 512 }), (value, path, faults) => {
  const trimmed = value.replace(/\/+$/, '');
  const parts = trimmed.split('/');
  const absolute = /^\/[^\p{Cc}]+$/u.test(trimmed) || BUCKET.test(trimmed);
  if (absolute && !parts.includes('..') && !parts.includes('.')) return trimmed;
  return refuse(
    faults,
    path,
    'malformed',
    `${quote(value)} must be an absolute path on the cluster or s3://bucket/prefix, without "." and ".."`,
  );
});

export const checkpoint: Read<NonNullable<Spec['checkpoint']>> = object({
  root: optional(root),
  completionMarker: optional(choice(COMPLETION_MARKERS, 'completion marker')),
  required: withDefault(truth, () => false),
});
