/**
 * Commit for clusters: the one way in which anything becomes part of a cluster's record, by the rules of a job's (protocols §1.2):
 * decided from a version, written at the next one, decided anew after a conflict.
 */
import { AssertionFailed } from '../../job/assertion.ts';
import { CLUSTER_SCHEMA, type ClusterCommit, type ClusterEvent, clusterEventSchema } from '../../job/cluster-event.ts';
import { type ClusterView, foldCluster } from '../../job/cluster-view.ts';
import { RecordFailure } from '../../job/failure.ts';
import { newCommitId } from '../commit.ts';
import type { Ports } from '../ports.ts';
import { clusterView } from './load.ts';
import { notifyCluster } from './notify.ts';

const CONFLICTS = 5;
/** A record is bounded: its last part is for blocks, questions and their answers, not for one more outage or daily probe. */
const NEWS_STOP = 9500;
const NEWS = new Set<ClusterEvent['type']>(['cluster_unreachable', 'cluster_probed']);

export interface ClusterCommitted {
  readonly view: ClusterView;
  /** The commit that this call made; undefined when `decide` had nothing to say (any more). */
  readonly commit?: ClusterCommit;
}

export type DecideCluster = (view: ClusterView, now: number) => readonly ClusterEvent[];

/** Throws RecordFailure after five conflicts in a row or an outage of the record. */
export const commitCluster = async (ports: Ports, cluster: string, actor: string, decide: DecideCluster): Promise<ClusterCommitted> => {
  for (let i = 0; i <= CONFLICTS; i++) {
    const view = await clusterView(ports.store, cluster);
    const now = ports.now();
    const events = decide(view, now);
    if (events.length === 0) return { view };
    if (view.version >= NEWS_STOP && events.every((event) => NEWS.has(event.type))) {
      ports.log('error', 'the record of a cluster is nearly full: news are no longer kept', { cluster, version: view.version });
      return { view };
    }
    const version = view.version + 1;
    const of = { cluster, version, commitId: newCommitId(ports.random), at: now, actor, schema: CLUSTER_SCHEMA };
    const commit: ClusterCommit = { ...of, events: events.map(checked) };
    if ((await ports.store.appendCluster(commit)) === 'appended') {
      await notifyCluster(ports, cluster, version);
      return { view: foldCluster([commit], view), commit };
    }
    await ports.sleep(Math.ceil(ports.random() * 20 * 2 ** i));
  }
  throw new RecordFailure('record/unavailable', `cluster ${cluster}: ${CONFLICTS} conflicts in a row`);
};

/** What leaves this process for the record has been checked; a failure here is our own mistake. */
const checked = (event: ClusterEvent): ClusterEvent => {
  const parsed = clusterEventSchema.safeParse(event);
  if (!parsed.success)
    throw new AssertionFailed(
      `cluster event ${event.type}: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`,
    );
  return parsed.data;
};
