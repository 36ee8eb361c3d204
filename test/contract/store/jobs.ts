import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import type { JobFilter, RecordStore } from '../../../lib/record/port.ts';
import { aHead, aJob, aMove, aSummary, fresh, PAGE_ITEMS, T0 } from './given.ts';
import { allPages } from './lists.ts';

/** What people list (contract §11): rows of heads, named by indexes and labels. */
export const jobsContract = (store: () => RecordStore): void => {
  const jobs = async (count: number, summary: Parameters<typeof aSummary>[0]) => {
    const made: string[] = [];
    for (let i = 0; i < count; i++) made.push(await aJob(store(), 1, { summary: aSummary(summary) }));
    return made;
  };
  const list = (filter: JobFilter, limit = PAGE_ITEMS) =>
    allPages((cursor) => store().listJobs(filter, { limit, ...(cursor !== undefined && { cursor }) }));
  const listed = async (filter: JobFilter, limit?: number) => (await list(filter, limit)).rows.map(({ job }) => job);

  describe('lists of jobs', () => {
    it('§11: a row is what the head says, the cause only where there is one', async () => {
      const [project, cluster] = [fresh('project'), fresh('cluster')];
      const summary = aSummary({
        project,
        cluster,
        login: 'main',
        state: 'failed',
        cause: 'out_of_memory',
        ended: true,
        updatedAt: T0 + 7,
      });
      const job = await aJob(store(), 4, { principal: 'grace', summary });
      const row = { job, version: 4, name: 'train', project, owner: 'grace', cluster, login: 'main', state: 'failed' };
      const whole = { ...row, cause: 'out_of_memory', bornAt: T0, updatedAt: T0 + 7 };
      expect(await store().listJobs({ by: 'project', project }, { limit: 1 })).toEqual({ items: [whole] });
      const { cause: _, ...without } = whole;
      await store().moveHead(job, aMove(5, { summary: { ...summary, cause: '' } }));
      expect(await store().listJobs({ by: 'cluster', cluster }, { limit: 1 })).toEqual({ items: [{ ...without, version: 5 }] });
    });

    it.each([1, PAGE_ITEMS, PAGE_ITEMS + 1, 2 * PAGE_ITEMS])('§11: %d jobs come newest first, in pages, each once', async (count) => {
      const project = fresh('project');
      const made = await jobs(count, { project });
      await jobs(1, { project: `${project}x` });
      const { rows, sizes } = await list({ by: 'project', project });
      expect(rows.map(({ job }) => job)).toEqual(made.toReversed());
      expect(sizes).toEqual(Array.from({ length: Math.ceil(count / PAGE_ITEMS) }, (_, i) => Math.min(PAGE_ITEMS, count - i * PAGE_ITEMS)));
    });

    it('§11: by state, by cluster, by cluster and login', async () => {
      const [state, cluster] = [fresh('state'), fresh('cluster')];
      const [a] = await jobs(1, { state, cluster, login: 'ml' });
      const [b] = await jobs(1, { state, cluster, login: 'other' });
      expect(await listed({ by: 'state', state })).toEqual([b, a]);
      expect(await listed({ by: 'cluster', cluster })).toEqual([b, a]);
      expect(await listed({ by: 'cluster', cluster, login: 'ml' })).toEqual([a]);
      await store().moveHead(a!, aMove(2, { summary: aSummary({ state: 'elsewhere', cluster: `${cluster}x` }) }));
      expect(await listed({ by: 'state', state })).toEqual([b]);
      expect(await listed({ by: 'cluster', cluster })).toEqual([b]);
    });

    it('§11: a page may come back empty with a cursor, and the pages after it are still there', async () => {
      const cluster = fresh('cluster');
      const [wanted] = await jobs(1, { cluster, login: 'ml' });
      await jobs(2, { cluster, login: 'other' });
      const { rows, sizes } = await list({ by: 'cluster', cluster, login: 'ml' }, 2);
      expect(sizes).toEqual([0, 1]);
      expect(rows).toMatchObject([{ job: wanted }]);
    });

    it('§11: all jobs, ended ones and births too; what was given up is gone', async () => {
      const [running] = await jobs(1, {});
      const [ended] = await jobs(1, { ended: true });
      const born = await aJob(store(), 0);
      const gone = await aJob(store(), 0);
      await store().removeHead(gone, T0);
      const ours = (await listed({ by: 'all' }, 100)).filter((job) => [running, ended, born, gone].includes(job));
      expect(ours).toEqual([born, ended, running]);
    });

    it('§10: those with a question that they do not wait for, until the head says that it is closed', async () => {
      const [asked, other] = await jobs(2, { asked: true });
      await jobs(1, { asked: false });
      const ours = async () => (await listed({ by: 'asked' }, 100)).filter((job) => job === asked || job === other);
      expect(await ours()).toEqual([other, asked]);
      expect((await store().readHead(asked!))?.summary.asked).toBe(true);
      await store().moveHead(asked!, aMove(2, { summary: aSummary({ asked: false }) }));
      expect(await ours()).toEqual([other]);
    });

    it('P1.6: by label; a label is written before the job is born, and one of a birth that was given up names nobody', async () => {
      const [team, job, other, gone] = [fresh('team'), fresh(), fresh(), fresh()];
      for (const one of [job, other, gone]) {
        await store().putLabels(one, { team, run: one });
        await store().createHead(aHead(one));
        // Again, as a retry of the birth does.
        await store().putLabels(one, { team, run: one });
      }
      await store().removeHead(gone, T0);
      expect(await listed({ by: 'label', key: 'team', value: team }, 1)).toEqual([other, job]);
      expect(await listed({ by: 'label', key: 'run', value: job })).toEqual([job]);
      expect(await listed({ by: 'label', key: 'run', value: team })).toEqual([]);
    });

    it('P1.6: no two labels share a list', async () => {
      const [a, b] = [await aJob(store()), await aJob(store())];
      await store().putLabels(a, { [`k${a}`]: 'v=w' });
      await store().putLabels(b, { [`k${a}=v`]: 'w' });
      expect(await listed({ by: 'label', key: `k${a}`, value: 'v=w' })).toEqual([a]);
      expect(await listed({ by: 'label', key: `k${a}=v`, value: 'w' })).toEqual([b]);
    });

    it('§11: what nobody can be listed under is an empty list, however long it is', async () => {
      for (const value of ['', 'x'.repeat(5000)]) {
        expect(await listed({ by: 'state', state: value })).toEqual([]);
        expect(await listed({ by: 'label', key: value, value })).toEqual([]);
        expect(await store().countActive(value, 1)).toBe(0);
      }
    });

    it('§11: a cursor is good for its own list only', async () => {
      const [project, cluster] = [fresh('same'), fresh('cluster')];
      const made = await jobs(2, { project, cluster, state: project, active: 'lumi#ml' });
      for (const job of made) await store().putLabels(job, { project });
      const cursor = (await store().listJobs({ by: 'project', project }, { limit: 1 })).cursor!;
      const refused = { code: 'record/bad_cursor', retryable: false };
      const others: JobFilter[] = [
        { by: 'all' },
        { by: 'state', state: project },
        { by: 'project', project: `${project}x` },
        { by: 'label', key: 'project', value: project },
      ];
      for (const filter of others) await expect(store().listJobs(filter, { limit: 1, cursor })).rejects.toMatchObject(refused);
      const ofCluster = (await store().listJobs({ by: 'cluster', cluster }, { limit: 1 })).cursor!;
      const withLogin = store().listJobs({ by: 'cluster', cluster, login: 'ml' }, { limit: 1, cursor: ofCluster });
      await expect(withLogin).rejects.toMatchObject(refused);
      await expect(store().listJobs({ by: 'project', project }, { limit: 1, cursor: `${cursor}=` })).rejects.toMatchObject(refused);
      expect((await store().listJobs({ by: 'project', project }, { limit: 2, cursor })).items).toMatchObject([{ job: made[0] }]);
    });

    it('§11: a list has a bound', async () => {
      for (const limit of [0, 101, 1.5]) await expect(store().listJobs({ by: 'all' }, { limit })).rejects.toThrow(AssertionFailed);
    });
  });

  describe('active jobs of a project', () => {
    it('§11: births and all that have not ended count, up to a bound', async () => {
      const project = fresh('project');
      expect(await store().countActive(project, 10)).toBe(0);
      const made = await jobs(3, { project });
      await aJob(store(), 0, { summary: aSummary({ project }) });
      await jobs(1, { project: `${project}x` });
      expect(await store().countActive(project, 10)).toBe(4);
      expect(await store().countActive(project, 4)).toBe(4);
      expect(await store().countActive(project, 3)).toBe(3);
      await store().moveHead(made[0]!, aMove(2, { summary: aSummary({ project, ended: true }) }));
      expect(await store().countActive(project, 10)).toBe(3);
    });

    it('§11: the count has a bound', async () => {
      for (const atMost of [0, 10_001, 0.5]) await expect(store().countActive('vision', atMost)).rejects.toThrow(AssertionFailed);
    });
  });
};
