/**
 * Roles: credentials of a role that a bucket of the configuration names, for a quarter of an hour at a time; the SDK asks again before
 * they end. Guards least privilege: what a function itself may do with buckets is nothing, and each bucket is reached as its own role.
 */
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { Credentials } from '../checkpoint/open-bucket.ts';

/** The shortest that there is. */
const LIFE_SECONDS = 900;

export interface Assuming {
  readonly client: STSClient;
  /** Shows in the bucket's own log: which deployment it was. */
  readonly session: string;
}

/** Throws what the service throws: whoever reads the bucket calls that unreachable. */
export const assumedRole =
  ({ client, session }: Assuming, role: string): Extract<Credentials, () => unknown> =>
  async () => {
    const { Credentials: given } = await client.send(
      new AssumeRoleCommand({ RoleArn: role, RoleSessionName: session, DurationSeconds: LIFE_SECONDS }),
    );
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = given ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw new Error('the role was assumed, and no credentials came');
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expiration: Expiration };
  };

/** Two tries of at most 3 s, as for any other service. */
export const stsClient = (): STSClient =>
  new STSClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
