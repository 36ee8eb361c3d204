/**
 * The RecordStore port: what dispatch asks of the table that holds everything (protocols §1, §2).
 * Guards promise 4. Nothing here decides: each call is one conditional write or one read, and its answer is a closed union.
 * The store throws RecordFailure `record/unavailable` when it could not learn the answer; a caller then knows nothing and
 * says nothing. Instants are milliseconds since 1970 by dispatch's clock.
 *
 * `test/contract/store` is this port's suite; it runs against every implementation.
 */
import type { Commit } from '../job/event.ts';
import type { ActiveRow, ClusterCommit, Head, JobFilter, JobRow, Key, Lease, Page, Slot, Summary, Wake } from './stored.ts';

export * from './stored.ts';

export interface RecordStore {
  // The log (P1.1, P1.2)
  /** Commits after `afterVersion`, in order, gap-free, read consistently; all pages. */
  read(job: string, afterVersion?: number): Promise<readonly Commit[]>;
  /** The single item at that version, consistently. */
  readAt(job: string, version: number): Promise<Commit | undefined>;
  /** Of 1 to BATCH_LIMIT different jobs, those whose log goes on after the version named, read consistently (P2.4). */
  goingOn(places: readonly { readonly job: string; readonly version: number }[]): Promise<ReadonlySet<string>>;
  /** One conditional Put. A failed condition whose item carries our commitId is `appended`: the Put that timed out had succeeded. */
  append(commit: Commit): Promise<'appended' | 'conflict'>;
  /** Stores text once under its SHA-256 (hex) and gives the digest. */
  putBlob(job: string, text: string): Promise<string>;
  getBlob(job: string, digest: string): Promise<string | undefined>;

  // Plans (contract §6)
  /** Stores a plan's text under its digest; one younger than 7 days at `at` stays as it is (`exists`), its life not renewed. At most PLAN_TEXT_BYTES and PLAN_BYTES compressed (plan-text.ts). */
  putPlan(digest: string, text: string, at: number): Promise<'stored' | 'exists'>;
  /** Undefined for none, and for one of 7 days or more. */
  getPlan(digest: string, at: number): Promise<string | undefined>;

  // A cluster's log (contract §8), by the rules of a job's. The store keeps events as they come: who reads, names their type and upcasts.
  readCluster<E>(cluster: string, afterVersion?: number): Promise<readonly ClusterCommit<E>[]>;
  appendCluster<E>(commit: ClusterCommit<E>): Promise<'appended' | 'conflict'>;

  // Birth (P1.5)
  /** One item per (label, job), to be written before the first event; writing them again changes nothing. */
  putLabels(job: string, labels: Readonly<Record<string, string>>): Promise<void>;
  /** Puts the key's item unless a live one (younger than 24 h at `at`) exists; gives whatever is there now. */
  claimKey(key: Key): Promise<Key>;
  /** The key's live item (younger than 24 h at `at`), read consistently: whether a request was accepted before. */
  readKey(principal: string, key: string, at: number): Promise<Key | undefined>;
  /** Points the key at another job on the condition that it still points at `from`. */
  moveKey(key: Key, from: string): Promise<'moved' | 'changed'>;
  /** Head at version 0. `exists`: one with the same principal, key and payload hash is there (its triedAt was renewed while its version is 0). `clash`: a different one. */
  createHead(head: Head): Promise<'created' | 'exists' | 'clash'>;
  /** Removes a head on the condition of version 0 and that same triedAt. */
  removeHead(job: string, triedAt: number): Promise<'removed' | 'changed'>;

  // The head (P1.4, P2.3)
  readHead(job: string): Promise<Head | undefined>;
  /** The heads of 1 to BATCH_LIMIT different jobs, read consistently, in no order; a job without one is left out. */
  readHeads(jobs: readonly string[]): Promise<readonly Head[]>;
  /**
   * Moves the head forward to `version`, in one update conditional on a smaller version AND on the parked token being the one
   * that was read (`token`, or undefined for none parked). `take`: the same update moves that token from parked to owed and notes the time.
   */
  moveHead(
    job: string,
    move: {
      readonly version: number;
      readonly summary: Summary;
      readonly token: string | undefined;
      readonly take: boolean;
      readonly at: number;
    },
  ): Promise<'moved' | 'behind' | 'token_changed'>;
  /** Counts a try of a step at that version (conditional on the head's version being it); gives the count. */
  countTry(job: string, version: number): Promise<number | 'stale'>;

  // Notices (P2.7). moveHead marks the head unsent since `move.at`, or leaves the mark of an earlier move.
  /**
   * Domain events up to `version` were sent: moves `notified` forward to it, and takes the mark away where it is the head's version.
   * `behind`: notified is that far already. `ahead`: the head's version is smaller (or there is no head); move the head first.
   */
  setNotified(job: string, version: number): Promise<'noted' | 'behind' | 'ahead'>;
  /** Heads with notified < version, unsent since before `before`, longest first. A hint: the head is to be read. */
  listUnnotified(before: number, limit: number): Promise<readonly string[]>;
  /** Of a cluster's log, up to which version domain events were sent; 0 for none. There are few clusters, so no list of unsent ones. */
  readClusterNotified(cluster: string): Promise<number>;
  /** Moves it forward; never back. */
  setClusterNotified(cluster: string, version: number): Promise<void>;

  // Supervision (P2.2, P2.5, P2.8)
  /**
   * Stores a token: slot '' on the head, else on the question's own item. On the head it demands the head's version = wake.version; on a
   * question it does not. Both demand that `order` is greater than the last stored in that slot; the same token again is `parked`.
   * A generation lower than the head's is `superseded`.
   */
  park(job: string, slot: string, wake: Omit<Wake, 'state' | 'owedSince'>): Promise<'parked' | 'stale' | 'superseded'>;
  readWake(job: string, slot: string): Promise<Wake | undefined>;
  /** Moves that token from parked to owed, if it is still the parked one there. On a question also only if its version is smaller than `version`. */
  takeWake(job: string, slot: string, token: string, at: number, version: number): Promise<'taken' | 'gone'>;
  /** Removes the token from the slot if it still holds it as owed. */
  clearWake(job: string, slot: string, token: string): Promise<void>;
  /** Advance begins: sets seenAt, and raises the generation when this one is higher (resetting nothing else). */
  seen(job: string, generation: number, machine: number, at: number): Promise<'seen' | 'superseded'>;
  resetFailures(job: string): Promise<void>;
  /** Reconcile raises the generation by a condition on the one it read, counting a failure. */
  raiseGeneration(job: string, from: number, at: number): Promise<'raised' | 'changed'>;

  // What is not yet a fact (P5.6)
  readWatch(job: string): Promise<string | undefined>;
  /** undefined removes it. */
  writeWatch(job: string, watch: string | undefined): Promise<void>;

  // Lists: hints, read eventually
  listActive(cluster: string, login: string, cursor?: string): Promise<Page<ActiveRow>>;
  /** Jobs that have not ended, over all clusters, version-0 births included. */
  listUnended(cursor?: string): Promise<Page<string>>;
  /**
   * Newest births first; at most `limit` rows (1 to JOBS_LIMIT). The index says which jobs, their heads say the rows, so a page may come
   * back short, or empty with a cursor, where a head no longer fits the filter. Births at version 0 are listed too.
   */
  listJobs(filter: JobFilter, page: { readonly limit: number; readonly cursor?: string }): Promise<Page<JobRow>>;
  /** How many jobs of a project have not ended, births included, counted to `atMost` (1 to COUNT_LIMIT). */
  countActive(project: string, atMost: number): Promise<number>;
  /** Tokens owed since before `before`, oldest first, slots of both kinds. Never the token itself: tokens stay out of indexes (P2.6). */
  listOwed(before: number, limit: number): Promise<readonly { readonly job: string; readonly slot: string }[]>;

  // Connection slots (P5.8)
  /**
   * Tries `slots` in that order, each by one conditional put: free, past its lease, or already this owner's (a Put whose answer was
   * lost). `owner` is unique to one taking, and holds the slot until it returns it or SLOT_LEASE_MS after `at`. What is taken is
   * counted as a connection in the hour of `at`.
   */
  takeSlot(
    cluster: string,
    login: string,
    take: { readonly slots: readonly Slot[]; readonly owner: string; readonly at: number },
  ): Promise<{ readonly kind: 'taken'; readonly slot: Slot } | { readonly kind: 'none' }>;
  /** `gone`: this owner no longer holds it. */
  returnSlot(cluster: string, login: string, slot: Slot, owner: string): Promise<'returned' | 'gone'>;
  /** Slots taken in the hour (UTC) of `at`; a repeated request may count twice. */
  readConnections(cluster: string, login: string, at: number): Promise<number>;

  // The poll's lease (P5.1)
  readLease(cluster: string, login: string): Promise<Lease | undefined>;
  /**
   * The one write of a poll, made after its look and before its first commit: raises the fence by one on the condition that it is
   * still the one read before the look (`fence` 0: no item yet), and notes when the cluster answered. `lost`: another poll was faster,
   * so this look is dropped whole.
   */
  renewLease(
    cluster: string,
    login: string,
    renew: { readonly fence: number; readonly at: number; readonly answeredAt: number },
  ): Promise<{ readonly kind: 'renewed'; readonly fence: number } | { readonly kind: 'lost' }>;
}
