/**
 * Twin: both record stores in step, for a world with `--store dynamodb`. Every call is made on the DynamoDB store and on the memory store,
 * whose answers must be the same; the judge reads the memory store, everybody else lives on DynamoDB's answers.
 * dynalite and the SDK need real clocks, timers and random numbers, which a world forbids: they live in a thread of their own.
 */
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { RecordFailure } from '../../lib/job/failure.ts';
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import type { Head, RecordStore } from '../../lib/record/port.ts';
import type { Twin } from './stage.ts';
import type { Told } from './twin-thread.ts';
import { Broken } from './verdict.ts';

export interface Twins {
  /** A record of its own for each world. */
  readonly twin: (memory: MemoryStore, pageItems: number) => Twin;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export const startTwins = async (): Promise<Twins> => {
  const worker = new Worker(new URL('./twin-thread.ts', import.meta.url));
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let heard: () => void = () => undefined;
  worker.on('message', ({ id, value, error }: Told) => {
    const { resolve, reject } = waiting.get(id)!;
    waiting.delete(id);
    if (error) reject(error.code === 'record/unavailable' ? new RecordFailure(error.code, error.message) : new Error(error.message));
    else resolve(value);
    heard();
  });
  const call = (name: string, given: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = calls++;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, given });
    });
  const outside = {
    pending: () => waiting.size > 0,
    next: () =>
      new Promise<void>((resolve) => {
        heard = resolve;
      }),
  };
  await call('ready', []);
  return {
    twin: (memory, pageItems) => {
      void call('open', [pageItems]);
      return { store: inStep(memory, call), outside };
    },
    close: async () => void (await worker.terminate()),
  };
};

const inStep = (memory: MemoryStore, call: (name: string, given: readonly unknown[]) => Promise<unknown>): RecordStore => {
  const { dump: _, ...port } = memory;
  const names = Object.keys(port) as (keyof RecordStore)[];
  const both = (name: keyof RecordStore) => {
    const plain = memory[name] as (...given: unknown[]) => Promise<unknown>;
    return async (...given: unknown[]) => {
      const [expected, answered] = await Promise.allSettled([plain(...given), call(name, given)]);
      if (!isDeepStrictEqual(said(name, expected), said(name, answered)))
        throw new Broken('store', `${name}(${JSON.stringify(given)}) = ${told(name, answered)}, and in memory ${told(name, expected)}`);
      if (answered.status === 'rejected') throw answered.reason;
      return answered.value;
    };
  };
  return Object.fromEntries(names.map((name) => [name, both(name)])) as unknown as RecordStore;
};

/** As it would be written down: what is undefined is not there, and sets, and what is read in no order, have none. */
const said = (name: string, settled: PromiseSettledResult<unknown>): unknown => {
  if (settled.status === 'rejected') return (settled.reason as Error).message;
  const { value } = settled;
  if (value instanceof Set) return [...value].sort();
  if (name === 'readHeads') return toJson((value as Head[]).toSorted((a, b) => (a.job < b.job ? -1 : 1)));
  return toJson(value);
};

const toJson = (value: unknown): unknown => (value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown));
const told = (name: string, settled: PromiseSettledResult<unknown>): string => JSON.stringify(said(name, settled)) ?? 'undefined';
