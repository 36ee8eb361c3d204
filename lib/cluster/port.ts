/**
 * The adapter port (contract §7a): what dispatch needs of any cluster, whatever schedules it.
 * Guards promises 1 and 5. Every answer is a closed union; nothing throws for what a scheduler said. A ClusterFailure
 * (cluster/failure.ts) is thrown only by `connect`; a connection that breaks later shows as `unreachable` in the answer of
 * the verb that met it, because "could not look" must never read as "is not there".
 * Instants are milliseconds since 1970; `cluster…` by the cluster's clock.
 */
import type { Doomed } from '../checkpoint/collect.ts';
import type { Removal } from '../checkpoint/port.ts';
import type { Probe } from '../job/capability.ts';
import type { Cause, Outcome } from '../job/cause.ts';
import type { Finding, Gate, LiveState, PendingGroup, Point, Receipt, Resources, Run } from '../job/event.ts';
import type { Rendered } from '../job/plan-input.ts';
import type { Spec } from '../job/spec.ts';

export interface Adapter {
  readonly kind: 'memory' | 'slurm' | 'kubernetes';
  /** Pure: exactly what a submission of this spec would send, with placeholders where an attempt fills in (contract §6). */
  render(spec: Spec, probe: Probe, options: RenderOptions): Rendering;
  /** One connection for one login. Throws ClusterFailure. */
  connect(login: string): Promise<Session>;
}

export interface RenderOptions {
  /** Submit so that the scheduler may requeue in place (a policy's `requeue by scheduler | supervisor`). */
  readonly requeue: 'never' | 'scheduler' | 'supervisor';
  readonly patienceSeconds: number;
}

/** What a plan shows of a submission: the core's own shape, since a plan is made there. */
export type Rendering = Rendered;

/** One attempt as it is sent. Everything in it was committed by `attempt_planned` first. */
export interface Submission {
  readonly job: string;
  readonly n: number;
  readonly identity: string;
  readonly spec: Spec;
  readonly probe: Probe;
  readonly gate: Gate;
  readonly requeue: RenderOptions['requeue'];
  readonly resume: Point;
  readonly resources: Resources;
  readonly excludeNodes: readonly string[];
  readonly patienceSeconds: number;
  readonly clusterNow: number;
  readonly clusterBoundAt: number;
}

export interface Session {
  /** The cluster's clock, read now. Undefined: unreachable. */
  clock(): Promise<number | undefined>;
  probe(nowMs: number): Promise<Probe>;
  /** The gate's moments for a submission planned at `clusterNow`: pure arithmetic of the recipe of this cluster's version. */
  gateFor(spec: Spec, probe: Probe, options: RenderOptions, clusterNow: number): Gate;
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** Every object of the job (all attempts) by identity, alive or still remembered. */
  find(job: string): Promise<FindAnswer>;
  /** Writes the release mark of attempt n naming its object, or `stop`. Idempotent; a mark is never changed. */
  fence(job: string, mark: { readonly n: number; readonly schedulerId: string } | 'stop'): Promise<FenceAnswer>;
  release(receipt: Receipt, gate: Gate): Promise<ActAnswer>;
  cancel(receipt: Receipt): Promise<ActAnswer>;
  discard(receipt: Receipt): Promise<ActAnswer>;
  /** Puts an ended or running attempt back in its queue; present where `requeue_in_place` is. */
  requeue?(receipt: Receipt): Promise<ActAnswer>;
  observe(targets: readonly Target[]): Promise<Observed>;
  /** Bytes of output so far, per scheduler id, in one command: how a silent run is told from a working one (protocols §5.2). */
  outputBytes?(targets: readonly Target[]): Promise<ReadonlyMap<string, number> | undefined>;
  /** Every marker in `pub/` of the job and every base written by a claim; undefined: could not be listed completely. */
  listPublications(job: string, spec: Spec): Promise<Publications | undefined>;
  /** Removes saves, marker first, as checkpoint/collect.ts decided; in repeated calls where it is much. Absent where nothing is kept. */
  collect?(job: string, spec: Spec, doomed: readonly Doomed[]): Promise<CollectAnswer>;
  /** A piece of what a run wrote, read where the cluster keeps it. */
  output?(asked: OutputAsked): Promise<OutputAnswer>;
  /** What is to be known of an object that somebody else submitted, to watch it from now on. */
  adopt?(schedulerId: string): Promise<AdoptAnswer>;
  close(): Promise<void>;
}

export interface OutputAsked {
  readonly job: string;
  readonly n: number;
  readonly run: number;
  readonly stream: 'stdout' | 'stderr';
  /** In bytes; what is behind the end is an empty piece. */
  readonly offset: number;
  readonly limit: number;
}

export type OutputAnswer =
  | { readonly kind: 'piece'; readonly bytes: Uint8Array; readonly totalBytes: number }
  /** Nothing was written yet, or it is gone. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unreachable'; readonly says: string };

export type CollectAnswer =
  /** `left`: how many of the doomed there was no time for. */
  ({ readonly kind: 'removed'; readonly left: number } & Removal) | { readonly kind: 'unreachable'; readonly says: string };

export type AdoptAnswer =
  /** `receipt.identity` is the object's own name. */
  | { readonly kind: 'found'; readonly name: string; readonly receipt: Receipt }
  /** The scheduler answered and knows no such object, or no longer. */
  | { readonly kind: 'unknown_object' }
  /** It has a name of dispatch's own, of whatever deployment. */
  | { readonly kind: 'ours' }
  | { readonly kind: 'unreachable'; readonly says: string };

export type SubmitAnswer =
  | { readonly kind: 'accepted'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly outcome: Outcome }
  | { readonly kind: 'not_now'; readonly reason: string; readonly retryAfterSeconds: number }
  /** Also when nothing is known of the answer. `sent: 'no'` proves that the request never left: it may be deferred. */
  | { readonly kind: 'uncertain'; readonly sent: 'no' | 'maybe'; readonly answer: string };

export interface FoundObject {
  readonly n: number;
  readonly receipt: Receipt;
  readonly state: LiveState | 'ended';
  readonly run: number;
  /** Set when the scheduler keeps a record of a submission that it refused: it never ran. */
  readonly refused?: Outcome;
}

export type FindAnswer =
  /** `complete`: every source answered, so an attempt that is not among the objects is proved absent. */
  | { readonly kind: 'found'; readonly clusterNow: number; readonly complete: boolean; readonly objects: readonly FoundObject[] }
  /** Positive evidence: every source answered completely, and none knows the identity. */
  | { readonly kind: 'absent'; readonly clusterNow: number }
  | { readonly kind: 'unreachable'; readonly says: string };

export type FenceAnswer =
  /** `clusterWrittenAt` is what the mark itself says; `holds` whose object it names ('' for stop). */
  | { readonly kind: 'marked'; readonly holds: string; readonly clusterWrittenAt: number; readonly clusterNow: number }
  | { readonly kind: 'unreachable'; readonly says: string };

export type ActAnswer =
  /** Carried out or already so, as far as the command can tell. Proves nothing: only the next look does. */
  | { readonly kind: 'sent' }
  /** A certain no of the scheduler. */
  | { readonly kind: 'refused'; readonly says: string }
  | { readonly kind: 'unreachable'; readonly says: string };

/** An attempt that the record wants looked at. */
export interface Target {
  readonly job: string;
  readonly n: number;
  readonly receipt: Receipt;
  readonly released: boolean;
  readonly requeueable: boolean;
  /** The run last recorded, and what was recorded of it: `seenOf` of the last observation. Equal means nothing to say. */
  readonly run: number;
  readonly seen: string;
  readonly timeLimitSeconds: number;
  readonly checkpointRoot?: string;
}

/** The compact form of an observation, kept on the head and compared by equality (protocols §5.2). */
export const seenOf = (state: LiveState | 'ended', run: number, pending?: PendingGroup): string => `${state}.${run}.${pending ?? ''}`;

export type Observed =
  | { readonly kind: 'unreachable'; readonly says: string }
  | {
      readonly kind: 'observed';
      readonly clusterStartedAt: number;
      /** Whether every source that can prove an absence answered; else absences of this look do not count (protocols §5.6). */
      readonly complete: boolean;
      /** Only targets about which there is something to say: changed, ended, or odd. */
      readonly changed: readonly Observation[];
      /** Targets that every source which answered does not know. */
      readonly absent: readonly Target[];
      /** Live objects (never ended ones) with our tag that no target explains: for the sweep and for duplicates. */
      readonly unexplained: readonly FoundObject[];
    };

export type Observation =
  | {
      readonly kind: 'live';
      readonly target: Target;
      readonly state: LiveState;
      readonly run: number;
      readonly pending?: { readonly group: PendingGroup; readonly reason: string };
      readonly finding?: Finding;
      readonly lastRunCause?: Cause;
    }
  | {
      readonly kind: 'ended';
      readonly target: Target;
      readonly run: number;
      readonly outcome: Outcome;
      readonly processes: 'gone' | 'unknown';
      readonly runs: readonly Run[];
      /** Evidence that has not arrived: `accounting`, `result`, `publications`. Empty: complete. */
      readonly missing: readonly string[];
    };

export interface Publication {
  readonly epoch: number;
  readonly step: number;
  /** Relative to the job's checkpoint root. */
  readonly path: string;
}

export interface Publications {
  readonly publications: readonly Publication[];
  /** Points fixed by claims whose base was written (protocols §8.2). */
  readonly bases: readonly { readonly n: number; readonly run: number; readonly base: Point }[];
  /** Bases that are there and cannot be read: they fix points that nobody knows, so nothing may be removed. Absent: none. */
  readonly unread?: number;
}
