/** Wake tokens in memory (P2.2, P2.3, P2.5): parked, owed, cleared, on the head and on questions. */
import { checkWake } from '../head.ts';
import { compareOrders, orderText } from '../order.ts';
import type { RecordStore } from '../port.ts';
import { type State, setHead, setSlot, taken, throughJson } from './state.ts';

export type WakeCalls = Pick<RecordStore, 'park' | 'readWake' | 'takeWake' | 'clearWake'>;

export const memoryWake = (state: State): WakeCalls => ({
  async park(job, slot, wake) {
    checkWake(job, slot, wake);
    orderText(wake.order);
    const holder = state.jobs.get(job);
    const there = holder?.slots.get(slot);
    // P2.2: a repeat of the Park that stored this token, wherever the head and the token are by now.
    if (there?.token === wake.token) return 'parked';
    if (!holder?.head) return 'stale';
    if (holder.head.supervisor.generation > wake.order.generation) return 'superseded';
    if (slot === '' && holder.head.version !== wake.version) return 'stale';
    if (there && compareOrders(there.order, wake.order) >= 0) return 'stale';
    const stored = throughJson(wake);
    setSlot(state, job, slot, { token: stored.token, order: stored.order, wake: Object.freeze({ ...stored, state: 'parked' as const }) });
    return 'parked';
  },
  async readWake(job, slot) {
    return state.jobs.get(job)?.slots.get(slot)?.wake;
  },
  async takeWake(job, slot, token, at, version) {
    const holder = state.jobs.get(job);
    const there = holder?.slots.get(slot);
    if (there?.token !== token || there.wake?.state !== 'parked') return 'gone';
    // E5: a supervisor that already knew this writer's commit parked it; it is not this writer's to take.
    if (slot !== '' && there.wake.version >= version) return 'gone';
    setSlot(state, job, slot, taken(there, there.wake, at));
    if (slot === '' && holder?.head) {
      setHead(state, job, { ...holder.head, supervisor: { ...holder.head.supervisor, takenAt: at } });
    }
    return 'taken';
  },
  async clearWake(job, slot, token) {
    const there = state.jobs.get(job)?.slots.get(slot);
    // W4: only this token and only as owed; a newer one stays.
    if (there?.token !== token || there.wake?.state !== 'owed') return;
    setSlot(state, job, slot, { token: there.token, order: there.order });
  },
});
