/** s3rver comes without types; this is what the tests use of it. */
declare module 's3rver' {
  import type { RequestListener } from 'node:http';

  export default class S3rver {
    constructor(options: {
      readonly directory: string;
      readonly silent: boolean;
      readonly vhostBuckets: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    readonly store: { existsObject(bucket: string, key: string): Promise<boolean> };
    configureBuckets(): Promise<unknown>;
    callback(): RequestListener;
  }
}
