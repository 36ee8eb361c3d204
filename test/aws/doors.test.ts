/** The doors and what they are told: the lists that the functions and their deployment share. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROUTES } from '../../lib/api/routes.ts';
import { CONNECTING, DOORS, FUNCTION_NAMES, WORKERS } from '../../lib/aws/doors.ts';
import { readEnvironment, variablesOf } from '../../lib/aws/environment.ts';

const FUNCTIONS = join(import.meta.dirname, '../../functions');

/** A value for every variable. */
const FULL: NodeJS.ProcessEnv = {
  DISPATCH_TAG: 'aaaa',
  DISPATCH_CONFIG: 'clusters.json',
  DISPATCH_TABLE: 'table',
  DISPATCH_BUS: 'bus',
  DISPATCH_MACHINE_ARN: 'arn:aws:states:eu-north-1:123456789012:stateMachine:dispatch-aaaa',
  DISPATCH_TOKEN_KEYS: 'dispatch/aaaa/token-keys',
  DISPATCH_CALLERS: '[]',
  DISPATCH_MAX_ACTIVE_JOBS: '100',
  DISPATCH_LOG_LEVEL: 'INFO',
};

describe('doors', () => {
  test('every operation of the API has exactly one door', () => {
    const served = Object.values(DOORS).flat().sort();
    expect(served).toEqual(ROUTES.map((one) => one.id).sort());
  });

  test('every function is a file of functions/, and every file is a function', () => {
    const files = readdirSync(FUNCTIONS).map((file) => file.replace(/\.ts$/, ''));
    expect(files.sort()).toEqual([...FUNCTION_NAMES].sort());
  });

  test('every file makes the handler of its own name', () => {
    for (const name of FUNCTION_NAMES) {
      const kind = (WORKERS as readonly string[]).includes(name) ? 'worker' : 'door';
      expect(readFileSync(join(FUNCTIONS, `${name}.ts`), 'utf8')).toContain(`export const handler = ${kind}('${name}'`);
    }
  });

  test('a door that answers from the record alone reads no key of a cluster', () => {
    expect(CONNECTING).not.toContain('jobs');
    expect(CONNECTING).not.toContain('publish');
    expect(CONNECTING).not.toContain('park');
  });
});

describe('environment', () => {
  test.each(FUNCTION_NAMES)('%s: given what it needs, then it reads that and nothing else', (name) => {
    const { required, optional } = variablesOf(name);
    const read = readEnvironment(name, { ...FULL, PATH: '/bin', DISPATCH_OTHER: 'x' });
    expect(Object.keys(read).sort()).toEqual([...required, ...optional].sort());
  });

  test.each(FUNCTION_NAMES.filter((name) => variablesOf(name).required.length > 0))(
    '%s: given one variable less, then its first call names that variable',
    (name) => {
      for (const variable of variablesOf(name).required) {
        const { [variable]: _, ...less } = FULL;
        expect(() => readEnvironment(name, less)).toThrow(`the function ${name} is not deployed completely: ${variable} is not set`);
      }
    },
  );

  test('given a wrong value, then the variable is named and its value is not', () => {
    const wrong = () => readEnvironment('submit', { ...FULL, DISPATCH_TAG: 'SECRET', DISPATCH_MAX_ACTIVE_JOBS: 'many' });
    expect(wrong).toThrow(
      /DISPATCH_TAG must be 4 characters of lower-case base32; DISPATCH_MAX_ACTIVE_JOBS must be a whole number from 1$/,
    );
    expect(wrong).not.toThrow(/SECRET/);
  });

  test('least privilege: who never wakes is not told of the machine, and who neither signs nor checks not of the token keys', () => {
    const told = (variable: string) =>
      FUNCTION_NAMES.filter((name) => (variablesOf(name).required as readonly string[]).includes(variable));
    expect(told('DISPATCH_MACHINE_ARN')).toEqual(['submit', 'publish', 'jobs', 'advance', 'poll', 'reconcile']);
    expect(told('DISPATCH_TOKEN_KEYS')).toEqual(['publish', 'advance']);
    expect(variablesOf('document').required).toEqual([]);
  });
});
