/**
 * Who calls, from what API Gateway has verified (contract §11): the claims of a token, or the IAM identity of the caller mapped by the
 * deployment's configuration. Guards: nothing of the request itself, no header and no body, ever says who somebody is.
 */
import * as z from 'zod';
import { type Principal, SCOPES, type Scope } from '../app/principal.ts';

export const callersSchema = z.array(
  z.strictObject({
    /** Of a user, or of a role: every session of it is this caller. */
    arn: z.string().min(1).max(2048),
    id: z.string().min(1).max(128).optional(),
    groups: z.array(z.string().min(1).max(63)).default([]),
    scopes: z.array(z.enum(SCOPES)),
  }),
);
export type Callers = z.infer<typeof callersSchema>;

const contextSchema = z.looseObject({
  authorizer: z
    .looseObject({
      jwt: z.looseObject({ claims: z.record(z.string(), z.unknown()), scopes: z.array(z.string()).nullish() }).optional(),
      iam: z.looseObject({ userArn: z.string() }).optional(),
    })
    .optional(),
});

/** `context`: `requestContext` of an HTTP API's event. Undefined: nobody that this deployment knows. */
export const principalOf = (context: unknown, callers: Callers): Principal | undefined => {
  const read = contextSchema.safeParse(context);
  const authorizer = read.success ? read.data.authorizer : undefined;
  if (authorizer?.jwt) return ofClaims(authorizer.jwt.claims);
  return authorizer?.iam ? ofArn(authorizer.iam.userArn, callers) : undefined;
};

const ofClaims = (claims: Readonly<Record<string, unknown>>): Principal | undefined => {
  const id = [claims['sub'], claims['client_id']].find((one) => typeof one === 'string' && one !== '' && one.length <= 128);
  if (typeof id !== 'string') return undefined;
  const groups = wordsOf(claims['cognito:groups'] ?? claims['groups']);
  // Some issuers say `scp`. A scope is written with or without the name of its resource server, `dispatch/read` or `read`; another server's `read` is none of ours.
  const scopes = wordsOf(claims['scope'] ?? claims['scp']).map((one) => one.replace(/^dispatch\//, ''));
  return { id, groups: groups.slice(0, 100), scopes: SCOPES.filter((one) => scopes.includes(one)) };
};

/** API Gateway hands a list on as text: `[a b]`. */
const wordsOf = (claim: unknown): string[] => {
  if (Array.isArray(claim)) return claim.filter((one): one is string => typeof one === 'string');
  return typeof claim === 'string'
    ? claim
        .replace(/^\[(.*)\]$/, '$1')
        .split(/[\s,]+/)
        .filter((one) => one !== '')
    : [];
};

const ofArn = (arn: string, callers: Callers): Principal | undefined => {
  const session = /^(arn:[^:]+):sts::(\d+):assumed-role\/([^/]+)\/[^/]+$/.exec(arn);
  const role = session ? `${session[1]}:iam::${session[2]}:role/${session[3]}` : arn;
  const known = callers.find((one) => one.arn === arn || one.arn === role);
  return known && { id: known.id ?? role.slice(-128), groups: known.groups, scopes: known.scopes as readonly Scope[] };
};
