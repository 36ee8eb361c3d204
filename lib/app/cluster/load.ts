/**
 * Load: the view of a cluster from its whole log. What was folded once is kept beside its store, since a log only grows: every call
 * reads consistently what came after it, so a decision is never made from an old view, and a long record costs one short query.
 */
import type { ClusterCommit } from '../../job/cluster-event.ts';
import { type ClusterView, emptyCluster, foldCluster } from '../../job/cluster-view.ts';
import type { RecordStore } from '../../record/port.ts';

const folded = new WeakMap<RecordStore, Map<string, ClusterView>>();

/** The empty view at version 0 for a cluster of which nothing was ever recorded. */
export const clusterView = async (store: RecordStore, cluster: string): Promise<ClusterView> => {
  const kept = folded.get(store) ?? new Map<string, ClusterView>();
  folded.set(store, kept);
  const from = kept.get(cluster) ?? emptyCluster(cluster);
  const commits = (await store.readCluster(cluster, from.version)) as readonly ClusterCommit[];
  const view = foldCluster(commits, from);
  if (view.version > (kept.get(cluster)?.version ?? -1)) kept.set(cluster, view);
  return view;
};
