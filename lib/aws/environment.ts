/**
 * Environment: the one list of what a deployment tells its functions, and which function reads what. Whatever deploys them sets exactly
 * these (`variablesOf`), and the functions read nothing else; beside it there is only what the platform itself provides (region,
 * credentials, the function's own name).
 * Guards: a function that lacks something says which variable in its first call, not when it first needs it; and no variable ever holds
 * a secret: secrets are named.
 */
import * as z from 'zod';
import { TAG } from '../job/identity.ts';
import { FUNCTION_NAMES, type FunctionName } from './doors.ts';

const name = z.string().min(1).max(2048);

const VARIABLES = {
  /** Which deployment's objects on a cluster are ours. */
  DISPATCH_TAG: z.string().regex(TAG, 'must be 4 characters of lower-case base32'),
  /** The file of clusters (docs/configuration.md), beside the function's code. */
  DISPATCH_CONFIG: name,
  /** Name of the record's table. */
  DISPATCH_TABLE: name,
  /** Name of the bus that domain events go to. */
  DISPATCH_BUS: name,
  /** The state machine of supervisors. */
  DISPATCH_MACHINE_ARN: name,
  /** Name of the secret with the keys of attempts' tokens: `{"keys": [{"id": "k1", "secret": "<base64, at least 32 bytes>"}]}`. */
  DISPATCH_TOKEN_KEYS: name,
  /** IAM callers: JSON, see principal.ts. Callers with a token need none. */
  DISPATCH_CALLERS: name.optional(),
  /** Active jobs of one project; without it there is no limit. */
  DISPATCH_MAX_ACTIVE_JOBS: z
    .string()
    .regex(/^[1-9]\d{0,6}$/, 'must be a whole number from 1')
    .optional(),
  /** DEBUG, INFO, WARN or ERROR. */
  DISPATCH_LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).optional(),
} as const satisfies Readonly<Record<string, z.ZodType>>;
export type Variable = keyof typeof VARIABLES;

const all = FUNCTION_NAMES.filter((one) => one !== 'document');
const doors: readonly FunctionName[] = ['submit', 'plan', 'jobs', 'output', 'clusters'];

/** Least privilege begins here: who is not told a name cannot use what it names. */
const READERS: Readonly<Record<Variable, readonly FunctionName[]>> = {
  DISPATCH_TAG: all,
  DISPATCH_CONFIG: all,
  DISPATCH_TABLE: all,
  DISPATCH_BUS: all,
  // Whoever commits to a job may have to wake its supervisor; submit and reconcile also start one.
  DISPATCH_MACHINE_ARN: ['submit', 'jobs', 'publish', 'advance', 'poll', 'reconcile'],
  // Advance signs the token that an attempt is given; publish checks it.
  DISPATCH_TOKEN_KEYS: ['publish', 'advance'],
  DISPATCH_CALLERS: doors,
  DISPATCH_MAX_ACTIVE_JOBS: ['submit'],
  DISPATCH_LOG_LEVEL: FUNCTION_NAMES,
};

/** What this function must be given, and what it may be given. */
export const variablesOf = (one: FunctionName): { readonly required: readonly Variable[]; readonly optional: readonly Variable[] } => {
  const read = (Object.keys(READERS) as Variable[]).filter((variable) => READERS[variable].includes(one));
  const isOptional = (variable: Variable): boolean => VARIABLES[variable].safeParse(undefined).success;
  return { required: read.filter((variable) => !isOptional(variable)), optional: read.filter(isOptional) };
};

/** What this function reads, checked; what it does not read is absent. */
export type Environment = { readonly [V in Variable]?: string | undefined };

/** Throws an Error that names every variable that is missing or wrong, and no value. */
export const readEnvironment = (one: FunctionName, environment: NodeJS.ProcessEnv): Environment => {
  const { required, optional } = variablesOf(one);
  const shape = Object.fromEntries([...required, ...optional].map((variable) => [variable, VARIABLES[variable]]));
  const parsed = z.object(shape).safeParse(environment);
  if (parsed.success) return parsed.data as Environment;
  const faults = parsed.error.issues.map((issue) => {
    const variable = String(issue.path[0]);
    return `${variable} ${environment[variable] === undefined ? 'is not set' : issue.message}`;
  });
  throw new Error(`the function ${one} is not deployed completely: ${faults.join('; ')}`);
};
