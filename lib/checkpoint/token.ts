/**
 * The token by which an attempt's run reports its publications to the API (contract §11, §13).
 *
 * Invariant guarded: a token speaks for exactly one attempt of one job. Nothing is stored per attempt: the token is an HMAC-SHA256 by
 * a key of the deployment, so every door can check it alone. It has no expiry of its own; it is good until its job ends, which the
 * record knows. A key is rotated by adding a new one in front: tokens name their key, and a key that is taken away ends its tokens.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { JOB_ID } from '../job/identity.ts';

export interface TokenKey {
  /** 1 to 16 letters and digits. */
  readonly id: string;
  /** At least 32 bytes of randomness. */
  readonly secret: Uint8Array;
}

/** The first one signs; all of them are accepted. */
export type TokenKeys = readonly [TokenKey, ...TokenKey[]];

export type Checked = { readonly kind: 'valid'; readonly job: string; readonly n: number } | { readonly kind: 'invalid' };

const TOKEN = /^dispatch1\.([A-Za-z0-9]{1,16})\.([0-9a-z]{16})\.([1-9]\d{0,4})\.([A-Za-z0-9_-]{43})$/;
const KEY_ID = /^[A-Za-z0-9]{1,16}$/;
const LEAST_SECRET_BYTES = 32;

/** Throws RangeError for a key that is too weak and for what is no attempt. */
export const issueToken = (keys: TokenKeys, job: string, n: number): string => {
  for (const key of keys) check(key);
  if (!JOB_ID.test(job) || !Number.isSafeInteger(n) || n < 1 || n > 99_999) throw new RangeError(`no attempt: ${job} ${n}`);
  const [key] = keys;
  return `dispatch1.${key.id}.${job}.${n}.${seal(key, job, n).toString('base64url')}`;
};

/** Takes the same time wherever a forged seal differs. `job` is that of the request: a token for another job is invalid there. */
export const checkToken = (keys: TokenKeys, token: string, job: string): Checked => {
  const parts = TOKEN.exec(token);
  const key = keys.find(({ id }) => id === parts?.[1]);
  if (!parts || !key || parts[2] !== job) return { kind: 'invalid' };
  const n = Number(parts[3]);
  const given = Buffer.from(parts[4]!, 'base64url');
  const right = seal(key, job, n);
  // 43 characters are 258 bits: the two that are over must not make a second spelling of one token.
  const isWhole = given.length === right.length && given.toString('base64url') === parts[4];
  return timingSafeEqual(isWhole ? given : Buffer.alloc(right.length), right) && isWhole ? { kind: 'valid', job, n } : { kind: 'invalid' };
};

/** The first words keep this use of the key apart from any other. */
const seal = (key: TokenKey, job: string, n: number): Buffer =>
  createHmac('sha256', key.secret).update(`dispatch attempt token 1\0${job}\0${n}`).digest();

const check = ({ id, secret }: TokenKey): void => {
  if (!KEY_ID.test(id)) throw new RangeError('the id of a token key must be 1 to 16 letters and digits');
  if (secret.length < LEAST_SECRET_BYTES) throw new RangeError(`a token key must have at least ${LEAST_SECRET_BYTES} bytes`);
};
