/** Ten thousand running attempts, the same in every process of the benchmark, and the queue that shows them. */
import { identityOf } from '../../lib/job/identity.ts';

export const TAG = '0bch';
export const CLUSTER = 'bench';
export const LOGIN = 'default';
export const JOBS = 10_000;
const SUBMITTED_SECONDS = 1_795_961_975;
export const CLUSTER_NOW_SECONDS = SUBMITTED_SECONDS + 3600;

export interface QueuedJob {
  readonly job: string;
  readonly schedulerId: string;
  readonly identity: string;
  /** Seconds since 1970. */
  readonly submittedAt: number;
}

export const queuedJobs = (): readonly QueuedJob[] =>
  Array.from({ length: JOBS }, (_, i) => {
    const job = String(i).padStart(16, '0');
    return { job, schedulerId: String(1_000_000 + i), identity: identityOf(TAG, job, 1), submittedAt: SUBMITTED_SECONDS };
  });
