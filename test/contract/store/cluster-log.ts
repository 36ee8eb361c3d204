import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../../lib/job/assertion.ts';
import { type ClusterCommit, COMMIT_BYTES, LOG_COMMITS, type RecordStore } from '../../../lib/record/port.ts';
import { fresh, T0 } from './given.ts';

interface Said {
  readonly type: string;
  readonly says?: string;
}

const aClusterCommit = (cluster: string, version: number, changes: Partial<ClusterCommit<Said>> = {}): ClusterCommit<Said> => ({
  cluster,
  version,
  commitId: `${cluster}-${version}`,
  at: T0 + version,
  actor: `poller:${cluster}`,
  schema: 1,
  events: [{ type: 'cluster_unreachable' }],
  ...changes,
});

export const clusterLogContract = (store: () => RecordStore): void => {
  describe('the log of a cluster', () => {
    it('§8: reads what was appended, in order and over several pages, from any version on', async () => {
      const cluster = fresh('cluster');
      const commits = Array.from({ length: 12 }, (_, i) => aClusterCommit(cluster, i + 1));
      for (const commit of commits) expect(await store().appendCluster(commit)).toBe('appended');
      expect(await store().readCluster<Said>(cluster)).toEqual(commits);
      expect(await store().readCluster<Said>(cluster, 9)).toEqual(commits.slice(9));
      expect(await store().readCluster<Said>(cluster, 12)).toEqual([]);
      expect(await store().readCluster<Said>(fresh('cluster'))).toEqual([]);
    });

    it('P1.1: of 20 writers at one version exactly one wins', async () => {
      const cluster = fresh('cluster');
      const commits = Array.from({ length: 20 }, (_, i) => aClusterCommit(cluster, 1, { commitId: `writer-${i}` }));
      const answers = await Promise.all(commits.map((commit) => store().appendCluster(commit)));
      expect(answers.filter((answer) => answer === 'appended')).toHaveLength(1);
      expect(await store().readCluster(cluster)).toEqual([commits[answers.indexOf('appended')]]);
    });

    it('P1.2: a commit that is already there under our commitId is ours', async () => {
      const cluster = fresh('cluster');
      await store().appendCluster(aClusterCommit(cluster, 1));
      await store().appendCluster(aClusterCommit(cluster, 2));
      expect(await store().appendCluster(aClusterCommit(cluster, 1))).toBe('appended');
      expect(await store().appendCluster(aClusterCommit(cluster, 1, { commitId: 'another' }))).toBe('conflict');
      expect(await store().readCluster(cluster)).toHaveLength(2);
    });

    it('§8: a cluster’s leases, slots and counts are no part of its log, nor is a job of the same name', async () => {
      const cluster = fresh('cluster');
      await store().appendCluster(aClusterCommit(cluster, 1));
      await store().renewLease(cluster, 'ml', { fence: 0, at: T0, answeredAt: T0 });
      await store().takeSlot(cluster, 'ml', { slots: ['0'], owner: 'me', at: T0 });
      expect(await store().readCluster(cluster)).toEqual([aClusterCommit(cluster, 1)]);
      expect(await store().read(cluster)).toEqual([]);
    });

    it('§8: a log with a hole, and a commit that is empty, too large or outside of the log, are refused', async () => {
      const cluster = fresh('cluster');
      const wrong = [
        { events: [] },
        { version: 0 },
        { version: LOG_COMMITS + 1 },
        { events: [{ type: 'cluster_probed', says: 'x'.repeat(COMMIT_BYTES) }] },
      ];
      for (const changes of wrong) {
        await expect(store().appendCluster(aClusterCommit(cluster, 1, changes))).rejects.toThrow(AssertionFailed);
      }
      expect(await store().readCluster(cluster)).toEqual([]);
      await store().appendCluster(aClusterCommit(cluster, 2));
      await expect(store().readCluster(cluster)).rejects.toThrow(AssertionFailed);
    });
  });
};
