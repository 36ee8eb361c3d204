/**
 * API: the table of routes as one application, the same behind API Gateway, the local server and the tests.
 * Guards the order in which a request is judged: who calls, whether that caller may, what was sent, and only then the use case; so a
 * stranger learns nothing from a fault, and nothing is stored before everything was checked. No 5xx ever comes from bad input.
 */
import { Hono } from 'hono';
import { preflight } from '../app/cluster/preflight.ts';
import type { Ports } from '../app/ports.ts';
import { BusFailure, SupervisorsFailure } from '../app/ports.ts';
import { hasScope, type Principal } from '../app/principal.ts';
import type { TokenKeys } from '../checkpoint/token.ts';
import { ClusterFailure } from '../cluster/failure.ts';
import { SecretFailure } from '../cluster/secret.ts';
import { AssertionFailed } from '../job/assertion.ts';
import { RecordFailure } from '../job/failure.ts';
import { Problem, problemResponse } from './problem.ts';
import { bodyOf, headersOf, paramsOf, queryOf } from './request.ts';
import type { Call, Limits, Route } from './route.ts';
import { ROUTES } from './routes.ts';
import { createWatches } from './watches.ts';

export interface ApiDeps {
  readonly ports: () => Promise<Ports>;
  /** Who calls, from what the edge has verified; `environment` is what the platform passes along (API Gateway's request context). */
  readonly principalOf: (request: Request, environment: unknown) => Principal | undefined | Promise<Principal | undefined>;
  readonly limits?: Partial<Limits>;
  /** Of the attempts' tokens; without them no attempt can report. May be looked up at the first need. */
  readonly tokenKeys?: () => Promise<TokenKeys | undefined>;
  /** Which routes, by operation id; all of them unless told. */
  readonly only?: readonly string[];
  /** Begins a preflight by hand; unless told, in this process and without waiting for it. */
  readonly preflight?: (cluster: string, login: string) => Promise<void>;
  /** The OpenAPI document, where it is served. */
  readonly document?: () => Promise<unknown>;
}

const NOBODY: Principal = { id: '', groups: [], scopes: [] };
const WATCHES = 5;

export const createApi = (deps: ApiDeps): Hono => {
  const app = new Hono();
  const routes = deps.only ? ROUTES.filter((one) => deps.only?.includes(one.id)) : ROUTES;
  const fixed = {
    limits: { watches: WATCHES, ...deps.limits },
    watches: createWatches(),
    document: deps.document ?? (async () => undefined),
    preflight: deps.preflight ?? ((cluster, login) => inBackground(deps, cluster, login)),
  };
  for (const one of routes) {
    app.on(one.method.toUpperCase(), honoPath(one.path), async (c) => {
      const principal = await admitted(deps, one, c.req.raw, c.env);
      const read = {
        params: paramsOf(one, c.req.param()),
        query: queryOf(one, c.req.url),
        headers: headersOf(one, c.req.raw.headers),
        body: await bodyOf(one, c.req.raw),
      };
      const call: Call = {
        ...fixed,
        ...read,
        ports: await deps.ports(),
        principal,
        bearer: bearerOf(c.req.raw),
        signal: c.req.raw.signal,
        tokenKeys: one.access === 'attempt' ? await deps.tokenKeys?.() : undefined,
      };
      const { status, body, headers } = await one.handle(call as Call<never, never, never, never>);
      return new Response(JSON.stringify(body), {
        status,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
      });
    });
  }
  app.notFound((c) => problemResponse(nothingThere(routes, c.req.method, c.req.path)));
  app.onError(async (error, c) => problemResponse(await asProblem(error, deps, `${c.req.method} ${c.req.path}`)));
  return app;
};

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const admitted = async (deps: ApiDeps, one: Route, request: Request, environment: unknown): Promise<Principal> => {
  // An attempt has a token of its own, which its route checks; anyone needs none.
  if (one.access === 'anyone' || one.access === 'attempt') return NOBODY;
  const principal = await deps.principalOf(request, environment);
  if (!principal) throw new Problem('auth/missing', 'this needs a caller that is signed in');
  if (!hasScope(principal, one.access)) throw new Problem('auth/missing_scope', `this needs the scope '${one.access}'`);
  return principal;
};

const bearerOf = (request: Request): string => /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';

const nothingThere = (routes: readonly Route[], method: string, path: string): Problem => {
  const allowed = routes
    .filter((one) => new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map((one) => one.method.toUpperCase());
  if (allowed.length === 0) return new Problem('request/unknown_route', 'no route has this path');
  const allow = [...new Set(allowed.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])))].join(', ');
  return new Problem('request/wrong_method', `${method} does not fit here; use one of ${allow}`, { headers: { allow } });
};

/** Its answer is the cluster's record, so nobody waits here; what goes wrong besides is logged. */
const inBackground = async (deps: ApiDeps, cluster: string, login: string): Promise<void> => {
  const ports = await deps.ports();
  void preflight(ports, cluster, login, 'hand').catch((error: unknown) =>
    ports.log('error', 'API: a preflight broke', {
      cluster,
      login,
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    }),
  );
};

/** What the world did to us is said as such; anything else is our own fault, and only the log learns what it was. */
const asProblem = async (error: unknown, deps: ApiDeps, request: string): Promise<Problem> => {
  if (error instanceof Problem) return error;
  if (error instanceof RecordFailure) return new Problem(error.code, 'the record did not answer; nothing is known of what it stored');
  if (error instanceof SupervisorsFailure)
    return new Problem('record/unavailable', 'the supervisors could not be asked; repeat the request');
  if (error instanceof BusFailure) return new Problem('record/unavailable', 'it could not be passed on; repeat the request');
  // Its name is our own affair; that it is away for a moment is the caller's.
  if (error instanceof SecretFailure && error.retryable)
    return new Problem('record/unavailable', 'a secret of this deployment could not be read; repeat the request');
  if (error instanceof ClusterFailure) return new Problem('cluster/unreachable', error.message);
  if (isBadCursor(error)) return new Problem('request/bad_cursor', 'the cursor was not made for this list; begin it again without one');
  const kind = error instanceof AssertionFailed ? 'assertion failed' : 'unexpected error';
  const log = await logOf(deps);
  log('error', `API: ${kind}`, { request, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  return new Problem('internal', 'an error that nobody expected; it was logged');
};

/** Where the ports themselves could not be made, the process's own errors are all there is. */
const logOf = async (deps: ApiDeps): Promise<Ports['log']> => {
  const fallback: Ports['log'] = (level, message, fields) => console.error(JSON.stringify({ level, message, ...fields }));
  return deps.ports().then(
    (ports) => ports.log,
    () => fallback,
  );
};

const isBadCursor = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'record/bad_cursor';
