/**
 * Stored: the shapes of what the record holds and of the rows that its lists give, with their bounds (contract §8, protocols §1, §2).
 * Part of the port, which gives them all again: nobody else imports this file. Instants are milliseconds since 1970 by dispatch's clock.
 */
/** What a commit's item may weigh, in bytes of its JSON (contract §8); larger is refused by an assertion before any write. */
export const COMMIT_BYTES = 300 * 1024;
export const LOG_COMMITS = 10_000;

/** Orders tokens of one job: (generation, time the state was entered, retry count), compared field by field (P2.2). */
export interface TokenOrder {
  readonly generation: number;
  readonly enteredAt: number;
  readonly retry: number;
}

/** A wake token as it lies on the head (slot '') or on a question's own item (slot = the question's id). */
export interface Wake {
  readonly token: string;
  /** Taken by a writer and not yet known to be signalled: `owed`. */
  readonly state: 'parked' | 'owed';
  readonly order: TokenOrder;
  /** The version that the supervisor decided from, and the moment that it was promised. */
  readonly version: number;
  readonly until: number;
  /** The question that AwaitAnswer waits for; '' on the head. */
  readonly question: string;
  /** Since when it is owed; sorts the sweep's index. */
  readonly owedSince?: number;
}

export interface Supervisor {
  readonly generation: number;
  readonly machine: number;
  readonly failures: number;
  /** When Advance last began; birth counts. */
  readonly seenAt: number;
  /** When a writer last took a token. */
  readonly takenAt: number;
}

/** The folded summary that lists and polls need; rebuilt from the log by whoever finds it behind. */
export interface Summary {
  /** `cluster#login` while a poll must look at the job, '' otherwise: the key of the active index. */
  readonly active: string;
  /** Job state, for the index by state. */
  readonly state: string;
  /** What a poll compares (attempt, scheduler id, submit time, last observation, …), text of at most 200 bytes. */
  readonly watchline: string;
  readonly name: string;
  readonly project: string;
  readonly ended: boolean;
  /** Where it is to run, or was last sent: for the lists by cluster. */
  readonly cluster: string;
  readonly login: string;
  /** Whether a question is open that the job does not wait for: no state tells of it. */
  readonly asked: boolean;
  /** Name of the cause why the job ended or, while it has not, why its newest attempt did; '' for neither. */
  readonly cause: string;
  /** The moment of the commit at the head's version; birth at version 0. */
  readonly updatedAt: number;
}

export interface Head {
  readonly job: string;
  /** The version of the log that the summary was folded from. 0: born, no first event yet. */
  readonly version: number;
  readonly bornAt: number;
  /** Renewed by every try of the birth while the version is 0 (P1.5). */
  readonly triedAt: number;
  readonly principal: string;
  readonly key: string;
  readonly payloadHash: string;
  readonly summary: Summary;
  readonly supervisor: Supervisor;
  readonly wake?: Wake;
  /** The order of the last token ever stored, kept after the token is gone. */
  readonly lastOrder?: TokenOrder;
  /** Steps tried from this version without a commit; void once the version moved on. */
  readonly tries: { readonly version: number; readonly count: number };
  /** The version up to which domain events were sent (P2.7): 0 at birth, moved by setNotified alone. */
  readonly notified: number;
}

/** What `GET /jobs` shows of a job, from its head as it is now. */
export interface JobRow {
  readonly job: string;
  readonly version: number;
  readonly name: string;
  readonly project: string;
  /** The principal that submitted or adopted it. */
  readonly owner: string;
  readonly cluster: string;
  readonly login: string;
  readonly state: string;
  readonly cause?: string;
  readonly bornAt: number;
  readonly updatedAt: number;
}

/** The lists that an index answers; every other filter is the caller's, applied to the page (contract §11). */
export type JobFilter =
  | { readonly by: 'all' }
  /** With an open question that the job does not wait for. */
  | { readonly by: 'asked' }
  | { readonly by: 'project'; readonly project: string }
  | { readonly by: 'state'; readonly state: string }
  | { readonly by: 'cluster'; readonly cluster: string; readonly login?: string }
  | { readonly by: 'label'; readonly key: string; readonly value: string };

/** Rows of one page of listJobs. */
export const JOBS_LIMIT = 100;
/** What one batch reads at most (DynamoDB: 100 keys). */
export const BATCH_LIMIT = 100;

/** A commit of a cluster's own log (contract §8): a job's in all but what it belongs to and what its events say. */
export interface ClusterCommit<E = unknown> {
  readonly cluster: string;
  readonly version: number;
  readonly commitId: string;
  readonly at: number;
  readonly actor: string;
  readonly schema: number;
  readonly events: readonly E[];
}

/** The connection slots of one login of a cluster (P5.8): four in all, the first for polls alone, and one for reading output. */
export const SLOTS = { poll: ['0'], work: ['1', '2', '3'], output: ['output'] } as const;
export type Slot = (typeof SLOTS)[keyof typeof SLOTS][number];
/** A slot that its holder did not give back is free again after this. */
export const SLOT_LEASE_MS = 180_000;
/** How long a plan that was read may be named by a submission. */
export const PLAN_LIFE_MS = 7 * 24 * 3600 * 1000;
/** What countActive counts to at most. */
export const COUNT_LIMIT = 10_000;

/**
 * What a watchline may weigh so that its row keeps to 256 bytes: names, job id and version take 40 of them, the index's key `active` its
 * own length. Never more than 200, which the store refuses.
 */
export const watchlineBytes = (active: string): number => Math.min(200, 256 - 40 - new TextEncoder().encode(active).length);

/** One row of the active index: what a quiet poll reads per job, at most 256 bytes. */
export interface ActiveRow {
  readonly job: string;
  readonly version: number;
  readonly watchline: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; undefined on the last page. A cursor that was not made by this store for this list is refused with an error `record/bad_cursor`. */
  readonly cursor?: string;
}

export interface Key {
  readonly principal: string;
  readonly key: string;
  readonly job: string;
  readonly payloadHash: string;
  readonly at: number;
}

export interface Lease {
  readonly fence: number;
  readonly renewedAt: number;
  /** When the last complete look began, by dispatch's clock: the age of every observation derives from it. */
  readonly answeredAt: number;
}
