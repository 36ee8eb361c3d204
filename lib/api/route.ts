/**
 * Route: one entry of the table that the router, the OpenAPI document and the doors are all made from.
 * Guards that they cannot differ: what a route accepts and answers is written once, beside the code that does it.
 */
import type * as z from 'zod';
import type { Ports } from '../app/ports.ts';
import type { Principal, Scope } from '../app/principal.ts';
import type { TokenKeys } from '../checkpoint/token.ts';
import type { ProblemCode } from './problem.ts';
import type { Watches } from './watches.ts';

export interface Limits {
  /** Of one project; undefined: no limit. */
  readonly maxActiveJobs?: number;
  /** Long polls of one principal at the same time. */
  readonly watches: number;
}

/** What a route's code is given of the request, read and checked. */
export interface Call<P = unknown, Q = unknown, H = unknown, B = unknown> {
  readonly ports: Ports;
  /** Of routes that anyone may call it has no id and no scope. */
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly headers: H;
  readonly body: B;
  /** The text after `Bearer `, where the route takes an attempt's token. */
  readonly bearer: string;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  readonly limits: Limits;
  readonly tokenKeys: TokenKeys | undefined;
  readonly watches: Watches;
  readonly document: () => Promise<unknown>;
  /** Begins a preflight; whether it waits for its end is the deployment's affair. */
  readonly preflight: (cluster: string, login: string) => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly says: string;
  readonly schema: z.ZodType;
  readonly headers?: readonly ('ETag' | 'Location')[];
}

type Shape = z.ZodObject;
type Given<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteOf<P, Q, H, B> {
  /** The operation's id in the document. */
  readonly id: string;
  readonly method: 'get' | 'post';
  /** As OpenAPI writes it: `/jobs/{job}`. */
  readonly path: string;
  readonly tag: string;
  readonly says: string;
  readonly access: Scope | 'anyone' | 'attempt';
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  /** `raw`: documented by the schema and read by the use case, which knows more than a schema can say. */
  readonly body?: { readonly schema: B; readonly raw?: boolean; readonly optional?: boolean };
  readonly answers: Readonly<Record<number, Answered>>;
  /** Beyond those that any route with such an input may answer. */
  readonly problems: readonly ProblemCode[];
  readonly handle: (call: Call<Given<P>, Given<Q>, Given<H>, Given<B>>) => Promise<Answer>;
}

export type Route = RouteOf<Shape | undefined, Shape | undefined, Shape | undefined, z.ZodType | undefined> & {
  readonly handle: (call: Call<never, never, never, never>) => Promise<Answer>;
};

/** Keeps the types of its inputs while it is written, and forgets them for the table. */
export const route = <
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  H extends Shape | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  made: RouteOf<P, Q, H, B>,
): Route => made as unknown as Route;

/** What is answered for the name, in a path, of something that is not there. */
export const UNKNOWN: Readonly<Record<string, ProblemCode>> = {
  job: 'job/unknown',
  attempt: 'attempt/unknown',
  escalation: 'escalation/unknown',
  cluster: 'cluster/unknown',
};

/** What any request of this route can meet, before and beside its own problems. */
export const problemsOf = (one: Route): readonly ProblemCode[] => {
  const can = new Set<ProblemCode>(one.problems);
  if (one.access !== 'anyone') can.add('request/invalid');
  if (one.body) for (const code of ['request/not_json', 'request/too_large', 'request/wrong_type'] as const) can.add(code);
  if (one.access !== 'anyone') can.add(one.access === 'attempt' ? 'auth/bad_token' : 'auth/missing');
  if (one.access !== 'anyone' && one.access !== 'attempt') can.add('auth/missing_scope');
  // A name that cannot be one is the name of nothing.
  for (const name of Object.keys(one.params?.shape ?? {})) can.add(UNKNOWN[name] ?? 'request/unknown_route');
  if (one.access !== 'anyone') for (const code of ['record/unavailable', 'record/newer_schema'] as const) can.add(code);
  return [...can, 'internal'];
};
