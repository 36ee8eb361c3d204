/**
 * A scheduler object of the memory cluster, and one execution of the program in it.
 * Times are milliseconds since 1970, true time; those named `cluster…` are by the cluster's own clock, which may be wrong.
 */
import type { Cause } from '../../job/cause.ts';
import type { Point } from '../../job/event.ts';
import type { Submission } from '../port.ts';
import type { Ending } from './ending.ts';
import type { RunScript } from './script.ts';

export interface ClusterObject {
  readonly id: string;
  readonly name: string;
  readonly login: string;
  /** What its name says, when it is an identity. */
  readonly tag?: string;
  readonly job?: string;
  readonly n?: number;
  /** Undefined: not made of one of dispatch's submissions; it runs outside wrapper and truth. */
  readonly submission?: Submission;
  readonly runs: readonly RunScript[];
  /** Of what was asked for: a create under a taken name binds only when it is equal. */
  readonly hash: string;
  readonly landedAtMs: number;
  clusterSubmittedAt: number;
  state: 'gated' | 'queued' | 'starting' | 'running' | 'suspended' | 'ending' | 'ended';
  run: number;
  /** Its gate was lifted, by whomever. */
  open: boolean;
  held?: { readonly by: 'others' | 'launch'; readonly sinceMs: number };
  edited?: { readonly said: string; readonly sinceMs: number };
  timeLimitSeconds: number;
  /** May be put back in its queue by the scheduler. */
  requeueable: boolean;
  readyAtMs: number;
  /** A requeued one does not begin earlier. */
  beginAtMs: number;
  startedAtMs?: number;
  nodes: readonly string[];
  execution?: Execution;
  ending?: Ending;
  endedAtMs?: number;
  everRan: boolean;
  lastRunCause?: Cause;
  /** It is the record of a submission that the scheduler refused. */
  refused: boolean;
  forgotten: boolean;
  vanished: boolean;
  nodeSilent: boolean;
  /** Counts changes of state: what was entered in the agenda for an older one does nothing. */
  era: number;
}

/** One execution of a job's program, as the ground truth knows it. */
export interface Execution {
  readonly job: string;
  readonly tag: string;
  readonly n: number;
  readonly run: number;
  readonly epoch: number;
  readonly schedulerId: string;
  readonly base: Point;
  readonly environment: Readonly<Record<string, string>>;
  readonly startedAtMs: number;
  readonly script: RunScript['program'];
  endedAtMs?: number;
  how?: string;
  /** Its object ended, its processes did not. */
  survivor: boolean;
  /** A survivor's node does not answer: nobody can say that nothing is left on it. */
  nodeSilent: boolean;
  endsAfterSeconds: number;
  /** Of its wrapper, where that is all that ends it. */
  limitSeconds?: number;
  published: number;
  /** Its wrapper found that it may not go on, and has told it to end. */
  fenced?: { readonly why: string; readonly killAtMs: number };
  pausedAtMs?: number;
  pausedMs: number;
  era: number;
}
