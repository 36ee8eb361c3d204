/**
 * The record as one process of a world sees it: every call parked, some requests or answers lost, lists that lag.
 * What is behind it is the memory store, or with `--store dynamodb` both stores in step (twin.ts). A lost answer is what a caller sees
 * when also the store's own repeats were lost: it knows nothing (P1.2).
 */
import type { Commit } from '../../lib/job/event.ts';
import { RecordFailure } from '../../lib/job/failure.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import type { Failing, Kernel, Process } from './kernel.ts';

type Calls = { readonly [name in keyof RecordStore]: (...given: never[]) => Promise<unknown> };

const READS = new Set([
  ...['read', 'readAt', 'goingOn', 'getBlob', 'getPlan', 'readKey', 'readHead', 'readHeads', 'readWake', 'readWatch', 'readLease'],
  ...['readCluster', 'readClusterNotified', 'readConnections'],
]);
/** Read from indexes, which may answer with what they held a while ago. */
const LISTS = new Set(['listActive', 'listUnended', 'listOwed', 'listUnnotified', 'listJobs', 'countActive']);
/** What they are asked for moves with the clock; what they list does not. */
const MOVING = new Set(['listOwed', 'listUnnotified']);

const EFFECTS = new Set(['append', 'renewLease', 'park', 'moveHead', 'raiseGeneration']);

export interface Line {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  /** Counts effects that may have changed something, for whoever looks at it afterwards. */
  readonly writes: { count: number };
  /** Nobody reaches the record. */
  down: boolean;
  /** What each list said last, by its call. */
  readonly lists: Map<string, unknown>;
}

export const lineTo = (kernel: Kernel, store: RecordStore, writes: Line['writes']): Line => ({
  ...{ kernel, store, writes },
  down: false,
  lists: new Map(),
});

const unavailable = (): RecordFailure => new RecordFailure('record/unavailable', 'the record did not answer');

/** What leaves a process, told before it is parked: what a decision was really made from. */
export interface Watcher {
  appends(commit: Commit): void;
  parks(wake: Parking): void;
  /** Whether a connection slot was to be had. */
  takes(answer: unknown): void;
  /** What a list gave. */
  lists(name: string, rows: unknown): void;
}
export type Parking = Parameters<RecordStore['park']>[2];

export const storeFor = (line: Line, process: Process, watcher: Watcher): RecordStore => {
  const { kernel } = line;
  const calls = line.store as unknown as Calls;
  const wrapped: Record<string, unknown> = {};
  for (const name of Object.keys(calls)) {
    const effect = calls[name as keyof RecordStore] as (...given: unknown[]) => Promise<unknown>;
    wrapped[name] = (...given: unknown[]) => {
      const what = kernel.tracing ? `${name}(${briefly(given)})` : name;
      if (name === 'append') watcher.appends(given[0] as Commit);
      if (name === 'park') watcher.parks(given[2] as Parking);
      const act = LISTS.has(name) ? () => listed(line, watcher, name, given, effect) : () => counted(line, watcher, name, effect(...given));
      return kernel.call(process, what, act, () => failing(line, name), EFFECTS.has(name) ? kernel.delayOfEffect() : kernel.delay());
    };
  }
  return wrapped as unknown as RecordStore;
};

const counted = ({ kernel, writes }: Line, watcher: Watcher, name: string, answer: Promise<unknown>): Promise<unknown> => {
  if (!READS.has(name)) writes.count += 1;
  if (name !== 'append' && name !== 'park' && name !== 'takeSlot') return answer;
  return answer.then((said) => {
    if (name === 'takeSlot') watcher.takes(said);
    if (said === 'conflict') kernel.count('append_conflict');
    if (said === 'stale' || said === 'superseded') kernel.count('stale_park');
    return said;
  });
};

const failing = (line: Line, name: string): Failing | undefined => {
  const { kernel } = line;
  if (line.down) return { when: 'before', error: unavailable };
  if (kernel.meets('record_request_lost')) return { when: 'before', error: unavailable };
  if (READS.has(name) || LISTS.has(name)) return undefined;
  if (kernel.meets('record_reply_lost')) {
    if (name === 'moveHead') kernel.count('head_moved_unheard');
    return { when: 'after', error: unavailable };
  }
  return kernel.meets('record_repeated') ? { when: 'twice', error: unavailable } : undefined;
};

const listed = async (
  line: Line,
  watcher: Watcher,
  name: string,
  given: readonly unknown[],
  effect: (...given: unknown[]) => Promise<unknown>,
) => {
  const key = `${name} ${MOVING.has(name) ? '' : JSON.stringify(given)}`;
  const old = line.lists.get(key);
  if (old !== undefined && line.kernel.meets('record_stale_list')) return old;
  const fresh = await effect(...given);
  watcher.lists(name, fresh);
  line.lists.set(key, fresh);
  return fresh;
};

const briefly = (given: readonly unknown[]): string => {
  const text = given.map((one) => JSON.stringify(one)).join(', ');
  return text.length > 240 ? `${text.slice(0, 240)}…` : text;
};
