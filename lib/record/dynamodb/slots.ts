/** Connection slots in DynamoDB (P5.8): leases by conditional put, so that however many ask at once, no more hold one than there are. */
import { connectionSlotKey, connectionsKey, TTL_ATTRIBUTE } from '../keys.ts';
import { type RecordStore, SLOT_LEASE_MS } from '../port.ts';
import { checkSlots } from '../slots.ts';
import type { TableCalls } from './call.ts';
import { count } from './item.ts';

export type SlotCalls = Pick<RecordStore, 'takeSlot' | 'returnSlot' | 'readConnections'>;

/** How long the counts of past hours are of interest. */
const COUNTS_REMOVED_AFTER_MS = 30 * 24 * 3600 * 1000;

export const dynamoSlots = (calls: TableCalls): SlotCalls => {
  const counted = (cluster: string, login: string, at: number) =>
    calls.update(connectionsKey(cluster, login, at), {
      add: { opened: 1 },
      set: { [TTL_ATTRIBUTE]: Math.ceil((at + COUNTS_REMOVED_AFTER_MS) / 1000) },
    });
  return {
    async takeSlot(cluster, login, { slots, owner, at }) {
      checkSlots(slots, owner);
      for (const slot of slots) {
        const taken = await calls.put(
          { ...connectionSlotKey(cluster, login, slot), owner, at },
          {
            // A holder that died gives nothing back, so its lease ends by itself. Our own: the SDK repeats a Put whose answer was lost, and
            // would otherwise go on and hold a second one.
            when: 'attribute_not_exists(#pk) OR #at <= :dead OR #owner = :owner',
            values: { dead: at - SLOT_LEASE_MS, owner },
          },
        );
        if (!taken) continue;
        // Only counted: if this fails, the caller learns that the record is not available, and the slot runs out.
        await counted(cluster, login, at);
        return { kind: 'taken', slot };
      }
      return { kind: 'none' };
    },
    async returnSlot(cluster, login, slot, owner) {
      // A holder that was too slow must not give away what is another's by now.
      const returned = await calls.remove(connectionSlotKey(cluster, login, slot), { when: '#owner = :owner', values: { owner } });
      return returned ? 'returned' : 'gone';
    },
    async readConnections(cluster, login, at) {
      const item = await calls.get(connectionsKey(cluster, login, at));
      return item ? count(item, 'opened') : 0;
    },
  };
};
