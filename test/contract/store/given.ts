/** What the store's tests begin from: one plausible head, commit, token and key, each with what a test changes. */
import type { Commit, Event } from '../../../lib/job/event.ts';
import type { Move, NewWake } from '../../../lib/record/head.ts';
import type { Head, Key, RecordStore, Summary } from '../../../lib/record/port.ts';

export const T0 = 1_790_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** Rows of a page in this suite: small, so that every list has several. */
export const PAGE_ITEMS = 3;

let made = 0;
/** A name that no other test of this run uses: a suite shares one table. */
export const fresh = (prefix = 'job'): string => `${prefix}${String(++made).padStart(13, '0')}`;

export const aSummary = (changes: Partial<Summary> = {}): Summary => ({
  active: '',
  state: 'pending',
  watchline: '',
  name: 'train',
  project: 'vision',
  ended: false,
  cluster: 'lumi',
  login: 'ml',
  asked: false,
  cause: '',
  updatedAt: T0,
  ...changes,
});

export const aHead = (job: string, changes: Partial<Head> = {}): Head => ({
  job,
  version: 0,
  bornAt: T0,
  triedAt: T0,
  principal: 'ada',
  key: `key-${job}`,
  payloadHash: 'f00d',
  summary: aSummary(),
  supervisor: { generation: 1, machine: 3, failures: 0, seenAt: T0, takenAt: 0 },
  tries: { version: 0, count: 0 },
  notified: 0,
  ...changes,
});

export const aCommit = (job: string, version: number, changes: Partial<Commit> = {}): Commit => ({
  job,
  version,
  commitId: `${job}-${version}`,
  at: T0 + version,
  actor: 'supervisor',
  schema: 1,
  events: [{ type: 'attempt_released', n: 1 }],
  ...changes,
});

/** One event whose JSON makes the commit about `bytes` long. */
export const anEventOf = (bytes: number): Event => ({ type: 'attempt_uncertain', n: 1, sent: 'x'.repeat(bytes), answer: '' });

export const aWake = (token: string, enteredAt: number, changes: Partial<NewWake> = {}): NewWake => ({
  token,
  order: { generation: 1, enteredAt, retry: 0 },
  version: 1,
  until: enteredAt + HOUR,
  question: '',
  ...changes,
});

export const aMove = (version: number, changes: Partial<Move> = {}): Move => ({
  version,
  summary: aSummary({ state: `at-${version}` }),
  token: undefined,
  take: false,
  at: T0 + version * MINUTE,
  ...changes,
});

export const aKey = (job: string, changes: Partial<Key> = {}): Key => ({
  principal: 'ada',
  key: `key-${job}`,
  job,
  payloadHash: 'f00d',
  at: T0,
  ...changes,
});

/** A born job whose head stands at `version`. */
export const aJob = async (store: RecordStore, version = 1, head: Partial<Head> = {}): Promise<string> => {
  const job = fresh();
  await store.createHead(aHead(job, head));
  if (version > 0) await store.moveHead(job, aMove(version, head.summary ? { summary: head.summary } : {}));
  return job;
};
