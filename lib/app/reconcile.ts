/**
 * Reconcile: what repairs supervision from the record alone (protocols §1.5, §2.4, §2.5, §2.8). Runs every five minutes, when
 * an execution ends badly, and when a local process starts (`everyJob`).
 * Guards liveness: a supervisor that died is replaced by the next generation, a dead writer's commit is published, an owed
 * wake is sent, a birth that was interrupted is finished or removed.
 */

import { TIMING } from '../job/timing.ts';
import { fold } from '../job/view.ts';
import type { Head } from '../record/port.ts';
import { loadView } from './load.ts';
import { type Ports, SupervisorsFailure } from './ports.ts';
import { publish, sendOwed, wakeQuestion } from './wake.ts';

export interface Reconciled {
  readonly jobs: number;
  readonly repaired: number;
  readonly restarted: number;
  readonly births: number;
  readonly owed: number;
}

export const reconcile = async (ports: Ports, options: { readonly everyJob?: boolean } = {}): Promise<Reconciled> => {
  const counts = { jobs: 0, repaired: 0, restarted: 0, births: 0 };
  const owed = await sendOwed(ports, options.everyJob ? 0 : TIMING.owedSeconds * 1000);
  let cursor: string | undefined;
  do {
    const page = await ports.store.listUnended(cursor);
    for (const { job } of page.items) {
      counts.jobs++;
      const did = await reconcileJob(ports, job, options.everyJob ?? false);
      if (did) counts[did]++;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { ...counts, owed };
};

const reconcileJob = async (ports: Ports, job: string, always: boolean): Promise<'repaired' | 'restarted' | 'births' | undefined> => {
  const head = await ports.store.readHead(job);
  if (!head) return undefined;
  // W6: the item after the head's version shows a dead writer's commit, which is on no list.
  const next = await ports.store.readAt(job, head.version + 1);
  if (head.version === 0 && !next) return unfinishedBirth(ports, head);
  const view = next ? fold(await ports.store.read(job)) : undefined;
  if (view) await publish(ports, view);
  else await questionLeftParked(ports, head);
  const now = view ? await ports.store.readHead(job) : head;
  if (now && !now.summary.ended && isSilent(now, ports.now(), always)) return (await restart(ports, now)) ? 'restarted' : undefined;
  return view ? 'repaired' : undefined;
};

/** E4: work that came up behind an open question, whose writer died before it took the question's token. */
const questionLeftParked = async (ports: Ports, head: Head): Promise<void> => {
  if (head.summary.state !== 'awaiting') return;
  const view = await loadView(ports.store, head.job);
  if (view) await wakeQuestion(ports, view);
};

const unfinishedBirth = async (ports: Ports, head: Head): Promise<'births' | undefined> => {
  if (ports.now() - head.triedAt < TIMING.unfinishedBirthSeconds * 1000) return undefined;
  return (await ports.store.removeHead(head.job, head.triedAt)) === 'removed' ? 'births' : undefined;
};

/** Silent: what it was promised has passed, and nobody saw it or woke it for longer than the bound (protocols §2.8). */
const isSilent = (head: Head, now: number, always: boolean): boolean => {
  const { seenAt, takenAt, failures } = head.supervisor;
  const parked = head.wake?.state === 'parked' ? head.wake : undefined;
  if (always) return true;
  const patience = Math.max(TIMING.silentSupervisorSeconds, failures === 0 ? 0 : Math.min(2 ** failures * 60, 3600)) * 1000;
  return (!parked || parked.until + TIMING.promisedGraceSeconds * 1000 < now) && seenAt + patience < now && takenAt + patience < now;
};

const restart = async (ports: Ports, head: Head): Promise<boolean> => {
  const from = head.supervisor.generation;
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
