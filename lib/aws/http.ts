/** Doors behind API Gateway: a part of the API's table as one function, and who calls it. */
import { handle } from 'hono/aws-lambda';
import { createApi } from '../api/api.ts';
import type { Limits } from '../api/route.ts';
import { preflight } from '../app/cluster/preflight.ts';
import { type Callers, callersSchema, principalOf } from './principal.ts';
import { wired } from './wiring.ts';

type Handler = ReturnType<typeof handle>;

/** `only`: the operation ids of the table that this door serves. */
export const door = (only: readonly string[], document?: () => Promise<unknown>): Handler =>
  handle(
    createApi({
      ports: wired,
      only,
      limits: limitsOf(process.env),
      principalOf: (_, environment) => principalOf(contextOf(environment), callersOf(process.env)),
      // A function is frozen once it has answered: what it begins, it finishes first.
      preflight: async (cluster, login) => void (await preflight(await wired(), cluster, login, 'hand')),
      ...(document ? { document } : {}),
    }),
  );

const contextOf = (environment: unknown): unknown =>
  typeof environment === 'object' && environment !== null && 'requestContext' in environment ? environment.requestContext : undefined;

const limitsOf = (environment: NodeJS.ProcessEnv): Partial<Limits> => {
  const most = Number(environment['DISPATCH_MAX_ACTIVE_JOBS']);
  return Number.isInteger(most) && most > 0 ? { maxActiveJobs: most } : {};
};

let callers: Callers | undefined;
/** IAM callers and their scopes, as the deployment's configuration lists them. */
const callersOf = (environment: NodeJS.ProcessEnv): Callers => {
  callers ??= callersSchema.parse(JSON.parse(environment['DISPATCH_CALLERS'] ?? '[]'));
  return callers;
};
