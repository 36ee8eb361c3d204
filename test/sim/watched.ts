/**
 * The record with somebody who watches what becomes of tokens and supervisors (protocols §2.3, §2.8): who takes one owes its wake until it
 * was sent, nobody forgets one under which a task still waits, and nobody replaces a supervisor that waits as it was promised.
 */
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore, Wake } from '../../lib/record/port.ts';
import { Broken, holds } from './verdict.ts';

export interface Watching {
  /** What the store holds, for the judge alone. */
  readonly memory: MemoryStore;
  must<T>(work: () => T): T;
  breaks(error: unknown): void;
  /** A writer took this token. */
  taken(token: string): void;
  /** Whether a task waits under this token. */
  isWaiting(token: string): boolean;
  /** Whether an execution of this name runs. */
  runs(name: string): boolean;
  /** Whether a supervisor that waits may be replaced all the same: the world is not calm yet, or a local process begins anew. */
  mayReplace(at: number): boolean;
}

export const watched = (store: RecordStore, watching: Watching): RecordStore => {
  const { memory, must } = watching;
  const wakeOf = (job: string, slot: string): Wake | undefined => memory.dump().jobs.get(job)?.slots.get(slot)?.wake;
  const takes = (job: string, slot: string, token: string): void => {
    watching.taken(token);
    const wake = wakeOf(job, slot);
    const owed = wake?.token === token && wake.state === 'owed';
    must(() => holds(owed, 'L3', () => `a token of ${job} was taken and is owed by nobody`));
  };
  return {
    ...store,
    moveHead: async (job, move) => {
      const answer = await store.moveHead(job, move);
      if (answer === 'moved' && move.take && move.token !== undefined) takes(job, '', move.token);
      return answer;
    },
    takeWake: async (job, slot, token, at, version) => {
      const answer = await store.takeWake(job, slot, token, at, version);
      if (answer === 'taken') takes(job, slot, token);
      return answer;
    },
    clearWake: async (job, slot, token) => {
      const waits = watching.isWaiting(token);
      must(() => holds(!waits, 'L3', () => `a token of ${job} was forgotten while its task waits: nobody can wake it`));
      const before = wakeOf(job, slot);
      await store.clearWake(job, slot, token);
      const others = before?.token === token || wakeOf(job, slot) === before;
      must(() => holds(others, 'L3', () => `another token of ${job} was changed by clearing ${token.slice(0, 8)}…`));
    },
    raiseGeneration: async (job, from, at) => {
      const slots = memory.dump().jobs.get(job)?.slots.values() ?? [];
      const waits = [...slots].some(({ wake }) => wake?.state === 'parked' && wake.until > at);
      const raised = await store.raiseGeneration(job, from, at);
      if (raised === 'raised' && waits && !watching.mayReplace(at) && watching.runs(`${job}-${from}`))
        watching.breaks(new Broken('L3', `generation ${from} of ${job} waits as it was promised, and was replaced`));
      return raised;
    },
  };
};
