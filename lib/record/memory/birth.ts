/** The birth of a job in memory (P1.5): its key, its head, and the removal of a birth that was given up. */
import { checkNewHead, KEY_LIFE_MS, sameBirth } from '../head.ts';
import { idempotencyKey } from '../keys.ts';
import type { RecordStore } from '../port.ts';
import { type State, setHead, setSlot, throughJson } from './state.ts';

export type BirthCalls = Pick<RecordStore, 'claimKey' | 'readKey' | 'moveKey' | 'createHead' | 'removeHead'>;

export const memoryBirth = (state: State): BirthCalls => ({
  async claimKey(key) {
    const { pk } = idempotencyKey(key.principal, key.key);
    const there = state.keys.get(pk);
    if (there && there.at > key.at - KEY_LIFE_MS) return there;
    const claimed = throughJson(key);
    state.keys.set(pk, claimed);
    return claimed;
  },
  async readKey(principal, key, at) {
    const there = state.keys.get(idempotencyKey(principal, key).pk);
    return there && there.at > at - KEY_LIFE_MS ? there : undefined;
  },
  async moveKey(key, from) {
    const { pk } = idempotencyKey(key.principal, key.key);
    if (state.keys.get(pk)?.job !== from) return 'changed';
    state.keys.set(pk, throughJson(key));
    return 'moved';
  },
  async createHead(head) {
    checkNewHead(head);
    const there = state.jobs.get(head.job)?.head;
    if (!there) {
      setHead(state, head.job, { ...throughJson(head), tries: { version: 0, count: 0 } });
      return 'created';
    }
    if (!sameBirth(there, head)) return 'clash';
    if (there.version === 0) setHead(state, head.job, { ...there, triedAt: head.triedAt });
    return 'exists';
  },
  async removeHead(job, triedAt) {
    const there = state.jobs.get(job)?.head;
    if (there?.version !== 0 || there.triedAt !== triedAt) return 'changed';
    setHead(state, job, undefined);
    setSlot(state, job, '', undefined);
    return 'removed';
  },
});
