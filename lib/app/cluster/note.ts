/**
 * Note: what a connection taught about the cluster itself (protocols §5.4, §5.8): kept on its record, once, whatever the number of
 * jobs that met it. Guards promise 1: a cluster that does not answer changes no job.
 */
import type { ClusterFailure } from '../../cluster/failure.ts';
import { blocked, due, reachable, unreachable } from '../../job/cluster-command.ts';
import { type ClusterView, loginOf } from '../../job/cluster-view.ts';
import type { ClusterConfiguration, Ports } from '../ports.ts';
import { commitCluster } from './commit.ts';
import { clusterView } from './load.ts';
import { notifyCluster } from './notify.ts';

/** Of the time between two polls: one look that failed is a hiccup, the second in a row an outage. */
const POLLS_MISSED = 1.5;

export const noteFailure = async (
  ports: Ports,
  configuration: ClusterConfiguration,
  login: string,
  failure: ClusterFailure,
  actor: string,
): Promise<void> => {
  const { code } = failure;
  if (code === 'cluster/unreachable') return noteUnreachable(ports, configuration, login, failure.message, actor);
  if (code !== 'cluster/auth_refused' && code !== 'cluster/host_key_changed') return;
  const why = code === 'cluster/auth_refused' ? 'auth_refused' : 'host_key_changed';
  const tried = { configuration: configuration.digest ?? '', secret: await secretOf(ports, configuration, login) };
  const { hostKey } = failure;
  const keys = hostKey ? { presented: hostKey.presented, pinned: [...hostKey.pinned] } : {};
  await commitCluster(ports, configuration.id, actor, (view, now) =>
    blocked(view, login, { why, says: failure.message, ...tried, ...keys }, now),
  );
};

export const noteUnreachable = async (
  ports: Ports,
  configuration: ClusterConfiguration,
  login: string,
  says: string,
  actor: string,
): Promise<void> => {
  const { id, pollEverySeconds } = configuration;
  const known = loginOf(await clusterView(ports.store, id), login);
  if (!known.unreachable) {
    const answeredAt = (await ports.store.readLease(id, login))?.answeredAt ?? 0;
    if (ports.now() - answeredAt < pollEverySeconds * POLLS_MISSED * 1000) return;
  }
  const { commit } = await commitCluster(ports, id, actor, (view, now) => unreachable(view, login, says, now));
  if (commit && !known.unreachable) ports.log('warn', 'cluster does not answer', { cluster: id, login, says });
};

/** A complete look succeeded. `view` is what the caller read before it: where it names no trouble, nothing is read or written. */
export const noteReachable = async (ports: Ports, view: ClusterView, login: string, actor: string): Promise<void> => {
  if (reachable(view, login, ports.now()).length === 0) return;
  await commitCluster(ports, view.cluster, actor, (newest, now) => reachable(newest, login, now));
};

/** What time alone makes due: an outage is asked about, a question expires. Polls, preflights and reconciles come by for it. */
export const tendCluster = async (ports: Ports, cluster: string, actor: string): Promise<ClusterView> => {
  const view = await clusterView(ports.store, cluster);
  // What a dead writer did not tell.
  await notifyCluster(ports, cluster, view.version);
  if (due(view, ports.now()).length === 0) return view;
  return (await commitCluster(ports, cluster, actor, due)).view;
};

/** A digest of the login's secret; '' where there is none or it cannot be read now, which is no change. */
export const secretOf = async (ports: Ports, configuration: ClusterConfiguration, login: string): Promise<string> => {
  try {
    return (await configuration.secretDigest?.(login)) ?? '';
  } catch (error) {
    const says = error instanceof Error ? error.name : 'unknown';
    ports.log('warn', 'a secret could not be read', { cluster: configuration.id, login, says });
    return '';
  }
};
