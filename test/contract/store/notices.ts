import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aHead, aJob, aMove, fresh, T0 } from './given.ts';

export const noticesContract = (store: () => RecordStore): void => {
  /** Moves at these early moments come first in the sweep's list, whatever else a shared table holds. */
  const unsent = async (before: number, ...ours: string[]) =>
    (await store().listUnnotified(before, 1000)).filter((job) => ours.includes(job));
  const born = async () => {
    const job = fresh();
    await store().createHead(aHead(job));
    return job;
  };

  describe('notices', () => {
    it('P2.7: nobody is told of a birth; a head that moved is unsent since then', async () => {
      const job = await born();
      expect(await store().readHead(job)).toMatchObject({ version: 0, notified: 0 });
      expect(await unsent(T0, job)).toEqual([]);
      await store().moveHead(job, aMove(1, { at: 500 }));
      expect(await unsent(500, job)).toEqual([]);
      expect(await unsent(501, job)).toEqual([job]);
      expect(await store().readHead(job)).toMatchObject({ version: 1, notified: 0 });
    });

    it('P2.7: what was sent up to the head’s version takes it off the list; the next move puts it back', async () => {
      const job = await born();
      await store().moveHead(job, aMove(3, { at: 500 }));
      expect(await store().setNotified(job, 3)).toBe('noted');
      expect(await store().readHead(job)).toMatchObject({ version: 3, notified: 3 });
      expect(await unsent(T0, job)).toEqual([]);
      await store().moveHead(job, aMove(4, { at: 900 }));
      expect(await store().readHead(job)).toMatchObject({ version: 4, notified: 3 });
      expect(await unsent(900, job)).toEqual([]);
      expect(await unsent(901, job)).toEqual([job]);
    });

    it('P2.7: a head that moved on since stays on the list, and looks no younger', async () => {
      const job = await born();
      await store().moveHead(job, aMove(1, { at: 500 }));
      await store().moveHead(job, aMove(2, { at: 700 }));
      expect(await store().setNotified(job, 1)).toBe('noted');
      expect(await store().readHead(job)).toMatchObject({ version: 2, notified: 1 });
      expect(await unsent(501, job)).toEqual([job]);
      expect(await store().setNotified(job, 2)).toBe('noted');
      expect(await unsent(T0, job)).toEqual([]);
    });

    it('P2.7: of a cluster it moves forward only, whoever notes it when', async () => {
      const cluster = fresh();
      expect(await store().readClusterNotified(cluster)).toBe(0);
      for (const [version, noted] of [
        [3, 3],
        [2, 3],
        [3, 3],
        [7, 7],
      ] as const) {
        await store().setClusterNotified(cluster, version);
        expect(await store().readClusterNotified(cluster)).toBe(noted);
      }
      expect(await store().readClusterNotified(fresh())).toBe(0);
    });

    it('P2.7: only forward, and never beyond the head', async () => {
      const job = await aJob(store(), 5);
      await store().setNotified(job, 4);
      for (const version of [4, 3, 1]) expect(await store().setNotified(job, version)).toBe('behind');
      expect(await store().setNotified(job, 6)).toBe('ahead');
      expect(await store().setNotified(fresh(), 1)).toBe('ahead');
      expect(await store().readHead(job)).toMatchObject({ version: 5, notified: 4 });
    });

    it('P2.7: of ten that note different versions the greatest remains', async () => {
      const job = await born();
      await store().moveHead(job, aMove(10, { at: 500 }));
      await Promise.all(Array.from({ length: 10 }, (_, i) => store().setNotified(job, i + 1)));
      expect(await store().readHead(job)).toMatchObject({ notified: 10 });
      expect(await unsent(T0, job)).toEqual([]);
    });

    it('P2.7: the longest unsent come first, and a sweep takes only so many', async () => {
      const [a, b, c] = [await born(), await born(), await born()];
      await store().moveHead(a, aMove(1, { at: 30 }));
      await store().moveHead(b, aMove(1, { at: 10 }));
      await store().moveHead(c, aMove(1, { at: 20 }));
      expect(await store().listUnnotified(31, 1000)).toEqual([b, c, a]);
      expect(await store().listUnnotified(31, 2)).toEqual([b, c]);
      for (const job of [a, b, c]) await store().setNotified(job, 1);
      expect(await store().listUnnotified(31, 1000)).toEqual([]);
    });

    it('P2.7: a move that is refused marks nothing', async () => {
      const job = await born();
      await store().moveHead(job, aMove(2, { at: 500 }));
      await store().setNotified(job, 2);
      expect(await store().moveHead(job, aMove(2, { at: 600 }))).toBe('behind');
      expect(await store().moveHead(job, aMove(3, { at: 600, token: 'none' }))).toBe('token_changed');
      expect(await unsent(T0, job)).toEqual([]);
    });

    it('P2.7: versions of the log and lists within bounds, nothing else', async () => {
      const job = await aJob(store(), 1);
      for (const version of [0, -1, 1.5]) await expect(store().setNotified(job, version)).rejects.toThrow(AssertionFailed);
      for (const limit of [0, 1001, 1.5]) await expect(store().listUnnotified(T0, limit)).rejects.toThrow(AssertionFailed);
    });
  });
};
