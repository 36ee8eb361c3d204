import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aJob, aMove, aWake, fresh, HOUR, T0 } from './given.ts';

export const wakeContract = (store: () => RecordStore): void => {
  const order = (generation: number, enteredAt: number, retry = 0) => ({ generation, enteredAt, retry });

  describe('a token on the head', () => {
    it('P2.2: is stored only while the head stands at the version that was decided from', async () => {
      const job = await aJob(store(), 2);
      expect(await store().park(job, '', aWake('early', T0, { version: 1 }))).toBe('stale');
      expect(await store().park(job, '', aWake('ahead', T0, { version: 3 }))).toBe('stale');
      expect(await store().readWake(job, '')).toBeUndefined();
      expect(await store().park(job, '', aWake('a', T0, { version: 2 }))).toBe('parked');
      expect(await store().readHead(job)).toMatchObject({ wake: { token: 'a', state: 'parked' }, lastOrder: order(1, T0) });
      expect(await store().park(fresh(), '', aWake('a', T0))).toBe('stale');
    });

    it('P2.2: the same token again is parked, wherever head and token are by then, and changes nothing', async () => {
      const job = await aJob(store());
      const wake = aWake('a', T0);
      const again = () => store().park(job, '', wake);
      expect([await again(), await again()]).toEqual(['parked', 'parked']);
      await store().moveHead(job, aMove(2, { token: 'a' }));
      expect(await again()).toBe('parked');
      await store().moveHead(job, aMove(3, { token: 'a', take: true }));
      expect(await again()).toBe('parked');
      expect(await store().park(job, '', { ...wake, version: 3, order: order(1, T0 + HOUR) })).toBe('parked');
      expect(await store().readWake(job, '')).toMatchObject({ state: 'owed', order: order(1, T0) });
      await store().clearWake(job, '', 'a');
      expect(await again()).toBe('parked');
      expect(await store().readWake(job, '')).toBeUndefined();
    });

    it.each([
      ['an earlier state', order(1, T0 + 4, 9)],
      ['an earlier retry', order(1, T0 + 5, 1)],
      ['an older generation', order(0, T0 + 9, 9)],
      ['the same order under another name', order(1, T0 + 5, 2)],
    ])('W2: a late Park of %s never overwrites the living token', async (_, older) => {
      const job = await aJob(store(), 1, { supervisor: { generation: 0, machine: 1, failures: 0, seenAt: T0, takenAt: 0 } });
      await store().park(job, '', aWake('living', T0, { order: order(1, T0 + 5, 2) }));
      expect(await store().park(job, '', aWake('late', T0, { order: older }))).toBe('stale');
      expect(await store().readWake(job, '')).toMatchObject({ token: 'living', state: 'parked' });
      await store().takeWake(job, '', 'living', T0, 1);
      await store().clearWake(job, '', 'living');
      expect(await store().park(job, '', aWake('late', T0, { order: older }))).toBe('stale');
      expect(await store().readWake(job, '')).toBeUndefined();
    });

    it.each([
      ['a later retry', order(1, 1_000, 10), order(1, 1_000, 9)],
      ['a later state', order(1, 1_000, 0), order(1, 999, 5)],
      ['a newer generation', order(10, 1, 0), order(9, 9_999, 9)],
    ])('P2.2: numbers order tokens, not digits: %s takes the place', async (_, later, earlier) => {
      const job = await aJob(store());
      expect(await store().park(job, '', aWake('a', T0, { order: earlier }))).toBe('parked');
      expect(await store().park(job, '', aWake('b', T0, { order: later }))).toBe('parked');
      expect(await store().readHead(job)).toMatchObject({ wake: { token: 'b' }, lastOrder: later });
    });

    it('W3: a taken token stays owed until it is cleared as owed; a parked one is not cleared', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      await store().clearWake(job, '', 'a');
      expect(await store().readWake(job, '')).toMatchObject({ state: 'parked' });
      expect(await store().takeWake(job, '', 'a', T0 + HOUR, 0)).toBe('taken');
      expect(await store().takeWake(job, '', 'a', T0 + 2 * HOUR, 0)).toBe('gone');
      expect(await store().readHead(job)).toMatchObject({
        wake: { state: 'owed', owedSince: T0 + HOUR },
        supervisor: { takenAt: T0 + HOUR },
      });
      await store().clearWake(job, '', 'a');
      expect(await store().readWake(job, '')).toBeUndefined();
      expect(await store().takeWake(job, '', 'a', T0, 9)).toBe('gone');
      expect((await store().readHead(job))?.supervisor.takenAt).toBe(T0 + HOUR);
    });

    it('W4: clearing an older token leaves the newer one, parked or owed', async () => {
      const job = await aJob(store());
      await store().park(job, '', aWake('a', T0));
      await store().takeWake(job, '', 'a', T0, 1);
      await store().park(job, '', aWake('b', T0 + 1));
      await store().clearWake(job, '', 'a');
      expect(await store().readWake(job, '')).toEqual({ ...aWake('b', T0 + 1), state: 'parked' });
      await store().takeWake(job, '', 'b', T0 + 2, 1);
      await store().clearWake(job, '', 'a');
      expect(await store().readWake(job, '')).toMatchObject({ token: 'b', state: 'owed' });
    });

    it('P2.8: the Park of a lower generation than the head’s is superseded, of a higher one welcome', async () => {
      const job = await aJob(store());
      await store().raiseGeneration(job, 1, T0);
      expect(await store().park(job, '', aWake('old', T0))).toBe('superseded');
      expect(await store().park(job, '', aWake('new', T0, { order: order(3, T0) }))).toBe('parked');
    });

    it('P2.2: an order that is no order is our mistake', async () => {
      const job = await aJob(store());
      for (const wrong of [order(-1, T0), order(1, 0.5), order(1, T0, 10 ** 10)]) {
        await expect(store().park(job, '', aWake('a', T0, { order: wrong }))).rejects.toThrow(AssertionFailed);
      }
      await expect(store().park(job, 'q1', aWake('a', T0))).rejects.toThrow(AssertionFailed);
    });
  });

  describe('a token on a question', () => {
    const asked = (token: string, enteredAt: number, version = 1) => aWake(token, enteredAt, { version, question: 'q1' });

    it('P2.5: is stored whatever the head’s version is, in order, beside the head’s own token', async () => {
      const job = await aJob(store(), 8);
      await store().park(job, '', aWake('head', T0, { version: 8 }));
      expect(await store().park(job, 'q1', asked('a', T0, 3))).toBe('parked');
      expect(await store().park(job, 'q1', asked('a', T0, 3))).toBe('parked');
      expect(await store().park(job, 'q1', asked('late', T0 - 1, 3))).toBe('stale');
      expect(await store().park(job, 'q1', asked('b', T0 + 1, 4))).toBe('parked');
      expect(await store().readWake(job, 'q1')).toEqual({ ...asked('b', T0 + 1, 4), state: 'parked' });
      expect(await store().readWake(job, 'q2')).toBeUndefined();
      expect(await store().readWake(job, '')).toMatchObject({ token: 'head' });
    });

    it('P2.8: a lower generation than the head’s is superseded there, too; without a head it is stale', async () => {
      const job = await aJob(store());
      await store().park(job, 'q1', asked('a', T0));
      await store().raiseGeneration(job, 1, T0);
      expect(await store().park(job, 'q1', asked('b', T0 + 1))).toBe('superseded');
      expect(await store().park(job, 'q2', { ...asked('c', T0 + 1), question: 'q2' })).toBe('superseded');
      expect(await store().park(job, 'q1', asked('a', T0))).toBe('parked');
      expect(await store().park(job, 'q1', { ...asked('b', 1), order: order(2, 1) })).toBe('parked');
      expect(await store().park(fresh(), 'q1', asked('a', T0))).toBe('stale');
    });

    it('E5: a writer takes only a token that was parked without knowing its commit', async () => {
      const job = await aJob(store());
      await store().park(job, 'q1', asked('a', T0, 5));
      for (const version of [4, 5]) expect(await store().takeWake(job, 'q1', 'a', T0, version)).toBe('gone');
      expect(await store().takeWake(job, 'q1', 'b', T0, 6)).toBe('gone');
      expect(await store().takeWake(job, 'q2', 'a', T0, 6)).toBe('gone');
      expect(await store().readWake(job, 'q1')).toMatchObject({ state: 'parked' });
      expect(await store().takeWake(job, 'q1', 'a', T0 + HOUR, 6)).toBe('taken');
      expect(await store().readWake(job, 'q1')).toEqual({ ...asked('a', T0, 5), state: 'owed', owedSince: T0 + HOUR });
      await store().clearWake(job, 'q1', 'a');
      expect(await store().readWake(job, 'q1')).toBeUndefined();
      expect(await store().park(job, 'q1', asked('a', T0, 5))).toBe('parked');
      expect(await store().readWake(job, 'q1')).toBeUndefined();
    });
  });
};
