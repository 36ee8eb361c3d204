/**
 * Preflight: a cluster is asked what it can do, and the answer becomes part of its record (contract §7, §8). Run by hand, when the
 * configuration changed, when a probe is old and needed, and as the only way out of a block.
 * Guards promise 8: what a plan counts with was found on that cluster, and says when.
 */
import type { Session } from '../../cluster/port.ts';
import type { CapabilityName, Probe } from '../../job/capability.ts';
import { missingOf, probed } from '../../job/cluster-command.ts';
import { MOST_PARTITIONS, type ProbedBy } from '../../job/cluster-event.ts';
import { reliedOn } from '../../job/cluster-reliance.ts';
import { blockedFor, type ClusterView, type LoginView, loginOf } from '../../job/cluster-view.ts';
import { TIMING } from '../../job/timing.ts';
import { apart } from '../apart.ts';
import { loadView } from '../load.ts';
import type { ClusterConfiguration, Ports } from '../ports.ts';
import { commitCluster } from './commit.ts';
import { clusterView } from './load.ts';
import { noteUnreachable, secretOf } from './note.ts';
import { isUnreachable, withSession } from './session.ts';

export type Preflighted =
  | { readonly kind: 'probed'; readonly view: ClusterView; readonly probe: Probe }
  /** Not reached, refused, or no connection was to be had: what that taught is on the record. */
  | { readonly kind: 'failed'; readonly view: ClusterView; readonly says: string }
  | { readonly kind: 'unknown'; readonly says: string };

const ACTOR = 'system';
/** Active jobs whose plans are read when something was lost; enough to know what the many rely on. */
const MOST_JOBS = 200;
/** Where one of these is `unknown` the scheduler itself did not answer, and the rest was hardly asked either. */
const ANSWERED: readonly CapabilityName[] = ['bulk_observation', 'find_by_identity', 'gate'];

export const preflight = async (ports: Ports, cluster: string, login: string, by: ProbedBy): Promise<Preflighted> => {
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return { kind: 'unknown', says: `the configuration does not name cluster ${cluster}` };
  if (!configuration.logins.some((one) => one.id === login)) return { kind: 'unknown', says: `cluster ${cluster} has no login ${login}` };
  // One that nobody asked for is a step's or a plan's, and waits its turn like these.
  const purpose = by === 'hand' || by === 'blocked' ? 'preflight' : 'work';
  const found = await withSession(ports, cluster, login, (session) => probeOnce(ports, configuration, login, by, session), purpose);
  if (isUnreachable(found)) return { kind: 'failed', view: await clusterView(ports.store, cluster), says: found.unreachable };
  if (found.known) return { kind: 'probed', view: await clusterView(ports.store, cluster), probe: found.probe };
  const { probe } = found;
  if (!ANSWERED.every((name) => probe.capabilities[name].support !== 'unknown')) {
    const says = `the scheduler did not answer: ${ANSWERED.map((name) => probe.capabilities[name].evidence).join('; ')}`.slice(0, 1024);
    await noteUnreachable(ports, configuration, login, says, ACTOR);
    return { kind: 'failed', view: await clusterView(ports.store, cluster), says };
  }
  const missing = missingOf(await clusterView(ports.store, cluster), login, probe, ports.now());
  const relied = missing.length === 0 ? [] : await reliedOnBy(ports, cluster, login);
  const of = { login, by, configuration: configuration.digest ?? '', probe, relied };
  const { view } = await commitCluster(ports, cluster, ACTOR, (newest, now) => probed(newest, of, now));
  return { kind: 'probed', view, probe: loginOf(view, login).probe ?? probe };
};

interface Found {
  readonly probe: Probe;
  /** Somebody else recorded it while this one waited for a connection. */
  readonly known: boolean;
}

const probeOnce = async (
  ports: Ports,
  configuration: ClusterConfiguration,
  login: string,
  by: ProbedBy,
  session: Session,
): Promise<Found> => {
  if (by !== 'hand' && by !== 'blocked') {
    const newest = loginOf(await clusterView(ports.store, configuration.id), login);
    if (newest.probe && !whyProbe(newest, configuration, ports.now())) return { probe: newest.probe, known: true };
  }
  const probe = await session.probe(ports.now());
  const { partitions, requeueExitCodes } = probe.facts;
  if (partitions.length > MOST_PARTITIONS) ports.log('warn', 'partitions beyond the bound are not kept', { cluster: configuration.id });
  const facts = { ...probe.facts, partitions: partitions.slice(0, MOST_PARTITIONS), requeueExitCodes: requeueExitCodes.slice(0, 256) };
  return { probe: { ...probe, facts }, known: false };
};

const reliedOnBy = async (ports: Ports, cluster: string, login: string): Promise<readonly CapabilityName[]> => {
  const { items } = await ports.store.listActive(cluster, login);
  const names = new Set<CapabilityName>();
  for (const { job } of items.slice(0, MOST_JOBS)) {
    const view = await apart(ports, job, () => loadView(ports.store, job));
    for (const name of view ? reliedOn(view) : []) names.add(name);
  }
  return [...names];
};

/** Undefined: the recorded probe is good. */
const whyProbe = ({ probe, configuration }: LoginView, { digest = '' }: ClusterConfiguration, now: number): ProbedBy | undefined => {
  if (!probe) return 'first';
  if (configuration !== digest) return 'configuration';
  return now - probe.probedAt >= TIMING.probeSeconds * 1000 ? 'age' : undefined;
};

/**
 * The probe to plan and to submit with: the recorded one, made anew where it is needed. A cluster that cannot be asked now can still do
 * what it could yesterday; under another configuration nothing is assumed.
 */
export const recordedProbe = async (ports: Ports, cluster: string, login: string): Promise<Probe | undefined> => {
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return undefined;
  const known = loginOf(await clusterView(ports.store, cluster), login);
  const by = whyProbe(known, configuration, ports.now());
  if (!by) return known.probe;
  const said = await shared(ports, configuration, login, by);
  if (said.kind === 'probed') return said.probe;
  // Another process may have been faster, and have had the slot that this one did not get.
  const newest = loginOf(await clusterView(ports.store, cluster), login);
  if (!whyProbe(newest, configuration, ports.now())) return newest.probe;
  return by === 'age' ? newest.probe : undefined;
};

const underway = new WeakMap<Ports['store'], Map<string, Promise<Preflighted>>>();

/** Many that need a probe at once make one: two hundred submissions to a new cluster must not spend their slots on asking the same. */
const shared = (ports: Ports, { id, digest = '' }: ClusterConfiguration, login: string, by: ProbedBy): Promise<Preflighted> => {
  const all = underway.get(ports.store) ?? new Map<string, Promise<Preflighted>>();
  underway.set(ports.store, all);
  const key = `${id}#${login}#${digest}`;
  const one = all.get(key) ?? preflight(ports, id, login, by).finally(() => all.delete(key));
  all.set(key, one);
  return one;
};

/** Preflights that a block alone causes have a lease of their own: when the last one began, and that there is one at a time. */
const leaseOf = (login: string): string => `${login}#preflight`;

/** Of a blocked login: tries again where something changed, or where enough time passed since the key was refused (protocols §5.8). */
export const retryBlocked = async (ports: Ports, configuration: ClusterConfiguration, login: string): Promise<void> => {
  const { id, digest = '' } = configuration;
  const blocked = blockedFor(await clusterView(ports.store, id), login);
  if (!blocked) return;
  const refused = blocked.why === 'auth_refused';
  const lease = await ports.store.readLease(id, leaseOf(login));
  const last = Math.max(lease?.renewedAt ?? 0, blocked.since);
  const again = refused && ports.now() - last >= TIMING.blockedAgainSeconds * 1000;
  const changed = blocked.configuration !== digest || (refused && blocked.secret !== (await secretOf(ports, configuration, login)));
  if (!again && !changed) return;
  const taken = { fence: lease?.fence ?? 0, at: ports.now(), answeredAt: lease?.answeredAt ?? 0 };
  if ((await ports.store.renewLease(id, leaseOf(login), taken)).kind === 'lost') return;
  await preflight(ports, id, login, 'blocked');
};
