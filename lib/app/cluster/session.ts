/**
 * Session: one connection to a cluster as one login, closed whatever happens, and the only way to one. It asks the cluster's record
 * first, takes a slot, and notes what a failed connection teaches, so that whoever polls or steps learns and spares alike.
 */
import { ClusterFailure } from '../../cluster/failure.ts';
import type { Session } from '../../cluster/port.ts';
import { blockedFor } from '../../job/cluster-view.ts';
import { troubleWords } from '../../job/cluster-why.ts';
import type { ClusterConfiguration, Ports } from '../ports.ts';
import { clusterView } from './load.ts';
import { noteFailure } from './note.ts';
import { readOnly } from './read-only.ts';
import { type Purpose, takeSlot } from './slot.ts';

/** Nothing was learnt, for this reason. `slot`: not even tried, since no connection was to be had before that moment. */
export interface Unreached {
  readonly unreachable: string;
  readonly slot?: { readonly notBefore: number };
}

export const isUnreachable = (value: unknown): value is Unreached => typeof value === 'object' && value !== null && 'unreachable' in value;

/** Runs `use` with one connection. Of ClusterFailure nothing travels further: it is what makes this unreached. */
export const withSession = async <T>(
  ports: Ports,
  cluster: string,
  login: string,
  use: (session: Session) => Promise<T>,
  purpose: Purpose = 'work',
): Promise<T | Unreached> => {
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return { unreachable: `the configuration no longer names cluster ${cluster}` };
  const view = await clusterView(ports.store, cluster);
  const blocked = blockedFor(view, login) !== undefined;
  if (blocked && purpose !== 'preflight') return { unreachable: troubleWords(view, login) ?? `cluster ${cluster} is blocked` };
  const held = await takeSlot(ports, { cluster, login }, purpose, blocked);
  if ('notBefore' in held) return { unreachable: held.says, slot: { notBefore: held.notBefore } };
  try {
    return await connected(configuration, login, use);
  } catch (error) {
    if (!(error instanceof ClusterFailure)) throw error;
    await noteFailure(ports, configuration, login, error, actorOf(purpose, cluster));
    return { unreachable: `${error.code}: ${error.message}` };
  } finally {
    await held.giveBack();
  }
};

const connected = async <T>(configuration: ClusterConfiguration, login: string, use: (session: Session) => Promise<T>): Promise<T> => {
  const session = await configuration.adapter.connect(login);
  try {
    return await use(configuration.readOnly ? readOnly(session, configuration.id) : session);
  } finally {
    await session.close();
  }
};

const actorOf = (purpose: Purpose, cluster: string): string => {
  if (purpose === 'poll') return `poller:${cluster}`;
  return purpose === 'work' ? 'supervisor' : 'system';
};
