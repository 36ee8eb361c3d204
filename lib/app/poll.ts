/**
 * Poll: one look at everything of this deployment on one cluster and login (protocols §5).
 * Guards: one connection and one scheduler command however many jobs there are; one write (the lease) when nothing changed;
 * commits only of what changed; a look that another poll overtook is dropped whole.
 */
import type { Observed, Session, Target } from '../cluster/port.ts';
import { blockedFor, type ClusterView, loginOf } from '../job/cluster-view.ts';
import { troubleWords } from '../job/cluster-why.ts';
import { identityOf } from '../job/identity.ts';
import { runsOf } from '../job/point.ts';
import { TIMING } from '../job/timing.ts';
import type { View } from '../job/view.ts';
import type { Lease } from '../record/port.ts';
import { apart } from './apart.ts';
import { clusterView } from './cluster/load.ts';
import { noteReachable, noteUnreachable, tendCluster } from './cluster/note.ts';
import { retryBlocked } from './cluster/preflight.ts';
import { isUnreachable, withSession } from './cluster/session.ts';
import { commit } from './commit.ts';
import { type Digest, digestAbsence, digestObservation, digestSilence, type PollLook } from './digest.ts';
import { loadView } from './load.ts';
import { notifyUnsent } from './notify.ts';
import type { ClusterConfiguration, Ports } from './ports.ts';
import { endsWithRoots, withNames } from './roots.ts';
import type { Watched } from './summary.ts';
import { watchedOf } from './summary.ts';
import { sweepObjects } from './sweep.ts';
import { sendOwed } from './wake.ts';
import { readWatch, writeWatch } from './watch.ts';

export interface PollInput {
  readonly cluster: string;
  readonly login: string;
  /** Look even where no job is active, so that orphans are found. */
  readonly sweep?: boolean;
}
/** From the beginning of the look: less than a poll's own 50 s, with a margin for the last commit. */
const RECORDING_MS = 40_000;
/** A prime: whatever the number of shares, all are begun with in turn. */
const STRIDE = 997;

export interface Polled {
  readonly kind: 'looked' | 'idle' | 'unreachable' | 'blocked' | 'overtaken';
  readonly active: number;
  readonly commits: number;
  readonly says?: string;
}

export const poll = async (ports: Ports, input: PollInput): Promise<Polled> => {
  const { cluster, login } = input;
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return { kind: 'unreachable', active: 0, commits: 0, says: `the configuration does not name cluster ${cluster}` };
  await sendOwed(ports, TIMING.owedSeconds * 1000);
  await notifyUnsent(ports, TIMING.owedSeconds * 1000);
  const before = await tendCluster(ports, cluster, actorOf(cluster));
  if (blockedFor(before, login)) return blockedPoll(ports, configuration, login);
  const lease = await ports.store.readLease(cluster, login);
  const watched = await activeOn(ports, cluster, login);
  // Of an outage only a look knows the end, whether there is a job to look at or not.
  if (watched.length === 0 && !input.sweep && !loginOf(before, login).unreachable) return { kind: 'idle', active: 0, commits: 0 };
  const polled = await withSession(
    ports,
    cluster,
    login,
    (session) => lookAndRecord({ ports, configuration, login, session }, before, watched, lease),
    'poll',
  );
  return isUnreachable(polled) ? { kind: 'unreachable', active: watched.length, commits: 0, says: polled.unreachable } : polled;
};

const actorOf = (cluster: string): string => `poller:${cluster}`;

/** No look, but for the preflight that may end the block (protocols §5.8). */
const blockedPoll = async (ports: Ports, configuration: ClusterConfiguration, login: string): Promise<Polled> => {
  await retryBlocked(ports, configuration, login);
  const says = troubleWords(await clusterView(ports.store, configuration.id), login);
  return { kind: 'blocked', active: 0, commits: 0, ...(says === undefined ? {} : { says }) };
};

/** Everything of one poll: its ports, its one connection, and as whom. */
interface Polling {
  readonly ports: Ports;
  readonly configuration: ClusterConfiguration;
  readonly login: string;
  readonly session: Session;
}

const lookAndRecord = async (
  polling: Polling,
  before: ClusterView,
  watched: readonly Watched[],
  lease: Lease | undefined,
): Promise<Polled> => {
  const { ports, configuration, login, session } = polling;
  const cluster = configuration.id;
  const active = watched.length;
  const began = ports.now();
  const { observed, bytes } = await look(ports, session, watched);
  if (observed.kind === 'unreachable') {
    await noteUnreachable(ports, configuration, login, observed.says, actorOf(cluster));
    return { kind: 'unreachable', active, commits: 0, says: observed.says };
  }
  // The only write of a quiet poll, after the look: it renews the lease, which is the poll's slot too (docs/clusters.md).
  const renewed = await ports.store.renewLease(cluster, login, { fence: lease?.fence ?? 0, at: ports.now(), answeredAt: began });
  if (renewed.kind === 'lost') return { kind: 'overtaken', active, commits: 0 };
  await noteReachable(ports, before, login, actorOf(cluster));
  const at: PollLook = { fence: renewed.fence, clusterStartedAt: observed.clusterStartedAt, now: began, complete: observed.complete };
  const commits = await record(polling, observed, bytes, at);
  return { kind: 'looked', active, commits };
};

const activeOn = async (ports: Ports, cluster: string, login: string): Promise<readonly Watched[]> => {
  const watched: Watched[] = [];
  let cursor: string | undefined;
  do {
    const page = await ports.store.listActive(cluster, login, cursor);
    for (const row of page.items) watched.push(watchedOf(row, cluster, login, (n) => identityOf(ports.tag, row.job, n)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return watched;
};

interface Looked {
  readonly observed: Observed;
  /** Output sizes of running jobs with a limit on silence. */
  readonly bytes: readonly (readonly [Target, number])[];
}

const look = async (ports: Ports, session: Session, listed: readonly Watched[]): Promise<Looked> => {
  const watched = await withNames(ports, listed);
  const observed = await endsWithRoots(ports, session, watched, await session.observe(watched.map((one) => one.target)));
  const limited = watched.filter((one) => one.stalledAfterSeconds > 0 && one.target.seen.startsWith('running.')).map((one) => one.target);
  if (limited.length === 0 || !session.outputBytes || observed.kind === 'unreachable') return { observed, bytes: [] };
  const sizes = await session.outputBytes(limited);
  return {
    observed,
    bytes: limited.flatMap((target) =>
      sizes?.has(target.receipt.schedulerId) ? [[target, sizes.get(target.receipt.schedulerId)!] as const] : [],
    ),
  };
};

type Answered = Extract<Observed, { kind: 'observed' }>;

const record = async (polling: Polling, observed: Answered, bytes: Looked['bytes'], at: PollLook): Promise<number> => {
  const { ports, configuration, session } = polling;
  const actor = actorOf(configuration.id);
  const shares = [
    ...observed.changed.map(
      (observation) => () => learn(ports, observation.target.job, actor, (view, watch) => digestObservation(view, observation, watch, at)),
    ),
    ...observed.absent.map((target) => async () => (await apart(ports, target.job, () => vanished(polling, target, actor, at))) ?? 0),
    ...bytes.map(
      ([target, size]) =>
        () =>
          learn(ports, target.job, actor, (view, watch) => digestSilence(view, size, watch, at)),
    ),
  ];
  let commits = 0;
  for (const [i, share] of from(shares, at.fence).entries()) {
    if (ports.now() - at.now > RECORDING_MS) {
      ports.log('warn', 'a poll ran out of time: the next one goes on elsewhere', { cluster: configuration.id, left: shares.length - i });
      return commits;
    }
    commits += await share();
  }
  await sweepObjects(ports, session, configuration.id, observed.unexplained, actor);
  return commits;
};

/** Begun elsewhere by every poll, so that what stands first cannot keep the rest waiting for ever (protocols §5.8). */
const from = <T>(shares: readonly T[], fence: number): readonly T[] => {
  const start = (fence * STRIDE) % Math.max(1, shares.length);
  return [...shares.slice(start), ...shares.slice(0, start)];
};

/** An end waits for the listing of what was published like for any other evidence (protocols §5.7), also one that nobody saw. */
const vanished = async ({ ports, configuration, session }: Polling, target: Target, actor: string, at: PollLook): Promise<number> => {
  const { job, n } = target;
  const absence: Learn = (view, watch) => digestAbsence(view, target, watch, at, configuration.pollEverySeconds);
  const view = await loadView(ports.store, job);
  const ends = view && absence(view, await readWatch(ports.store, job)).events.length > 0;
  if (!ends || !view.spec) return learn(ports, job, actor, absence);
  const listed = await session.listPublications(job, view.spec);
  if (listed === undefined) return 0;
  const bases = new Map(listed.bases.filter((base) => base.n === n).map((base) => [base.run, base.base]));
  const runs = runsOf(n, bases, listed.publications);
  return learn(ports, job, actor, (newest, watch) => {
    const says = absence(newest, watch);
    return { ...says, events: says.events.map((event) => (event.type === 'attempt_ended' ? { ...event, runs } : event)) };
  });
};

type Learn = (view: View, watch: Parameters<typeof digestSilence>[2]) => Digest;

/** One job's share of a look: what is wrong with its record never costs the others (protocols §5.5). */
const learn = async (ports: Ports, job: string, actor: string, digest: Learn): Promise<number> =>
  (await apart(ports, job, () => learnt(ports, job, actor, digest))) ?? 0;

/** Its watch first, then the commit, decided anew after every conflict. */
const learnt = async (ports: Ports, job: string, actor: string, digest: Learn): Promise<number> => {
  const watch = await readWatch(ports.store, job);
  let kept = watch;
  const committed = await commit(ports, job, actor, (view) => {
    const says = digest(view, watch);
    kept = says.watch;
    return says.events;
  });
  if (JSON.stringify(kept) !== JSON.stringify(watch)) await writeWatch(ports.store, job, kept);
  return committed.commitId ? 1 : 0;
};
