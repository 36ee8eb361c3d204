/**
 * What the memory store holds. Everything stored went through JSON once, as on the wire, and is frozen, so that it can be handed
 * out without a copy and nobody changes the record by holding on to an answer.
 */
import type { Commit } from '../../job/event.ts';
import { owedValue } from '../keys.ts';
import type { Head, Key, Lease, TokenOrder, Wake } from '../port.ts';
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
}

export interface State {
  readonly jobs: Map<string, JobState>;
  readonly keys: Map<string, Key>;
  readonly leases: Map<string, Lease>;
  readonly active: Rows;
  readonly byState: Rows;
  readonly unended: Rows;
  /** By owedValue. */
  readonly owed: Map<string, { readonly since: number; readonly job: string; readonly slot: string }>;
}

export const createState = (): State => ({
  jobs: new Map(),
  keys: new Map(),
  leases: new Map(),
  active: createRows(),
  byState: createRows(),
  unended: createRows(),
  owed: new Map(),
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
  state.unended.move(job, before && !before.ended ? 'yes' : '', after && !after.ended ? 'yes' : '');
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

/** Both kinds of taking: parked becomes owed, and the time is noted. */
export const taken = (slot: Slot, wake: Wake, at: number): Slot => ({
  ...slot,
  wake: Object.freeze({ ...wake, state: 'owed' as const, owedSince: at }),
});
