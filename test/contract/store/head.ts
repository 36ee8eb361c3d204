import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import { BATCH_LIMIT, type RecordStore } from '../../../lib/record/port.ts';
import { aJob, aMove, aSummary, aWake, fresh, HOUR, T0 } from './given.ts';

export const headContract = (store: () => RecordStore): void => {
  describe('the head', () => {
    it('P1.4: moves forward over any number of versions, never back, and keeps what is not folded', async () => {
      const job = await aJob(store(), 1);
      const before = await store().readHead(job);
      const summary = aSummary({ state: 'running', active: 'lumi#ml', watchline: '1 700 queued', name: '', project: '' });
      expect(await store().moveHead(job, aMove(7, { summary }))).toBe('moved');
      expect(await store().readHead(job)).toEqual({ ...before, version: 7, summary, tries: { version: 7, count: 0 } });
      for (const version of [7, 6, 1]) expect(await store().moveHead(job, aMove(version))).toBe('behind');
      expect(await store().readHead(job)).toMatchObject({ version: 7, summary });
    });

    it('P2.4: many heads are read at once, each as it is read alone, tokens included', async () => {
      const [a, b] = [await aJob(store()), await aJob(store())];
      await store().park(a, '', aWake('a', T0));
      const heads = await store().readHeads([b, fresh(), a]);
      expect(new Map(heads.map((head) => [head.job, head]))).toEqual(
        new Map([
          [a, await store().readHead(a)],
          [b, await store().readHead(b)],
        ]),
      );
      for (const count of [0, BATCH_LIMIT + 1]) {
        await expect(store().readHeads(Array.from({ length: count }, () => fresh()))).rejects.toThrow(AssertionFailed);
      }
    });

    it('P1.4: of 20 writers that move to different versions the greatest remains', async () => {
      const job = await aJob(store(), 1);
      await Promise.all(Array.from({ length: 20 }, (_, i) => store().moveHead(job, aMove(i + 2))));
      expect(await store().readHead(job)).toMatchObject({ version: 21, summary: { state: 'at-21' } });
    });

    it('P2.3: a token that was judged and not taken stays parked over the move', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      expect(await store().moveHead(job, aMove(2, { token: 'a' }))).toBe('moved');
      expect(await store().readHead(job)).toMatchObject({
        version: 2,
        wake: { ...aWake('a', T0), state: 'parked' },
        supervisor: { takenAt: 0 },
      });
    });

    it('P2.3: parked, then owed with the move that takes it, then gone when it was signalled', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      expect(await store().moveHead(job, aMove(2, { token: 'a', take: true, at: T0 + HOUR }))).toBe('moved');
      const owed = { ...aWake('a', T0), state: 'owed', owedSince: T0 + HOUR };
      expect(await store().readHead(job)).toMatchObject({ version: 2, wake: owed, supervisor: { takenAt: T0 + HOUR } });
      expect(await store().readWake(job, '')).toEqual(owed);
      await store().clearWake(job, '', 'a');
      const head = await store().readHead(job);
      expect(head).not.toHaveProperty('wake');
      expect(head?.lastOrder).toEqual(aWake('a', T0).order);
    });

    it('W5: a token stored between reading the head and moving it must be judged', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      expect(await store().moveHead(job, aMove(2))).toBe('token_changed');
      expect(await store().moveHead(job, aMove(2, { token: 'b', take: true }))).toBe('token_changed');
      expect(await store().readHead(job)).toMatchObject({ version: 1, wake: { token: 'a', state: 'parked' } });
      expect(await store().moveHead(job, aMove(2, { token: 'a', take: true }))).toBe('moved');
    });

    it('P2.3: an owed token counts as none parked, and a move leaves it owed', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      await store().moveHead(job, aMove(2, { token: 'a', take: true }));
      const { wake } = (await store().readHead(job))!;
      expect(await store().moveHead(job, aMove(3, { token: 'a' }))).toBe('token_changed');
      expect(await store().moveHead(job, aMove(3))).toBe('moved');
      expect(await store().readWake(job, '')).toEqual(wake);
    });

    it('P2.3: of 10 writers that take the same token exactly one does', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store().moveHead(job, aMove(i + 2, { token: 'a', take: true }))),
      );
      expect(answers.filter((answer) => answer === 'moved')).toHaveLength(1);
    });

    it('P1.4: behind says so even when the token changed, too', async () => {
      const job = await aJob(store(), 5);
      await store().park(job, '', aWake('a', T0, { version: 5 }));
      expect(await store().moveHead(job, aMove(4, { token: 'b' }))).toBe('behind');
    });

    it('P1.4: a head that is not there is a mistake of ours, and none is made of it', async () => {
      const job = fresh();
      await expect(store().moveHead(job, aMove(1))).rejects.toThrow(AssertionFailed);
      expect(await store().readHead(job)).toBeUndefined();
    });

    it('P2.3: nothing can be taken where nothing is parked, and a summary stays small', async () => {
      const job = await aJob(store());
      await expect(store().moveHead(job, aMove(2, { take: true }))).rejects.toThrow(AssertionFailed);
      await expect(store().moveHead(job, aMove(2, { summary: aSummary({ watchline: 'x'.repeat(201) }) }))).rejects.toThrow(AssertionFailed);
    });

    it('P2.1: tries are counted for one version and end with the next', async () => {
      const job = await aJob(store(), 3);
      expect(await store().countTry(job, 3)).toBe(1);
      expect(await store().countTry(job, 3)).toBe(2);
      expect(await store().countTry(job, 2)).toBe('stale');
      expect(await store().countTry(job, 4)).toBe('stale');
      expect((await store().readHead(job))?.tries).toEqual({ version: 3, count: 2 });
      await store().moveHead(job, aMove(4));
      expect(await store().countTry(job, 3)).toBe('stale');
      expect(await store().countTry(job, 4)).toBe(1);
      expect(await store().countTry(fresh(), 0)).toBe('stale');
    });
  });
};
