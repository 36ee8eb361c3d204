/**
 * Problems: every way in which the API says no, as problem documents (RFC 9457) with a stable `type` (contract §11, §12).
 * Guards: a caller can switch on `code` alone; the text says the fault and its fix; nothing of our insides gets out.
 * docs/errors.md prints this table.
 */
import * as z from 'zod';
import { REFUSAL_CODES } from '../job/refusal.ts';

interface Kind {
  readonly status: number;
  readonly title: string;
  /** What the caller can do about it, for the reference. */
  readonly fix: string;
}

export const PROBLEMS = {
  'request/invalid': {
    status: 400,
    title: 'The request is not valid',
    fix: 'Mend what `errors` names: each entry has its path and its fix.',
  },
  'request/not_json': { status: 400, title: 'The body is not JSON', fix: 'Send one JSON value in UTF-8.' },
  'request/bad_cursor': {
    status: 400,
    title: 'The cursor is not of this list',
    fix: 'Begin the list again without a cursor; pass cursors on as they came.',
  },
  'escalation/not_an_option': {
    status: 400,
    title: 'The question has no such answer',
    fix: 'Give one of the options that the question lists.',
  },
  'checkpoint/invalid': {
    status: 400,
    title: 'The attempt cannot have saved this',
    fix: 'Report what this attempt saved in its own exec folder.',
  },
  'auth/missing': { status: 401, title: 'Nobody is signed in', fix: 'Send credentials that this deployment accepts.' },
  'auth/bad_token': {
    status: 401,
    title: 'The token is not of this job',
    fix: 'Send the token of an attempt of this job: `Authorization: Bearer …`.',
  },
  'auth/missing_scope': {
    status: 403,
    title: 'A scope is missing',
    fix: 'Ask whoever runs this deployment for the scope that `detail` names.',
  },
  'auth/foreign_project': { status: 403, title: 'The project is not yours', fix: 'Name one of your own projects, or none.' },
  'cluster/no_login': {
    status: 403,
    title: 'No login of the cluster allows you',
    fix: 'Ask whoever configures the cluster to allow you or one of your groups.',
  },
  'request/unknown_route': { status: 404, title: 'There is nothing here', fix: 'GET /openapi.json lists every route.' },
  'job/unknown': {
    status: 404,
    title: 'There is no such job',
    fix: 'Check the id; jobs of other projects do not show without the scope `operate`.',
  },
  'attempt/unknown': { status: 404, title: 'The job has no such attempt', fix: 'GET /jobs/{job} lists its attempts.' },
  'escalation/unknown': { status: 404, title: 'There is no such question', fix: 'GET /escalations lists the open ones.' },
  'cluster/unknown': { status: 404, title: 'There is no such cluster', fix: 'GET /clusters lists them.' },
  'checkpoint/none': { status: 404, title: 'Nothing was published', fix: 'Wait until the job has published, or look with `refresh=true`.' },
  'output/none': { status: 404, title: 'There is no output', fix: 'Wait until the attempt has started.' },
  'request/wrong_method': { status: 405, title: 'The method does not fit', fix: 'Use one of the methods in `Allow`.' },
  'job/observe_only': { status: 409, title: 'The job is only watched', fix: 'Act on it where it was submitted.' },
  'plan/changed': { status: 409, title: 'The plan would be different now', fix: 'Read `now`, and submit with its digest.' },
  'escalation/closed': { status: 409, title: 'The question is closed', fix: 'Read the job: somebody answered first, or it became moot.' },
  'escalation/no_token': {
    status: 409,
    title: 'The question has no token now',
    fix: 'Answer by the API, or ask again shortly; only blocking questions have tokens.',
  },
  'checkpoint/late': {
    status: 409,
    title: 'The publication is late',
    fix: 'Stop: a later run was given its resume point, or the job has ended.',
  },
  'checkpoint/exists': { status: 409, title: 'The publication is recorded already', fix: 'Nothing: it counts once.' },
  'cluster/unsupported': { status: 409, title: 'The cluster cannot do this', fix: 'GET /clusters/{cluster} shows what it can.' },
  'job/changed': { status: 412, title: 'The job has changed', fix: 'Read it again and decide with its new ETag.' },
  'request/too_large': {
    status: 413,
    title: 'The body is too large',
    fix: 'Send at most 256 KiB; put data where the cluster can read it.',
  },
  'request/wrong_type': { status: 415, title: 'The body is of the wrong type', fix: 'Send `Content-Type: application/json`.' },
  'plan/refused': { status: 422, title: 'The plan has refusals', fix: 'POST /plans shows each; mend what `errors` names.' },
  'request/key_reused': { status: 422, title: 'The Idempotency-Key was used for another request', fix: 'Use a new key for a new request.' },
  'project/too_many_jobs': {
    status: 429,
    title: 'The project has too many active jobs',
    fix: 'Wait until some have ended, or cancel some.',
  },
  'request/too_many_watches': { status: 429, title: 'Too many watches at once', fix: 'Let one of your long polls end first.' },
  internal: { status: 500, title: 'Something here is broken', fix: 'Report it with the time; it was logged.' },
  'record/unavailable': {
    status: 503,
    title: 'The record cannot be reached',
    fix: 'Repeat the same request after `Retry-After`; with an Idempotency-Key nothing is done twice.',
  },
  'record/newer_schema': {
    status: 503,
    title: 'A newer release wrote this record',
    fix: 'Repeat it later: this server is being replaced.',
  },
  'cluster/blocked': {
    status: 503,
    title: 'Submissions to the cluster are blocked',
    fix: 'Wait until the cluster is reachable again, or start a preflight.',
  },
  'cluster/unreachable': { status: 503, title: 'The cluster cannot be reached', fix: 'Repeat it later; what runs there goes on.' },
} as const satisfies Readonly<Record<string, Kind>>;

export type ProblemCode = keyof typeof PROBLEMS;
export const PROBLEM_CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

export const faultSchema = z
  .strictObject({
    /** Where it was written. */
    in: z.enum(['body', 'query', 'header']),
    path: z.string().meta({ description: 'As one would write it in code: `policy.rules[0].on`; empty for the whole.' }),
    code: z.enum(REFUSAL_CODES),
    message: z.string().meta({ description: 'The fault and its fix.' }),
  })
  .meta({ id: 'Fault' });
export type Fault = z.infer<typeof faultSchema>;

/** Extension members beyond these are named by the route that answers them (`plan/changed`: `read`, `now`). */
export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: '`/problems/<code>`, stable.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(PROBLEM_CODES),
    errors: z.array(faultSchema).optional(),
  })
  .meta({ id: 'Problem', description: 'What went wrong, and what to do about it (RFC 9457).' });

interface More {
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Extension members. */
  readonly with?: Readonly<Record<string, unknown>>;
}

/** Thrown by whoever answers a request; api.ts makes the document of it. `detail` is safe to show. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly more: More;
  constructor(code: ProblemCode, detail: string, more: More = {}) {
    super(detail);
    this.code = code;
    this.more = more;
  }
}

/** Bad input, from its faults. */
export const invalid = (errors: readonly Fault[], code: ProblemCode = 'request/invalid'): Problem => {
  const first = errors[0];
  const told = first ? `${first.path || `the ${first.in}`}: ${first.message}` : PROBLEMS[code].title;
  return new Problem(code, errors.length > 1 ? `${errors.length} faults; the first is ${told}` : told, { errors });
};

const RETRY_SECONDS: Partial<Record<ProblemCode, number>> = {
  'record/unavailable': 2,
  'record/newer_schema': 30,
  'cluster/unreachable': 60,
  'cluster/blocked': 300,
  'project/too_many_jobs': 60,
  'request/too_many_watches': 5,
};

export const problemResponse = ({ code, message, more }: Problem): Response => {
  const { status, title } = PROBLEMS[code];
  const after = RETRY_SECONDS[code];
  const document = {
    type: `/problems/${code}`,
    title,
    status,
    detail: message,
    code,
    ...(more.errors && { errors: more.errors }),
    ...more.with,
  };
  return new Response(JSON.stringify(document), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(after === undefined ? {} : { 'retry-after': String(after) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...more.headers,
    },
  });
};
