/**
 * Secrets on Secrets Manager, by name: keys of logins, keys of attempts' tokens, what programs are given.
 * Guards: a value is in memory alone, at most five minutes, of at most so many names; who was refused with one reads it again, so a key is
 * rotated without a deploy; and no failure repeats what the service said beyond the name of its error.
 */
import { GetSecretValueCommand, type GetSecretValueCommandOutput, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SECRET_KEPT_MS, SecretFailure } from '../cluster/secret.ts';

/** `fresh`: not what is kept, since that was refused. Throws SecretFailure. */
export type ReadSecret = (name: string, fresh?: boolean) => Promise<string>;

export interface SecretsManager {
  readonly client: SecretsManagerClient;
  readonly onFailed?: () => void;
}

/** Each call asks the service. */
export const secretsManager =
  ({ client, onFailed }: SecretsManager): ReadSecret =>
  async (name) => {
    const answer = await client.send(new GetSecretValueCommand({ SecretId: name })).catch((error: unknown) => {
      onFailed?.();
      throw new SecretFailure('secret/unavailable', `a secret could not be read: ${error instanceof Error ? error.name : 'unknown'}`);
    });
    return textOf(answer);
  };

const textOf = ({ SecretString, SecretBinary }: GetSecretValueCommandOutput): string => {
  if (SecretString !== undefined) return SecretString;
  if (SecretBinary !== undefined) return Buffer.from(SecretBinary).toString('utf8');
  throw new SecretFailure('secret/unusable', 'a secret has no value');
};

const MOST_KEPT = 256;

/** What is kept for five minutes. Two that ask at once share one read; a failure is not kept. */
export const keptSecrets = (read: ReadSecret, now: () => number): ReadSecret => {
  const kept = new Map<string, { readonly value: Promise<string>; readonly until: number }>();
  return async (name, fresh = false) => {
    const held = kept.get(name);
    if (held && !fresh && now() < held.until) return held.value;
    if (kept.size >= MOST_KEPT) kept.clear();
    const value = read(name, fresh);
    kept.set(name, { value, until: now() + SECRET_KEPT_MS });
    try {
      return await value;
    } catch (error) {
      if (kept.get(name)?.value === value) kept.delete(name);
      throw error;
    }
  };
};

/** Two tries of at most 3 s: whoever connects to a cluster has 10 s for its key. */
export const secretsClient = (): SecretsManagerClient =>
  new SecretsManagerClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
