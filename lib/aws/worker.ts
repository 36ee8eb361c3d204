/**
 * Worker: what every function that is not behind the API has around its handler: its wiring, what its log lines are about, what it
 * counts, and that a failure is said with its code before the platform repeats the invocation.
 * Guards: the handler itself is the one that the local process runs too; nothing here decides.
 */
import type { Ports } from '../app/ports.ts';
import type { WorkerName } from './doors.ts';
import type { Invocation } from './log.ts';
import { type Deployed, deployedAs } from './wiring.ts';

export type Handler<O> = (ports: () => Promise<Ports>) => (event: unknown, remainingMs?: () => number) => Promise<O>;

export interface Worker<O> {
  readonly handler: Handler<O>;
  /** What is said and counted of a result. */
  readonly tell?: (told: Pick<Deployed, 'meter'> & { readonly log: Ports['log'] }, result: O, event: unknown) => void;
  /** Names of errors that are answers of this function. */
  readonly answers?: readonly string[];
}

export const worker = <O>(name: WorkerName, { handler, tell, answers = [] }: Worker<O>) => {
  const handle = handler(async () => (await deployedAs(name)).ports);
  return async (event: unknown, invocation?: Invocation): Promise<O> => {
    const { log, meter } = await deployedAs(name);
    log.begin(invocation, aboutOf(event));
    try {
      const result = await handle(event, invocation && (() => invocation.getRemainingTimeInMillis()));
      tell?.({ log: log.log, meter }, result, event);
      return result;
    } catch (error) {
      const known = error instanceof Error && answers.includes(error.name);
      log.log(known ? 'info' : 'error', known ? 'answered by an error' : `${name} failed`, failureOf(error));
      throw error;
    } finally {
      meter.flush();
    }
  };
};

const failureOf = (error: unknown): Readonly<Record<string, unknown>> => {
  if (!(error instanceof Error)) return { error: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { error: `${error.name}: ${error.message}`.slice(0, 1024), ...code };
};

/** Of an event, what lines are searched by; never a token or an answer. */
const ABOUT = ['job', 'generation', 'version', 'question', 'cluster', 'login'] as const;
const aboutOf = (event: unknown): Readonly<Record<string, unknown>> => {
  if (typeof event !== 'object' || event === null) return {};
  const given = event as Readonly<Record<string, unknown>>;
  return Object.fromEntries(ABOUT.flatMap((name) => (['string', 'number'].includes(typeof given[name]) ? [[name, given[name]]] : [])));
};
