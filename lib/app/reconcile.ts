/**
 * Reconcile: what repairs supervision from the record alone (protocols §1.5, §2.4, §2.5, §2.8). Runs every five minutes, when
 * an execution ends badly, and when a local process starts (`everyJob`).
 * Guards liveness: a supervisor that died is replaced by the next generation, a dead writer's commit is published, an owed
 * wake is sent, a birth that was interrupted is finished or removed.
 */

import { TIMING } from '../job/timing.ts';
import { blockingQuestion, fold } from '../job/view.ts';
import { BATCH_LIMIT, type Head, type Wake } from '../record/port.ts';
import { apart } from './apart.ts';
import { tendCluster } from './cluster/note.ts';
import { loadView } from './load.ts';
import { notifyFailing, notifyUnsent } from './notify.ts';
import { type Ports, SupervisorsFailure } from './ports.ts';
import { publish, sendOwed, wakeQuestion } from './wake.ts';

export interface Reconciled {
  readonly jobs: number;
  readonly repaired: number;
  readonly restarted: number;
  readonly births: number;
  readonly owed: number;
  /** Jobs of clusters or logins that the configuration no longer names: nothing can be done for them until it does (protocols §7). */
  readonly stranded: number;
  /** Jobs that wait for a person, and how long ago the one that waits longest last moved. */
  readonly questions: number;
  readonly oldestQuestionSeconds: number;
  /** Since the supervisor that was seen longest ago was seen: the safety wake keeps it below half a day. */
  readonly oldestHeadSeconds: number;
  /** Jobs whose supervisors end one after the other without having decided anything. */
  readonly failing: number;
}

export interface ReconcileOptions {
  readonly everyJob?: boolean;
  /** This execution is known to have ended badly: only its job is looked at, and nobody waits until its silence shows. */
  readonly ended?: { readonly job: string; readonly generation: number };
}

const NOTHING = {
  ...{ jobs: 0, repaired: 0, restarted: 0, births: 0, owed: 0, stranded: 0 },
  ...{ questions: 0, oldestQuestionSeconds: 0, oldestHeadSeconds: 0, failing: 0 },
};

export const reconcile = async (ports: Ports, options: ReconcileOptions = {}): Promise<Reconciled> => {
  if (options.ended) return reconcileEnded(ports, options.ended);
  const counts = { ...NOTHING };
  const unnamed = new Set<string>();
  const always = options.everyJob ?? false;
  const patienceMs = always ? 0 : TIMING.owedSeconds * 1000;
  const owed = await sendOwed(ports, patienceMs);
  let cursor: string | undefined;
  do {
    const page = await ports.store.listUnended(cursor);
    for (let from = 0; from < page.items.length; from += BATCH_LIMIT) {
      const batch = page.items.slice(from, from + BATCH_LIMIT);
      counts.jobs += batch.length;
      const heads = await ports.store.readHeads(batch);
      for (const place of strandedIn(ports, heads)) {
        counts.stranded++;
        unnamed.add(place);
      }
      survey(counts, heads, ports.now());
      for (const job of await unquiet(ports, heads, always)) {
        const did = await apart(ports, job, () => reconcileJob(ports, job, always));
        if (did) counts[did]++;
      }
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (unnamed.size > 0) {
    const says = 'jobs wait for places that the configuration no longer names: name them again, or nothing of these jobs can be ended';
    ports.log('error', says, { jobs: counts.stranded, places: [...unnamed].sort().slice(0, 20) });
  }
  // A cluster has no supervisor of its own (contract §8).
  for (const cluster of ports.clusters.keys()) await tendCluster(ports, cluster, 'system');
  // After the heads were repaired: what a dead writer left is then on the list.
  await notifyUnsent(ports, patienceMs);
  return { ...counts, owed };
};

type Counts = { -readonly [K in keyof Reconciled]: Reconciled[K] };

/** What the heads of a batch say, as they were before anything was repaired. */
const survey = (counts: Counts, heads: readonly Head[], now: number): void => {
  const secondsSince = (at: number): number => Math.max(0, Math.floor((now - at) / 1000));
  for (const { version, summary, supervisor } of heads) {
    if (version === 0 || summary.ended) continue;
    counts.oldestHeadSeconds = Math.max(counts.oldestHeadSeconds, secondsSince(supervisor.seenAt));
    if (supervisor.failures > 1) counts.failing++;
    if (summary.state !== 'awaiting' && !summary.asked) continue;
    counts.questions++;
    counts.oldestQuestionSeconds = Math.max(counts.oldestQuestionSeconds, secondsSince(summary.updatedAt));
  }
};

/**
 * The service said that this supervisor is gone: it is replaced at once, though what it was promised may lie hours ahead. One whose
 * predecessor failed, too, waits its turn like any other that is silent, so that a broken release does not spin (protocols §2.8).
 */
const reconcileEnded = async (ports: Ports, { job, generation }: NonNullable<ReconcileOptions['ended']>): Promise<Reconciled> => {
  const head = await ports.store.readHead(job);
  const gone = head && head.version > 0 && !head.summary.ended && head.supervisor.generation === generation;
  if (!gone || head.supervisor.failures > 0) return NOTHING;
  const did = await apart(ports, job, () => reconcileJob(ports, job, true));
  return { ...NOTHING, jobs: 1, ...(did ? { [did]: 1 } : {}) };
};

/** One place per job: the cluster, or `cluster/login` where only the login is gone, under which nobody polls either. */
const strandedIn = (ports: Ports, heads: readonly Head[]): readonly string[] =>
  heads.flatMap(({ version, summary: { cluster, login, ended } }) => {
    if (version === 0 || ended) return [];
    const known = ports.clusters.get(cluster);
    if (!known) return [cluster];
    return known.logins.some((one) => one.id === login) ? [] : [`${cluster}/${login}`];
  });

/** The jobs of a batch that may need something: one more read for all of them, so that quiet jobs cost none of their own (P2.4). */
const unquiet = async (ports: Ports, heads: readonly Head[], always: boolean): Promise<readonly string[]> => {
  if (heads.length === 0) return [];
  const goingOn = await ports.store.goingOn(heads);
  const now = ports.now();
  return heads
    .filter(
      (head) =>
        head.version === 0 || goingOn.has(head.job) || head.summary.state === 'awaiting' || isSilent(head, [head.wake], now, always),
    )
    .map((head) => head.job);
};

const reconcileJob = async (ports: Ports, job: string, always: boolean): Promise<'repaired' | 'restarted' | 'births' | undefined> => {
  const head = await ports.store.readHead(job);
  if (!head) return undefined;
  // W6: the item after the head's version shows a dead writer's commit, which is on no list.
  const next = await ports.store.readAt(job, head.version + 1);
  if (head.version === 0 && !next) return unfinishedBirth(ports, head);
  // E4: work that came up behind an open question, whose writer died before it took the question's token, shows in the log alone.
  const view = next || head.summary.state === 'awaiting' ? fold(await ports.store.read(job)) : undefined;
  if (view) await (next ? publish(ports, view) : wakeQuestion(ports, view));
  const now = next ? await ports.store.readHead(job) : head;
  const question = view && blockingQuestion(view);
  // Who waits for a person waits beside the question, not on the head; its token must stay good while the question is open.
  const asked = question && (await ports.store.readWake(job, question.id));
  if (!now || now.summary.ended || !isSilent(now, [now.wake, asked], ports.now(), always)) return next ? 'repaired' : undefined;
  // A writer that closed the question, and died before it took the question's token, left the supervisor waiting beside it.
  const left = always ? undefined : (view ?? (await loadView(ports.store, job)));
  if (left && (await wakeQuestion(ports, left))) return 'repaired';
  return (await restart(ports, now)) ? 'restarted' : undefined;
};

const unfinishedBirth = async (ports: Ports, head: Head): Promise<'births' | undefined> => {
  if (ports.now() - head.triedAt < TIMING.unfinishedBirthSeconds * 1000) return undefined;
  return (await ports.store.removeHead(head.job, head.triedAt)) === 'removed' ? 'births' : undefined;
};

/** Silent: what it was promised has passed, and nobody saw it or woke it for longer than the bound (protocols §2.8). */
const isSilent = (head: Head, wakes: readonly (Wake | undefined)[], now: number, always: boolean): boolean => {
  if (always) return true;
  const { seenAt, takenAt, failures } = head.supervisor;
  const graceMs = TIMING.promisedGraceSeconds * 1000;
  if (wakes.some((wake) => wake?.state === 'parked' && wake.until + graceMs >= now)) return false;
  const patience = Math.max(TIMING.silentSupervisorSeconds, failures === 0 ? 0 : Math.min(2 ** failures * 60, 3600)) * 1000;
  return seenAt + patience < now && takenAt + patience < now;
};

const restart = async (ports: Ports, head: Head): Promise<boolean> => {
  const from = head.supervisor.generation;
  if (head.supervisor.failures > 0) await notifyFailing(ports, head.job, from, head.supervisor.failures);
  if ((await ports.store.raiseGeneration(head.job, from, ports.now())) === 'changed') return false;
  try {
    await ports.supervisors.start(head.job, from + 1);
  } catch (error) {
    if (!(error instanceof SupervisorsFailure)) throw error;
    ports.log('error', 'supervisor not started: the next reconcile tries again', { job: head.job, generation: from + 1 });
    return false;
  }
  ports.log('info', 'supervisor started', { job: head.job, generation: from + 1 });
  return true;
};
