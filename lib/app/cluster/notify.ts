/**
 * Notify: what a cluster's record tells the bus, at least once, whoever dies on the way (protocols §2.7). A cluster has no head: the
 * version up to which was told is an item of its own, moved only after the bus has said that it keeps everything up to there.
 */
import type { ClusterCommit } from '../../job/cluster-event.ts';
import { emptyCluster, foldCluster } from '../../job/cluster-view.ts';
import type { RecordStore } from '../../record/port.ts';
import { clusterNoticesOf, type Notice } from '../notices.ts';
import { BusFailure, type Ports } from '../ports.ts';

/** What EventBridge takes at once. */
const BATCH = 10;

/** What was told already, as far as this process saw: it only grows, so a quiet poll need not ask. */
const told = new WeakMap<RecordStore, Map<string, number>>();

/**
 * Tells what is untold up to `version`, the record's own as the caller knows it. A bus that fails leaves it to whoever comes by next: a
 * poll, a preflight or a reconcile.
 */
export const notifyCluster = async (ports: Ports, cluster: string, version: number): Promise<void> => {
  if (!ports.bus) return;
  const known = told.get(ports.store) ?? new Map<string, number>();
  told.set(ports.store, known);
  if ((known.get(cluster) ?? 0) >= version) return;
  const notified = await ports.store.readClusterNotified(cluster);
  if (notified < version) {
    const commits = (await ports.store.readCluster(cluster)) as readonly ClusterCommit[];
    try {
      const notices = untold(cluster, commits, notified);
      for (let i = 0; i < notices.length; i += BATCH) await ports.bus.put(notices.slice(i, i + BATCH));
    } catch (error) {
      if (!(error instanceof BusFailure)) throw error;
      ports.log('warn', 'notices of a cluster stay unsent', { cluster, code: error.code });
      return;
    }
    await ports.store.setClusterNotified(cluster, commits.length);
  }
  known.set(cluster, Math.max(version, notified));
};

/** What the commits after `notified` tell, in order; `commits` is the log from its beginning. */
const untold = (cluster: string, commits: readonly ClusterCommit[], notified: number): readonly Notice[] => {
  let view = emptyCluster(cluster);
  return commits.flatMap((commit) => {
    view = foldCluster([commit], view);
    return commit.version > notified ? clusterNoticesOf(commit, view) : [];
  });
};
