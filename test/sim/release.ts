/**
 * Two releases side by side (contract §8): what runs as release n + 1 is this very code behind a record that it reads and writes one
 * schema higher. So release n meets commits that it does not understand, and must leave their jobs as they are.
 */
import { CLUSTER_SCHEMA } from '../../lib/job/cluster-event.ts';
import { type Commit, SCHEMA } from '../../lib/job/event.ts';
import type { ClusterCommit, RecordStore } from '../../lib/record/port.ts';

export const NEWER = SCHEMA + 1;

/** A commit of either release, as its own code reads it. */
export const readable = <C extends { readonly schema: number }>(commit: C, schema: number = SCHEMA): C =>
  commit.schema === schema + 1 ? { ...commit, schema } : commit;

const written = <C extends { readonly schema: number }>(commit: C): C => ({ ...commit, schema: commit.schema + 1 });

/** The record as release n + 1 sees it. `clusters`: it writes their records anew, too. */
export const newerRelease = (store: RecordStore, clusters: boolean): RecordStore => ({
  ...store,
  read: async (job, after) => (await store.read(job, after)).map((commit) => readable(commit)),
  readAt: async (job, version) => {
    const commit = await store.readAt(job, version);
    return commit && readable(commit);
  },
  append: (commit: Commit) => store.append(written(commit)),
  readCluster: async <E>(cluster: string, after?: number) => {
    const commits = await store.readCluster<E>(cluster, after);
    return commits.map((commit) => readable(commit, CLUSTER_SCHEMA));
  },
  appendCluster: <E>(commit: ClusterCommit<E>) => store.appendCluster(clusters ? written(commit) : commit),
});
