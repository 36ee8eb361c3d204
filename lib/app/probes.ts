/**
 * Probes: the last probe of each cluster and login, kept by a process for a while. A cluster that cannot be probed has none,
 * and nothing is planned or sent to it.
 */
import type { Probe } from '../job/capability.ts';
import type { ClusterConfiguration, Ports } from './ports.ts';
import { isUnreachable, withSession } from './step/work.ts';

/** A probe is a handful of commands; once in ten minutes follows a cluster's upgrades closely enough. */
const FRESH_MS = 10 * 60 * 1000;

export const probes = (clusters: ReadonlyMap<string, ClusterConfiguration>, now: () => number): Ports['probeOf'] => {
  const kept = new Map<string, Probe>();
  return async (cluster, login) => {
    const key = `${cluster}#${login}`;
    const last = kept.get(key);
    if (last && now() - last.probedAt < FRESH_MS) return last;
    const probed = await withSession({ clusters }, cluster, login, (session) => session.probe(now()));
    // Unreachable now: what it could do ten minutes ago it can still do; what was never seen is not assumed.
    if (isUnreachable(probed)) return last;
    kept.set(key, probed);
    return probed;
  };
};
