/**
 * What the memory store holds. Everything stored went through JSON once, as on the wire, and is frozen, so that it can be handed
 * out without a copy and nobody changes the record by holding on to an answer.
 */
import type { Commit } from '../../job/event.ts';
import { owedValue, PRESENT, unsentValue } from '../keys.ts';
import type { ClusterCommit, Head, Key, Lease, TokenOrder, Wake } from '../port.ts';
import { createRows, type Rows } from './rows.ts';

/** A slot remembers the last token and its order after the token is gone: a late Park must meet them (W2). */
export interface Slot {
  readonly token: string;
  readonly order: TokenOrder;
  readonly wake?: Wake;
}

export type BareHead = Omit<Head, 'wake' | 'lastOrder'>;

export interface JobState {
  /** Sparse: commits[version − 1]. */
  readonly commits: Commit[];
  readonly slots: Map<string, Slot>;
  readonly blobs: Map<string, string>;
  head?: BareHead;
  watch?: string;
  /** Since when the head is beyond what was sent (P2.7). */
  unsentSince?: number;
}

export interface State {
  readonly jobs: Map<string, JobState>;
  readonly keys: Map<string, Key>;
  readonly leases: Map<string, Lease>;
  readonly clusters: Map<string, ClusterCommit[]>;
  readonly clustersNotified: Map<string, number>;
  readonly plans: Map<string, { readonly text: string; readonly at: number }>;
  /** By the key of the slot, and of the hour, as text. */
  readonly slots: Map<string, { readonly owner: string; readonly at: number }>;
  readonly connections: Map<string, number>;
  /** Of labels, by their partition. */
  readonly labelled: Rows;
  readonly listed: Rows;
  readonly byProject: Rows;
  readonly byCluster: Rows;
  readonly asked: Rows;
  readonly unendedIn: Rows;
  readonly active: Rows;
  readonly byState: Rows;
  readonly unended: Rows;
  /** By owedValue. */
  readonly owed: Map<string, { readonly since: number; readonly job: string; readonly slot: string }>;
  /** By unsentValue. */
  readonly unsent: Map<string, { readonly since: number; readonly job: string }>;
}

export const createState = (): State => ({
  jobs: new Map(),
  keys: new Map(),
  leases: new Map(),
  clusters: new Map(),
  clustersNotified: new Map(),
  plans: new Map(),
  slots: new Map(),
  connections: new Map(),
  labelled: createRows(),
  listed: createRows(),
  byProject: createRows(),
  byCluster: createRows(),
  asked: createRows(),
  unendedIn: createRows(),
  active: createRows(),
  byState: createRows(),
  unended: createRows(),
  owed: new Map(),
  unsent: new Map(),
});

const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    for (const field of Object.values(value)) frozen(field);
    Object.freeze(value);
  }
  return value;
};

/** As it would come back from the table. */
export const fromJson = <T>(text: string): T => frozen(JSON.parse(text) as T);
export const throughJson = <T>(value: T): T => fromJson(JSON.stringify(value));

export const jobOf = (state: State, job: string): JobState => {
  const known = state.jobs.get(job);
  if (known) return known;
  const fresh: JobState = { commits: [], slots: new Map(), blobs: new Map() };
  state.jobs.set(job, fresh);
  return fresh;
};

/** Puts, changes or (undefined) removes a head together with its rows in the indexes: the table does both in one update. */
export const setHead = (state: State, job: string, head: BareHead | undefined): void => {
  const holder = jobOf(state, job);
  const before = holder.head?.summary;
  const after = head?.summary;
  state.active.move(job, before?.active ?? '', after?.active ?? '');
  state.byState.move(job, before?.state ?? '', after?.state ?? '');
  state.unended.move(job, before && !before.ended ? PRESENT : '', after && !after.ended ? PRESENT : '');
  state.unendedIn.move(job, before && !before.ended ? before.project : '', after && !after.ended ? after.project : '');
  state.listed.move(job, before ? PRESENT : '', after ? PRESENT : '');
  state.byProject.move(job, before?.project ?? '', after?.project ?? '');
  state.asked.move(job, before?.asked ? PRESENT : '', after?.asked ? PRESENT : '');
  state.byCluster.move(job, before?.cluster ?? '', after?.cluster ?? '');
  if (head) holder.head = Object.freeze(head);
  else delete holder.head;
};

/** Replaces a slot together with its row in the index of owed tokens. */
export const setSlot = (state: State, job: string, slot: string, next: Slot | undefined): void => {
  const { slots } = jobOf(state, job);
  const before = slots.get(slot)?.wake?.owedSince;
  const after = next?.wake?.owedSince;
  if (before !== undefined) state.owed.delete(owedValue(before, job, slot));
  if (after !== undefined) state.owed.set(owedValue(after, job, slot), { since: after, job, slot });
  if (next) slots.set(slot, next);
  else slots.delete(slot);
};

/** Marks a head unsent since then, or (undefined) takes the mark away; like an update, together with the head's. */
export const setUnsent = (state: State, job: string, since: number | undefined): void => {
  const holder = jobOf(state, job);
  if (holder.unsentSince !== undefined) state.unsent.delete(unsentValue(holder.unsentSince, job));
  if (since === undefined) {
    delete holder.unsentSince;
    return;
  }
  holder.unsentSince = since;
  state.unsent.set(unsentValue(since, job), { since, job });
};

/** Both kinds of taking: parked becomes owed, and the time is noted. */
export const taken = (slot: Slot, wake: Wake, at: number): Slot => ({
  ...slot,
  wake: Object.freeze({ ...wake, state: 'owed' as const, owedSince: at }),
});
