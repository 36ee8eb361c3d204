import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { Page, RecordStore } from '../../../lib/record/port.ts';
import { aJob, aMove, aSummary, aWake, fresh, PAGE_ITEMS, T0 } from './given.ts';

const MAX_PAGES = 1000;

/** All rows of a list, and how large its pages were. */
export const allPages = async <T>(ask: (cursor?: string) => Promise<Page<T>>): Promise<{ rows: T[]; sizes: number[] }> => {
  const rows: T[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await (cursor === undefined ? ask() : ask(cursor));
    rows.push(...page.items);
    sizes.push(page.items.length);
    cursor = page.cursor;
  } while (cursor !== undefined && sizes.length < MAX_PAGES);
  return { rows, sizes };
};

export const listContract = (store: () => RecordStore): void => {
  const jobs = (count: number, summary: Parameters<typeof aSummary>[0]) =>
    Promise.all(Array.from({ length: count }, () => aJob(store(), 1, { summary: aSummary(summary) })));

  describe('lists', () => {
    it.each([1, PAGE_ITEMS, PAGE_ITEMS + 1, 3 * PAGE_ITEMS])('P1.6: %d active jobs of a login come in pages, each once', async (count) => {
      const cluster = fresh('cluster');
      const made = await jobs(count, { active: `${cluster}#ml`, watchline: '1 700' });
      await jobs(1, { active: `${cluster}#other` });
      const { rows, sizes } = await allPages((cursor) => store().listActive(cluster, 'ml', cursor));
      expect(rows).toEqual(made.sort().map((job) => ({ job, version: 1, watchline: '1 700' })));
      expect(sizes).toEqual(Array.from({ length: Math.ceil(count / PAGE_ITEMS) }, (_, i) => Math.min(PAGE_ITEMS, count - i * PAGE_ITEMS)));
    });

    it('P1.6: a job leaves the active list with the move that says so', async () => {
      const cluster = fresh('cluster');
      const [job] = await jobs(1, { active: `${cluster}#ml` });
      await store().moveHead(job!, aMove(2, { summary: aSummary({ active: `${cluster}#ml`, watchline: 'new' }) }));
      expect((await store().listActive(cluster, 'ml')).items).toEqual([{ job, version: 2, watchline: 'new' }]);
      await store().moveHead(job!, aMove(3, { summary: aSummary({ active: '' }) }));
      expect(await store().listActive(cluster, 'ml')).toEqual({ items: [] });
      expect((await store().readHead(job!))?.summary.active).toBe('');
    });

    it('P1.6: unended jobs are births and all that have not ended', async () => {
      const born = await aJob(store(), 0);
      const [running, ended, removed] = await jobs(3, {});
      await store().moveHead(ended!, aMove(2, { summary: aSummary({ ended: true }) }));
      const gone = await aJob(store(), 0);
      await store().removeHead(gone, T0);
      const { rows, sizes } = await allPages((cursor) => store().listUnended(cursor));
      expect(sizes.length).toBeGreaterThan(1);
      const ours = rows.filter((job) => [born, running, ended, removed, gone].includes(job));
      expect(ours).toEqual([born, ...[running, removed].sort()]);
      expect((await store().readHead(ended!))?.summary.ended).toBe(true);
    });

    it('P1.6: a cursor is opaque, and good for its own list only', async () => {
      const [cluster, state] = [fresh('cluster'), fresh('state')];
      await jobs(PAGE_ITEMS + 1, { active: `${cluster}#ml`, state });
      const active = (await store().listActive(cluster, 'ml')).cursor!;
      const byState = (await store().listJobs({ by: 'state', state }, { limit: PAGE_ITEMS })).cursor!;
      const changed = active.slice(0, 8) + (active[8] === 'A' ? 'B' : 'A') + active.slice(9);
      const refused = { code: 'record/bad_cursor', retryable: false };
      for (const cursor of [byState, changed, `${active}=`, active.slice(1), '', 'null', 'W10', '%', 'x'.repeat(5000)]) {
        await expect(store().listActive(cluster, 'ml', cursor)).rejects.toMatchObject(refused);
      }
      await expect(store().listActive(cluster, 'other', active)).rejects.toMatchObject(refused);
      await expect(store().listUnended(active)).rejects.toMatchObject(refused);
      expect((await store().listActive(cluster, 'ml', active)).items).toHaveLength(1);
    });
  });

  describe('owed tokens', () => {
    it('P2.4, P2.6: the oldest first, of both kinds of slots, and never the token itself', async () => {
      const [a, b] = [await aJob(store()), await aJob(store())];
      const secret = 'a-token-that-nobody-may-list';
      await store().park(a, '', aWake(secret, T0));
      await store().park(a, 'q1', aWake(secret, T0, { question: 'q1' }));
      await store().park(b, '', aWake(secret, T0));
      const ours = async (before: number) => (await store().listOwed(before, 1000)).filter(({ job }) => job === a || job === b);
      expect(await ours(T0)).toEqual([]);
      // Long ago, so that these come first whatever else is owed in a shared table.
      await store().takeWake(a, 'q1', secret, 2000, 9);
      await store().moveHead(b, aMove(2, { token: secret, take: true, at: 1000 }));
      await store().takeWake(a, '', secret, 3000, 9);
      const inOrder = [
        { job: b, slot: '' },
        { job: a, slot: 'q1' },
        { job: a, slot: '' },
      ];
      expect(await ours(3001)).toEqual(inOrder);
      expect(await ours(3000)).toEqual(inOrder.slice(0, 2));
      expect(await store().listOwed(3001, 2)).toEqual(inOrder.slice(0, 2));
      expect(JSON.stringify(await store().listOwed(T0, 1000))).not.toContain(secret);
      await store().clearWake(a, 'q1', secret);
      await store().park(b, '', aWake('next', T0 + 1, { version: 2 }));
      expect(await ours(3001)).toEqual([{ job: a, slot: '' }]);
      await store().clearWake(a, '', secret);
      expect(await ours(3001)).toEqual([]);
    });

    it('P2.4: a list has a bound', async () => {
      for (const limit of [0, 1001, 1.5]) await expect(store().listOwed(T0, limit)).rejects.toThrow(AssertionFailed);
    });
  });
};
