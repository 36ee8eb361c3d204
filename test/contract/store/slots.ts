import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import { type RecordStore, SLOT_LEASE_MS, SLOTS, type Slot } from '../../../lib/record/port.ts';
import { fresh, HOUR, T0 } from './given.ts';

export const slotsContract = (store: () => RecordStore): void => {
  const take = (cluster: string, owner: string, slots: readonly Slot[] = SLOTS.work, at = T0, login = 'ml') =>
    store().takeSlot(cluster, login, { slots, owner, at });
  const taken = (slot: Slot) => ({ kind: 'taken', slot });
  const none = { kind: 'none' };

  describe('connection slots', () => {
    it('P5.8: four in all, the first for polls alone, and one of its own for reading output', () => {
      expect(SLOTS).toEqual({ poll: ['0'], work: ['1', '2', '3'], output: ['output'] });
    });

    it('P5.8: of 50 that ask at once three get one each, and the others none', async () => {
      const cluster = fresh('cluster');
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => take(cluster, `owner-${i}`)));
      const held = answers.flatMap((answer) => (answer.kind === 'taken' ? [answer.slot] : []));
      expect(held.sort()).toEqual(['1', '2', '3']);
      // Whatever work does, a poll and a person who reads output get through; logins and clusters are apart.
      expect(await take(cluster, 'poll', SLOTS.poll)).toEqual(taken('0'));
      expect(await take(cluster, 'reader', SLOTS.output)).toEqual(taken('output'));
      expect(await take(cluster, 'other', SLOTS.work, T0, 'other')).toEqual(taken('1'));
      expect(await take(`${cluster}x`, 'other')).toEqual(taken('1'));
    });

    it('P5.8: one that is given back is free, and only its owner gives it back', async () => {
      const cluster = fresh('cluster');
      await take(cluster, 'me', ['2']);
      expect(await take(cluster, 'you', ['2'])).toEqual(none);
      expect(await store().returnSlot(cluster, 'ml', '2', 'you')).toBe('gone');
      expect(await take(cluster, 'you', ['2'])).toEqual(none);
      expect(await store().returnSlot(cluster, 'ml', '2', 'me')).toBe('returned');
      expect(await store().returnSlot(cluster, 'ml', '2', 'me')).toBe('gone');
      expect(await take(cluster, 'you', ['2'])).toEqual(taken('2'));
    });

    it('P5.8: a holder that died loses it after 180 s, and what it then gives back is not the next one’s', async () => {
      const cluster = fresh('cluster');
      await take(cluster, 'dead', ['1']);
      expect(await take(cluster, 'next', ['1'], T0 + SLOT_LEASE_MS - 1)).toEqual(none);
      expect(await take(cluster, 'next', ['1'], T0 + SLOT_LEASE_MS)).toEqual(taken('1'));
      expect(await store().returnSlot(cluster, 'ml', '1', 'dead')).toBe('gone');
      expect(await take(cluster, 'third', ['1'], T0 + SLOT_LEASE_MS)).toEqual(none);
    });

    it('P5.8: they are tried in the order asked for, and an owner that asks again has the one that it has', async () => {
      const cluster = fresh('cluster');
      expect(await take(cluster, 'a', ['3', '1'])).toEqual(taken('3'));
      expect(await take(cluster, 'a', ['3', '1'])).toEqual(taken('3'));
      expect(await take(cluster, 'b', ['3', '1'])).toEqual(taken('1'));
      expect(await take(cluster, 'c', ['3', '1'])).toEqual(none);
    });

    it('P5.8: what was taken is counted by the hour, what was not is not', async () => {
      const [cluster, hour] = [fresh('cluster'), Math.floor(T0 / HOUR) * HOUR];
      expect(await store().readConnections(cluster, 'ml', hour)).toBe(0);
      for (const owner of ['a', 'b', 'c', 'd']) await take(cluster, owner, SLOTS.work, hour);
      await take(cluster, 'poll', SLOTS.poll, hour + HOUR - 1);
      await take(cluster, 'poll', SLOTS.poll, hour + HOUR);
      await take(cluster, 'a', SLOTS.work, hour, 'other');
      expect(await store().readConnections(cluster, 'ml', hour + 1)).toBe(4);
      expect(await store().readConnections(cluster, 'ml', hour + HOUR)).toBe(1);
      expect(await store().readConnections(cluster, 'other', hour)).toBe(1);
    });

    it('P5.8: nobody takes a slot that is none, none at all, or in nobody’s name', async () => {
      const cluster = fresh('cluster');
      await expect(take(cluster, 'me', [])).rejects.toThrow(AssertionFailed);
      await expect(take(cluster, 'me', ['4' as Slot])).rejects.toThrow(AssertionFailed);
      await expect(take(cluster, '')).rejects.toThrow(AssertionFailed);
    });
  });
};
