/**
 * Join: a job's status with what is wrong with its cluster, when it is read (contract §8). The job's state stays what it is: not being
 * able to look is never a state.
 */
import type { ClusterView } from '../../job/cluster-view.ts';
import { type ClusterState, clusterState, joinWords, submissionWords, troubleWords } from '../../job/cluster-why.ts';

export interface Joined {
  /** Present while the cluster is unreachable or blocked for the job's login, or takes no submissions that the job waits for. */
  readonly clusterState?: ClusterState | 'submissions_blocked';
}

const OVER = new Set(['succeeded', 'failed', 'cancelled']);

/** States in which a job may be waiting for its submission. */
const UNSENT = new Set(['pending', 'recovering']);

/** `login`: the job's own. A job that ended needs nothing of its cluster any more. */
export const joinCluster = <S extends { readonly state: string; readonly why: string }>(
  status: S,
  cluster: ClusterView,
  login: string,
): S & Joined => {
  if (OVER.has(status.state)) return status;
  const trouble = troubleWords(cluster, login);
  const unsent = UNSENT.has(status.state) ? submissionWords(cluster) : undefined;
  if (trouble === undefined && unsent === undefined) return status;
  const state = trouble === undefined ? 'submissions_blocked' : clusterState(cluster);
  return { ...status, why: joinWords(status.why, [trouble, unsent]), clusterState: state };
};
