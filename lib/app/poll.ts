/**
 * Poll: one look at everything of this deployment on one cluster and login (protocols §5).
 * Guards: one connection and one scheduler command however many jobs there are; one write (the lease) when nothing changed;
 * commits only of what changed; a look that another poll overtook is dropped whole.
 */
import type { FoundObject, Observed, Session, Target } from '../cluster/port.ts';
import { identityOf } from '../job/identity.ts';
import { runsOf } from '../job/point.ts';
import { TIMING } from '../job/timing.ts';
import { isObserved, lastAttempt, type View } from '../job/view.ts';
import { commit } from './commit.ts';
import { type Digest, digestAbsence, digestObservation, digestSilence, type PollLook } from './digest.ts';
import { loadView } from './load.ts';
import type { ClusterConfiguration, Ports } from './ports.ts';
import { isUnreachable, withSession } from './step/work.ts';
import { type Watched, watchedOf } from './summary.ts';
import { sweepObjects } from './sweep.ts';
import { sendOwed } from './wake.ts';
import { readWatch, writeWatch } from './watch.ts';

export interface PollInput {
  readonly cluster: string;
  readonly login: string;
  /** Look even where no job is active, so that orphans are found. */
  readonly sweep?: boolean;
}
export interface Polled {
  readonly kind: 'looked' | 'idle' | 'unreachable' | 'overtaken';
  readonly active: number;
  readonly commits: number;
  readonly says?: string;
}

export const poll = async (ports: Ports, input: PollInput): Promise<Polled> => {
  const { cluster, login } = input;
  const configuration = ports.clusters.get(cluster);
  if (!configuration) return { kind: 'unreachable', active: 0, commits: 0, says: `the configuration does not name cluster ${cluster}` };
  await sendOwed(ports, TIMING.owedSeconds * 1000);
  const lease = await ports.store.readLease(cluster, login);
  const watched = await activeOn(ports, cluster, login);
  if (watched.length === 0 && !input.sweep) return { kind: 'idle', active: 0, commits: 0 };
  const began = ports.now();
  const looked = await withSession(ports, cluster, login, (session) => look(session, watched));
  if (isUnreachable(looked)) return { kind: 'unreachable', active: watched.length, commits: 0, says: looked.unreachable };
  const { observed, bytes } = looked;
  if (observed.kind === 'unreachable') return { kind: 'unreachable', active: watched.length, commits: 0, says: observed.says };
  const renewed = await ports.store.renewLease(cluster, login, { fence: lease?.fence ?? 0, at: ports.now(), answeredAt: began });
  if (renewed.kind === 'lost') return { kind: 'overtaken', active: watched.length, commits: 0 };
  const at: PollLook = { fence: renewed.fence, clusterStartedAt: observed.clusterStartedAt, now: began, complete: observed.complete };
  const commits = await record(ports, configuration, observed, bytes, at);
  return { kind: 'looked', active: watched.length, commits };
};

const activeOn = async (ports: Ports, cluster: string, login: string): Promise<readonly Watched[]> => {
  const watched: Watched[] = [];
  let cursor: string | undefined;
  do {
    const page = await ports.store.listActive(cluster, login, cursor);
    for (const row of page.items) watched.push(watchedOf(row, cluster, login, (n) => identityOf(ports.tag, row.job, n)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return Promise.all(watched.map((one) => (one.rootInLog ? rootFromLog(ports, one) : one)));
};

/** What did not fit the row: the checkpoint root, or the name that somebody else gave an adopted object. */
const rootFromLog = async (ports: Ports, watched: Watched): Promise<Watched> => {
  const view = await loadView(ports.store, watched.target.job);
  const root = view?.spec?.checkpoint?.root;
  const receipt = (view && isObserved(view) ? lastAttempt(view)?.receipt : undefined) ?? watched.target.receipt;
  return { ...watched, target: { ...watched.target, receipt, ...(root === undefined ? {} : { checkpointRoot: root }) } };
};

interface Looked {
  readonly observed: Observed;
  /** Output sizes of running jobs with a limit on silence. */
  readonly bytes: readonly (readonly [Target, number])[];
}

const look = async (session: Session, watched: readonly Watched[]): Promise<Looked> => {
  const observed = await session.observe(watched.map((one) => one.target));
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

const record = async (
  ports: Ports,
  configuration: ClusterConfiguration,
  observed: Answered,
  bytes: Looked['bytes'],
  at: PollLook,
): Promise<number> => {
  const actor = `poller:${configuration.id}`;
  let commits = 0;
  for (const observation of observed.changed) {
    commits += await learn(ports, observation.target.job, actor, (view, watch) => digestObservation(view, observation, watch, at));
  }
  for (const target of observed.absent) commits += await vanished(ports, configuration, target, actor, at);
  for (const [target, size] of bytes)
    commits += await learn(ports, target.job, actor, (view, watch) => digestSilence(view, size, watch, at));
  const login = observed.unexplained[0]?.receipt.login;
  if (login !== undefined) await sweepObjects(ports, configuration.id, login, observed.unexplained as readonly FoundObject[], actor);
  return commits;
};

/** An end waits for the listing of what was published like for any other evidence (protocols §5.7), also one that nobody saw. */
const vanished = async (
  ports: Ports,
  configuration: ClusterConfiguration,
  target: Target,
  actor: string,
  at: PollLook,
): Promise<number> => {
  const { job, n } = target;
  const { cluster, login } = target.receipt;
  const absence: Learn = (view, watch) => digestAbsence(view, target, watch, at, configuration.pollEverySeconds);
  const view = await loadView(ports.store, job);
  const ends = view && absence(view, await readWatch(ports.store, job)).events.length > 0;
  if (!ends || !view.spec) return learn(ports, job, actor, absence);
  const spec = view.spec;
  const listed = await withSession(ports, cluster, login, (session) => session.listPublications(job, spec));
  if (isUnreachable(listed) || listed === undefined) return 0;
  const bases = new Map(listed.bases.filter((base) => base.n === n).map((base) => [base.run, base.base]));
  const runs = runsOf(n, bases, listed.publications);
  return learn(ports, job, actor, (newest, watch) => {
    const says = absence(newest, watch);
    return { ...says, events: says.events.map((event) => (event.type === 'attempt_ended' ? { ...event, runs } : event)) };
  });
};

type Learn = (view: View, watch: Parameters<typeof digestSilence>[2]) => Digest;

/** One job's share of a look: its watch first, then the commit, decided anew after every conflict. */
const learn = async (ports: Ports, job: string, actor: string, digest: Learn): Promise<number> => {
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
