import { describe, expect, it } from 'vitest';
import type { RecordStore } from '../../../lib/record/port.ts';
import { fresh, MINUTE, T0 } from './given.ts';

export const leaseContract = (store: () => RecordStore): void => {
  describe('the poll’s lease', () => {
    it('P5.1: each poll raises the fence and notes when the cluster answered; logins are apart', async () => {
      const cluster = fresh('cluster');
      expect(await store().readLease(cluster, 'ml')).toBeUndefined();
      expect(await store().renewLease(cluster, 'ml', { fence: 0, at: T0, answeredAt: T0 - 1 })).toEqual({ kind: 'renewed', fence: 1 });
      expect(await store().renewLease(cluster, 'ml', { fence: 1, at: T0 + 9, answeredAt: T0 + 8 })).toEqual({ kind: 'renewed', fence: 2 });
      expect(await store().readLease(cluster, 'ml')).toEqual({ fence: 2, renewedAt: T0 + 9, answeredAt: T0 + 8 });
      expect(await store().readLease(cluster, 'other')).toBeUndefined();
    });

    it('C060: of overlapping polls one wins; a paused one is refused, its look with it', async () => {
      const cluster = fresh('cluster');
      const first = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store().renewLease(cluster, 'ml', { fence: 0, at: T0 + i, answeredAt: T0 })),
      );
      expect(first.filter(({ kind }) => kind === 'renewed')).toEqual([{ kind: 'renewed', fence: 1 }]);
      await store().renewLease(cluster, 'ml', { fence: 1, at: T0 + MINUTE, answeredAt: T0 + MINUTE });
      for (const fence of [0, 1, 3]) {
        expect(await store().renewLease(cluster, 'ml', { fence, at: T0 + 4 * MINUTE, answeredAt: T0 })).toEqual({ kind: 'lost' });
      }
      expect(await store().readLease(cluster, 'ml')).toEqual({ fence: 2, renewedAt: T0 + MINUTE, answeredAt: T0 + MINUTE });
      expect(await store().renewLease(fresh('cluster'), 'ml', { fence: 1, at: T0, answeredAt: T0 })).toEqual({ kind: 'lost' });
    });
  });
};
