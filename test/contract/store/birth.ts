import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aHead, aKey, aMove, aSummary, aWake, fresh, HOUR, T0 } from './given.ts';

export const birthContract = (store: () => RecordStore): void => {
  describe('keys', () => {
    it('P1.5: the first claim wins; a repeat finds it, whatever its payload', async () => {
      const first = aKey(fresh());
      expect(await store().claimKey(first)).toEqual(first);
      expect(await store().claimKey({ ...first, job: fresh(), at: T0 + HOUR })).toEqual(first);
      expect(await store().claimKey({ ...first, job: fresh(), payloadHash: 'other', at: T0 + HOUR })).toEqual(first);
    });

    it('P1.5: a key counts for 24 hours, then as absent', async () => {
      const first = aKey(fresh());
      await store().claimKey(first);
      const early = { ...first, job: fresh(), at: T0 + 24 * HOUR - 1 };
      const late = { ...first, job: fresh(), payloadHash: 'other', at: T0 + 24 * HOUR };
      expect(await store().readKey(first.principal, first.key, early.at)).toEqual(first);
      expect(await store().readKey(first.principal, first.key, late.at)).toBeUndefined();
      expect(await store().readKey(first.principal, fresh('k'), first.at)).toBeUndefined();
      expect(await store().claimKey(early)).toEqual(first);
      expect(await store().claimKey(late)).toEqual(late);
      expect(await store().claimKey(late)).toEqual(late);
    });

    it('P1.5: a key is read as long as it counts, and reading claims nothing', async () => {
      const first = aKey(fresh());
      expect(await store().readKey(first.principal, first.key, T0)).toBeUndefined();
      await store().claimKey(first);
      expect(await store().readKey(first.principal, first.key, T0 + 24 * HOUR - 1)).toEqual(first);
      expect(await store().readKey(first.principal, first.key, T0 + 24 * HOUR)).toBeUndefined();
      expect(await store().readKey('bob', first.key, T0)).toBeUndefined();
    });

    it('P1.5: a key belongs to its principal', async () => {
      const name = fresh('k');
      const keys = [
        aKey(fresh(), { principal: `a#${name}`, key: 'b' }),
        aKey(fresh(), { principal: 'a', key: `${name}#b` }),
        aKey(fresh(), { principal: `a%23${name}`, key: 'b' }),
      ];
      for (const key of keys) expect(await store().claimKey(key)).toEqual(key);
      for (const key of keys) expect(await store().claimKey({ ...key, job: fresh() })).toEqual(key);
    });

    it('P1.5: of 20 claims at once all see the same job', async () => {
      const key = fresh('key');
      const claims = await Promise.all(Array.from({ length: 20 }, () => store().claimKey(aKey(fresh(), { key }))));
      expect(new Set(claims.map(({ job }) => job)).size).toBe(1);
    });

    it('P1.5: after a clash of ids the key moves once, from the old job', async () => {
      const old = aKey(fresh());
      await store().claimKey(old);
      const mine = { ...old, job: fresh(), at: T0 + 1 };
      expect(await store().moveKey(mine, old.job)).toBe('moved');
      expect(await store().moveKey({ ...old, job: fresh() }, old.job)).toBe('changed');
      expect(await store().claimKey({ ...old, at: T0 + 2 })).toEqual(mine);
      expect(await store().moveKey(aKey(fresh()), 'nobody')).toBe('changed');
    });
  });

  describe('births', () => {
    it('P1.5: created once; the same birth again exists and is renewed; another one is a clash', async () => {
      const head = aHead(fresh());
      expect(await store().createHead(head)).toBe('created');
      expect(await store().readHead(head.job)).toEqual(head);
      expect(await store().createHead({ ...head, triedAt: T0 + 5, bornAt: T0 + 5 })).toBe('exists');
      expect(await store().readHead(head.job)).toEqual({ ...head, triedAt: T0 + 5 });
      for (const other of [{ principal: 'bob' }, { key: 'other' }, { payloadHash: 'other' }]) {
        expect(await store().createHead({ ...head, ...other, triedAt: T0 + 9 })).toBe('clash');
      }
      expect((await store().readHead(head.job))?.triedAt).toBe(T0 + 5);
    });

    it('P1.5: past version 0 the same birth exists and renews nothing', async () => {
      const head = aHead(fresh());
      await store().createHead(head);
      await store().moveHead(head.job, aMove(1));
      expect(await store().createHead({ ...head, triedAt: T0 + 5 })).toBe('exists');
      expect(await store().readHead(head.job)).toMatchObject({ version: 1, triedAt: T0 });
      expect(await store().createHead({ ...head, principal: 'bob' })).toBe('clash');
    });

    it('P1.5: a birth is removed only as it was seen: version 0 and the same time of the last try', async () => {
      const head = aHead(fresh());
      await store().createHead(head);
      await store().createHead({ ...head, triedAt: T0 + 5 });
      expect(await store().removeHead(head.job, T0)).toBe('changed');
      expect(await store().removeHead(head.job, T0 + 5)).toBe('removed');
      expect(await store().readHead(head.job)).toBeUndefined();
      expect(await store().removeHead(head.job, T0 + 5)).toBe('changed');
      expect(await store().createHead(head)).toBe('created');
      await store().moveHead(head.job, aMove(1));
      expect(await store().removeHead(head.job, T0)).toBe('changed');
    });

    it('P1.5: of 20 births at once one creates and the others find it', async () => {
      const head = aHead(fresh());
      const answers = await Promise.all(Array.from({ length: 20 }, () => store().createHead(head)));
      expect(answers.sort()).toEqual(['created', ...Array<string>(19).fill('exists')]);
    });

    it('P1.5: nothing is born with a version, a token or a watchline that is too long', async () => {
      const head = aHead(fresh());
      const wake = { ...aWake('t', T0), state: 'parked' as const };
      for (const wrong of [{ version: 1 }, { wake }, { lastOrder: wake.order }, { summary: aSummary({ watchline: 'é'.repeat(101) }) }]) {
        await expect(store().createHead({ ...head, ...wrong })).rejects.toThrow(AssertionFailed);
      }
      expect(await store().readHead(head.job)).toBeUndefined();
    });
  });
};
