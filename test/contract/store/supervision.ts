import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aJob, aMove, fresh, HOUR, T0 } from './given.ts';

export const supervisionContract = (store: () => RecordStore): void => {
  const supervisor = async (job: string) => (await store().readHead(job))?.supervisor;

  describe('supervision', () => {
    it('P2.8: Advance is seen, raises the generation to its own, and resets nothing else', async () => {
      const job = await aJob(store());
      await store().raiseGeneration(job, 1, T0);
      expect(await store().seen(job, 2, 4, T0 + HOUR)).toBe('seen');
      expect(await store().seen(job, 5, 4, T0 + 2 * HOUR)).toBe('seen');
      expect(await supervisor(job)).toEqual({ generation: 5, machine: 4, failures: 1, seenAt: T0 + 2 * HOUR, takenAt: 0 });
      expect(await store().seen(job, 4, 9, T0 + 3 * HOUR)).toBe('superseded');
      expect(await supervisor(job)).toEqual({ generation: 5, machine: 4, failures: 1, seenAt: T0 + 2 * HOUR, takenAt: 0 });
      await expect(store().seen(fresh(), 1, 1, T0)).rejects.toThrow(AssertionFailed);
    });

    it('P2.8: reconcile raises once from the generation that it read, and counts a failure', async () => {
      const job = await aJob(store());
      expect(await store().raiseGeneration(job, 1, T0 + HOUR)).toBe('raised');
      expect(await store().raiseGeneration(job, 1, T0 + 2 * HOUR)).toBe('changed');
      expect(await supervisor(job)).toMatchObject({ generation: 2, failures: 1, seenAt: T0 + HOUR });
      expect(await store().raiseGeneration(job, 2, T0 + 2 * HOUR)).toBe('raised');
      expect((await supervisor(job))?.failures).toBe(2);
      await store().resetFailures(job);
      expect(await supervisor(job)).toMatchObject({ generation: 3, failures: 0 });
      expect(await store().raiseGeneration(fresh(), 1, T0)).toBe('changed');
    });

    it('P2.8: of 20 reconciles at once one raises', async () => {
      const job = await aJob(store());
      const answers = await Promise.all(Array.from({ length: 20 }, () => store().raiseGeneration(job, 1, T0)));
      expect(answers.filter((answer) => answer === 'raised')).toHaveLength(1);
    });

    it('P2.8: supervision is not folded: a move keeps it, and a reset makes no head', async () => {
      const job = await aJob(store());
      await store().seen(job, 7, 4, T0 + HOUR);
      const before = await supervisor(job);
      await store().moveHead(job, aMove(2));
      expect(await supervisor(job)).toEqual(before);
      const nobody = fresh();
      await store().resetFailures(nobody);
      expect(await store().readHead(nobody)).toBeUndefined();
    });
  });
};
