/**
 * The bucket of a checkpoint root, by the AWS SDK: what bucket.ts needs of S3 and of stores that speak its protocol.
 *
 * Invariants guarded: a marker is created on the condition that it is absent, which S3 decides, so two that announce at once cannot
 * both be first; every call ends in time. An answer that was lost and asked for again may read `exists` about our own marker: the
 * marker is there either way, which is all that it says.
 */
import { DeleteObjectsCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Objects } from './bucket.ts';

/** Recommended to `new S3Client(…)`: the SDK's own defaults wait without end. A page of 1,000 keys takes well below a second. */
export const s3Limits = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  // A checksum beyond what an operation demands is something that stores other than S3 may not know.
  requestChecksumCalculation: 'WHEN_REQUIRED',
} as const;

/** One call with all its retries: four attempts of at most 12 s, and the pauses between them. */
const CALL_MS = 60_000;

export interface S3Options {
  readonly client: S3Client;
  readonly bucket: string;
  /** Keys of one page, at most 1,000. */
  readonly pageKeys?: number;
}

export const createS3Objects = ({ client, bucket, pageKeys = 1000 }: S3Options): Objects => ({
  page: async (prefix, from) => {
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: pageKeys, ContinuationToken: from });
    const answer = await client.send(command, inTime());
    const keys = (answer.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
    // A page that says there is more, and not where, must not end the listing.
    if (answer.IsTruncated && !answer.NextContinuationToken) throw new Error(`the listing of ${prefix} was cut short`);
    return { keys, ...(answer.IsTruncated ? { next: answer.NextContinuationToken! } : {}) };
  },
  putEmpty: async (key) => {
    try {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: '', ContentLength: 0, IfNoneMatch: '*' }), inTime());
      return 'created';
    } catch (error) {
      if (statusOf(error) === 412) return 'exists';
      throw error;
    }
  },
  remove: async (keys) => {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }), inTime());
    return Errors.map(({ Key }) => Key ?? '');
  },
});

/** `s3://bucket/prefix` in its parts; the prefix without slashes at its ends. Undefined for anything else. */
export const parseBucketRoot = (root: string): { readonly bucket: string; readonly prefix: string } | undefined => {
  const parts = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/+(.*?)\/*$/.exec(root);
  return parts && parts[2] !== '' ? { bucket: parts[1]!, prefix: parts[2]! } : undefined;
};

const inTime = (): { readonly abortSignal: AbortSignal } => ({ abortSignal: AbortSignal.timeout(CALL_MS) });

/** By number: the name of the error is that of the store that answered. */
const statusOf = (error: unknown): unknown =>
  error instanceof Error && '$metadata' in error ? (error.$metadata as { readonly httpStatusCode?: number }).httpStatusCode : undefined;
