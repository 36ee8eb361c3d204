/** The head and its supervisor in memory (P1.4, P2.3, P2.8). Each method is one update: nothing else runs between its check and its change. */
import { assert } from '../../job/assertion.ts';
import { checkBatch, checkMove, noHead } from '../head.ts';
import type { Head, RecordStore, Supervisor } from '../port.ts';
import { type State, setHead, setSlot, setUnsent, taken, throughJson } from './state.ts';

export type HeadCalls = Pick<
  RecordStore,
  'readHead' | 'readHeads' | 'moveHead' | 'countTry' | 'seen' | 'resetFailures' | 'raiseGeneration'
>;

export const memoryHead = (state: State): HeadCalls => {
  const supervise = (job: string, change: Partial<Supervisor>): void => {
    const head = state.jobs.get(job)!.head!;
    setHead(state, job, { ...head, supervisor: { ...head.supervisor, ...change } });
  };
  const headOf = (job: string): Head | undefined => {
    const holder = state.jobs.get(job);
    if (!holder?.head) return undefined;
    const slot = holder.slots.get('');
    return { ...holder.head, ...(slot?.wake && { wake: slot.wake }), ...(slot && { lastOrder: slot.order }) };
  };
  return {
    async readHead(job) {
      return headOf(job);
    },
    async readHeads(jobs) {
      checkBatch(jobs.length);
      return jobs.map(headOf).filter((head) => head !== undefined);
    },
    async moveHead(job, move) {
      checkMove(job, move);
      const holder = state.jobs.get(job);
      assert(holder?.head, noHead(job));
      const slot = holder.slots.get('');
      const parked = slot?.wake?.state === 'parked' ? slot.wake.token : undefined;
      if (holder.head.version >= move.version) return 'behind';
      // W5: Park may have stored a token since the caller read; it must judge again.
      if (parked !== move.token) return 'token_changed';
      const { head } = holder;
      setHead(state, job, {
        ...head,
        version: move.version,
        summary: throughJson(move.summary),
        tries: { version: move.version, count: 0 },
        supervisor: move.take ? { ...head.supervisor, takenAt: move.at } : head.supervisor,
      });
      // P2.7: the first move whose notices are not sent says since when.
      if (holder.unsentSince === undefined) setUnsent(state, job, move.at);
      if (move.take && slot?.wake) setSlot(state, job, '', taken(slot, slot.wake, move.at));
      return 'moved';
    },
    async countTry(job, version) {
      const head = state.jobs.get(job)?.head;
      if (head?.version !== version) return 'stale';
      const count = head.tries.count + 1;
      setHead(state, job, { ...head, tries: { version, count } });
      return count;
    },
    async seen(job, generation, machine, at) {
      const head = state.jobs.get(job)?.head;
      assert(head, noHead(job));
      if (head.supervisor.generation > generation) return 'superseded';
      supervise(job, { generation, machine, seenAt: at });
      return 'seen';
    },
    async resetFailures(job) {
      if (state.jobs.get(job)?.head) supervise(job, { failures: 0 });
    },
    async raiseGeneration(job, from, at) {
      const head = state.jobs.get(job)?.head;
      if (head?.supervisor.generation !== from) return 'changed';
      supervise(job, { generation: from + 1, failures: head.supervisor.failures + 1, seenAt: at });
      return 'raised';
    },
  };
};
