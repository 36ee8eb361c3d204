/**
 * Buckets of a cluster's configuration, opened when a job's saves lie in one: the SDK is loaded then and not before, since most
 * deployments keep their checkpoints on a file system.
 * Guards: only buckets that the configuration names are ever asked, each with the credentials that it names.
 */
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { createBucketStore } from './bucket.ts';
import type { CheckpointStore } from './port.ts';

export interface BucketConfiguration {
  readonly region: string;
  readonly endpoint?: string | undefined;
  readonly role?: string | undefined;
  readonly profile?: string | undefined;
}

export type Credentials = NonNullable<S3ClientConfig['credentials']>;
/** The store of the jobs whose checkpoint root this is, or why there is none. */
export type OpenBucket = (root: string) => Promise<CheckpointStore | { readonly says: string }>;

/** `credentialsOf`: those of an assumed role; without it a role cannot be used. */
export const bucketsOf = (
  buckets: Readonly<Record<string, BucketConfiguration>>,
  credentialsOf?: (role: string) => Credentials,
): OpenBucket => {
  const open = new Map<string, Promise<(prefix: string) => CheckpointStore>>();
  return async (root) => {
    const { parseBucketRoot } = await import('./s3.ts');
    const at = parseBucketRoot(root);
    const configured = at && Object.hasOwn(buckets, at.bucket) ? buckets[at.bucket] : undefined;
    if (!at || !configured) return { says: `the configuration of this cluster does not name the bucket of ${root}` };
    if (configured.role !== undefined && !credentialsOf)
      return { says: `this process assumes no roles, and bucket ${at.bucket} names one` };
    const store = open.get(at.bucket) ?? connect(at.bucket, configured, credentialsOf);
    open.set(at.bucket, store);
    return (await store)(at.prefix);
  };
};

const connect = async (
  bucket: string,
  { region, endpoint, role, profile }: BucketConfiguration,
  credentialsOf: ((role: string) => Credentials) | undefined,
): Promise<(prefix: string) => CheckpointStore> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { createS3Objects, s3Limits } = await import('./s3.ts');
  const client = new S3Client({
    ...s3Limits,
    region,
    // Other stores mostly have no name of their own per bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(profile === undefined ? {} : { profile }),
    ...(role === undefined || !credentialsOf ? {} : { credentials: credentialsOf(role) }),
  });
  const objects = createS3Objects({ client, bucket });
  return (prefix) => createBucketStore(objects, (job) => `${prefix}/${job}`);
};
