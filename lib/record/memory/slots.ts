/** Connection slots in memory (P5.8). */
import { connectionSlotKey, connectionsKey, type ItemKey } from '../keys.ts';
import { type RecordStore, SLOT_LEASE_MS } from '../port.ts';
import { checkSlots } from '../slots.ts';
import type { State } from './state.ts';

export type SlotCalls = Pick<RecordStore, 'takeSlot' | 'returnSlot' | 'readConnections'>;

const idOf = (key: ItemKey): string => JSON.stringify(key);

export const memorySlots = (state: State): SlotCalls => ({
  async takeSlot(cluster, login, { slots, owner, at }) {
    checkSlots(slots, owner);
    const slot = slots.find((one) => {
      const there = state.slots.get(idOf(connectionSlotKey(cluster, login, one)));
      return !there || there.at <= at - SLOT_LEASE_MS || there.owner === owner;
    });
    if (slot === undefined) return { kind: 'none' };
    state.slots.set(idOf(connectionSlotKey(cluster, login, slot)), { owner, at });
    const hour = idOf(connectionsKey(cluster, login, at));
    state.connections.set(hour, (state.connections.get(hour) ?? 0) + 1);
    return { kind: 'taken', slot };
  },
  async returnSlot(cluster, login, slot, owner) {
    const id = idOf(connectionSlotKey(cluster, login, slot));
    if (state.slots.get(id)?.owner !== owner) return 'gone';
    state.slots.delete(id);
    return 'returned';
  },
  async readConnections(cluster, login, at) {
    return state.connections.get(idOf(connectionsKey(cluster, login, at))) ?? 0;
  },
});
