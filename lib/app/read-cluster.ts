/**
 * Read clusters: what the configuration, the record of each cluster and the polls' leases say of it (contract §7, §8).
 * Guards promise 8: support is what a probe of that cluster found, with its evidence and age; a reader causes no connection.
 */
import type { Probe } from '../job/capability.ts';
import type { ClusterCommit } from '../job/cluster-event.ts';
import { type ClusterQuestion, type ClusterView, loginOf, openClusterQuestions } from '../job/cluster-view.ts';
import { type ClusterState, clusterState, submissionWords, troubleWords } from '../job/cluster-why.ts';
import { clusterView } from './cluster/load.ts';
import type { ClusterConfiguration, Ports } from './ports.ts';
import { mayUseLogin, type Principal } from './principal.ts';

export interface LoginStatus {
  readonly id: string;
  readonly user: string;
  /** Whether the caller may run jobs under it. */
  readonly allowed: boolean;
  readonly answeredAt?: number;
  /** Connections made in this hour (UTC). */
  readonly connections: number;
  readonly trouble?: string;
  readonly probe?: Probe;
}

export interface ClusterStatus {
  readonly id: string;
  readonly kind: ClusterConfiguration['adapter']['kind'];
  readonly readOnly: boolean;
  readonly pollEverySeconds: number;
  readonly rootId?: string;
  readonly state: ClusterState;
  readonly version: number;
  /** Why no job is accepted for it now. */
  readonly blocked?: string;
  readonly logins: readonly LoginStatus[];
  readonly questions: readonly ClusterQuestion[];
}

/** Undefined: the configuration names no such cluster. */
export const readCluster = async (ports: Ports, principal: Principal, id: string): Promise<ClusterStatus | undefined> => {
  const cluster = ports.clusters.get(id);
  if (!cluster) return undefined;
  const view = await clusterView(ports.store, id);
  const logins = await Promise.all(cluster.logins.map((login) => loginStatus(ports, principal, view, login)));
  const blocked = submissionWords(view);
  return {
    id,
    kind: cluster.adapter.kind,
    readOnly: cluster.readOnly,
    pollEverySeconds: cluster.pollEverySeconds,
    ...(cluster.rootId === undefined ? {} : { rootId: cluster.rootId }),
    state: clusterState(view),
    version: view.version,
    ...(blocked === undefined ? {} : { blocked }),
    logins,
    questions: openClusterQuestions(view),
  };
};

const loginStatus = async (
  ports: Ports,
  principal: Principal,
  view: ClusterView,
  login: ClusterConfiguration['logins'][number],
): Promise<LoginStatus> => {
  const [lease, connections] = await Promise.all([
    ports.store.readLease(view.cluster, login.id),
    ports.store.readConnections(view.cluster, login.id, ports.now()),
  ]);
  const { probe } = loginOf(view, login.id);
  const trouble = troubleWords(view, login.id);
  return {
    id: login.id,
    user: login.user,
    allowed: mayUseLogin(principal, login),
    connections,
    ...(lease && lease.answeredAt > 0 ? { answeredAt: lease.answeredAt } : {}),
    ...(trouble === undefined ? {} : { trouble }),
    ...(probe ? { probe } : {}),
  };
};

/** Why a submission to this cluster is refused now: an answer `block_submissions` stands (contract §8). */
export const readBlock = async (ports: Pick<Ports, 'store'>, cluster: string): Promise<string | undefined> =>
  submissionWords(await clusterView(ports.store, cluster));

/** A page of a cluster's record after a version; undefined: no such cluster. Commits are small and bounded by a job's log limit. */
export const readClusterEvents = async (
  ports: Ports,
  cluster: string,
  after: number,
): Promise<{ readonly commits: readonly ClusterCommit[]; readonly more: boolean } | undefined> => {
  if (!ports.clusters.has(cluster)) return undefined;
  const commits = (await ports.store.readCluster(cluster, after)) as readonly ClusterCommit[];
  return { commits: commits.slice(0, CLUSTER_COMMITS), more: commits.length > CLUSTER_COMMITS };
};
const CLUSTER_COMMITS = 100;
