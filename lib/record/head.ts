/**
 * The head's own rules, pure: what callers of the store must never ask for, and what one of its rows may weigh.
 * Both stores check with these before they touch anything, so a mistake of ours is the same loud assertion on each.
 */
import { assert } from '../job/assertion.ts';
import { TIMING } from '../job/timing.ts';
import { BATCH_LIMIT, type Head, type RecordStore, type Summary, type Wake } from './port.ts';

/** Of the 256 bytes that a quiet poll reads per job, what the watchline may take (P1.6). */
export const WATCHLINE_BYTES = 200;
export const LIST_LIMIT = 1000;
export const KEY_LIFE_MS = TIMING.idempotencySeconds * 1000;

export type Move = Parameters<RecordStore['moveHead']>[1];
export type NewWake = Omit<Wake, 'state' | 'owedSince'>;

const checkSummary = (job: string, summary: Summary): void =>
  assert(Buffer.byteLength(summary.watchline) <= WATCHLINE_BYTES, `job ${job}: a watchline has at most ${WATCHLINE_BYTES} bytes`);

export const checkNewHead = (head: Head): void => {
  checkSummary(head.job, head.summary);
  assert(head.notified === 0, `job ${head.job}: a head is born without a notice`);
  assert(head.version === 0, `job ${head.job}: a head is born at version 0`);
  assert(!head.wake && !head.lastOrder && head.tries.count === 0, `job ${head.job}: a head is born without a token or a try`);
};

export const checkMove = (job: string, move: Move): void => {
  checkSummary(job, move.summary);
  assert(Number.isInteger(move.version) && move.version >= 1, `job ${job}: a head moves to a version of the log`);
  assert(!move.take || move.token !== undefined, `job ${job}: there is no token to take`);
};

/** Version 0 is the birth, of which nobody is told. */
export const checkNotified = (job: string, version: number): void =>
  assert(Number.isInteger(version) && version >= 1, `job ${job}: notices are of a version of the log`);

export const checkWake = (job: string, slot: string, wake: NewWake): void => {
  assert(wake.question === slot, `job ${job}: a token lies in the slot of its question`);
  assert(wake.token !== '', `job ${job}: a token is not empty`);
};

export const checkLimit = (limit: number): void =>
  assert(Number.isInteger(limit) && limit >= 1 && limit <= LIST_LIMIT, `a list is asked for 1 to ${LIST_LIMIT} rows`);

export const checkBatch = (size: number): void =>
  assert(size >= 1 && size <= BATCH_LIMIT, `a batch reads 1 to ${BATCH_LIMIT} items, not ${size}`);

/** A head is put before the first event and removed only without one: a caller that knows an event and finds no head must stop. */
export const noHead = (job: string): string => `job ${job}: there is no head`;

/** A head with the same birth: a repeat of it, not a clash of ids. */
export const sameBirth = (a: Head, b: Head): boolean => a.principal === b.principal && a.key === b.key && a.payloadHash === b.payloadHash;
