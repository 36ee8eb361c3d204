/**
 * Token keys: what seals the tokens of attempts (lib/checkpoint/token.ts), from one secret: `{"keys": [{"id", "secret"}]}`, secrets in
 * base64. The first one signs, all are accepted: a key is rotated by adding a new one in front, and taken away when no job of its time
 * is left. Pure but for the secret it is given.
 */
import * as z from 'zod';
import type { TokenKey, TokenKeys } from '../checkpoint/token.ts';
import { SecretFailure } from '../cluster/secret.ts';

const LEAST_BYTES = 32;
const MOST_KEYS = 8;

const keysSchema = z.object({
  keys: z
    .array(z.object({ id: z.string().regex(/^[A-Za-z0-9]{1,16}$/), secret: z.base64() }))
    .min(1)
    .max(MOST_KEYS),
});

/** Throws SecretFailure, and never says what stands in it. */
export const tokenKeysOf = (text: string): TokenKeys => {
  const refuse = (how: string): never => {
    throw new SecretFailure('secret/unusable', `the secret with the keys of attempts' tokens ${how}`);
  };
  const read = keysSchema.safeParse(parsed(text));
  if (!read.success) return refuse('is not {"keys": [{"id", "secret"}]}');
  const keys = read.data.keys.map(({ id, secret }): TokenKey => ({ id, secret: Buffer.from(secret, 'base64') }));
  if (keys.some(({ secret }) => secret.length < LEAST_BYTES)) return refuse(`has a key of less than ${LEAST_BYTES} bytes`);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) return refuse('has two keys of one id');
  return keys as unknown as TokenKeys;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Its message quotes the text.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
