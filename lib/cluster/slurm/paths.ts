/**
 * Where a job's files are on the cluster (protocols §8.1). One place, because the wrapper, the submission and the look-ups must
 * agree on every name.
 */

export interface Root {
  /** The cluster's root in its configuration: absolute, shared by login and compute nodes. */
  readonly root: string;
  readonly tag: string;
}

/** Mode 0700: marks, claims, bases, refusals, results, output, token. */
export const controlOf = ({ root, tag }: Root, job: string): string => `${root}/${tag}/${job}`;

/** The job's own checkpoint root: `pub/` and `exec/`. `checkpointRoot` is what the spec says. */
export const checkpointsOf = ({ root }: Root, job: string, checkpointRoot?: string): string =>
  `${checkpointRoot ?? `${root}/checkpoints`}/${job}`;

/** The bucket's name in an `s3://` root. */
export const bucketOf = (root: string | undefined): string | undefined =>
  isBucket(root) ? root!.slice('s3://'.length).split('/', 1)[0] : undefined;

/** Roots that a scheduler's nodes reach by an object store instead of a file system. */
export const isBucket = (root: string | undefined): boolean => root?.startsWith('s3://') === true;

/** What Slurm itself and the wrapper write, of all runs of attempt n. */
export const logOf = (control: string, n: number | string): string => `${control}/output/${n}.log`;
