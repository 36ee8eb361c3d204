/**
 * Notify: domain events brought to the bus, at least once, whoever dies on the way (protocols §2.7).
 * Guards: `notified` moves only after the bus has said that it keeps everything up to there, and only over versions whose notices
 * this caller derived itself; so a crash between the two repeats notices and loses none. A commit whose writer died is on the list of
 * heads with something unsent, which polls and reconcile go through.
 */

import type { Commit } from '../job/event.ts';
import { fold, type Question, type View } from '../job/view.ts';
import type { Head } from '../record/port.ts';
import { apart } from './apart.ts';
import { failing, type Notice, noticesAfter, noticesOf, reissued } from './notices.ts';
import { BusFailure, type Ports } from './ports.ts';

/** What EventBridge takes at once. */
const BATCH = 10;

/** A commit in its writer's hand, and the view that it was decided from. */
export interface Made {
  readonly before: View | undefined;
  readonly commit: Commit;
}

/** Sends what this job's head has unsent, and notes it. A bus that fails leaves it to the next sweep. */
export const notify = async (ports: Ports, job: string, made?: Made): Promise<void> => {
  if (!ports.bus) return;
  const head = await ports.store.readHead(job);
  // What lies beyond the head is told by whoever moves the head there.
  if (!head || head.notified >= head.version) return;
  if (await putNotices(ports, await unsent(ports, head, made))) await ports.store.setNotified(job, head.version);
};

/** The writer's own commit, if it is all that is unsent; else, as after a writer's death, what the log says. */
const unsent = async (ports: Ports, { job, version, notified }: Head, made: Made | undefined): Promise<readonly Notice[]> => {
  if (made && made.commit.version === version && (made.before?.version ?? 0) === notified)
    return noticesOf(made.before, made.commit, fold([made.commit], made.before) as View);
  const commits = await ports.store.read(job);
  return noticesAfter(
    commits.filter((commit) => commit.version <= version),
    notified,
  );
};

/** The sweep's part: heads with something unsent for longer than the bound. Bounded per call; the next sweep does the rest. */
export const notifyUnsent = async (ports: Ports, olderThanMs: number, limit = 100): Promise<number> => {
  if (!ports.bus) return 0;
  const jobs = await ports.store.listUnnotified(ports.now() - olderThanMs, limit);
  for (const job of jobs) await apart(ports, job, () => notify(ports, job));
  return jobs.length;
};

/** Whether the bus keeps all of them now. */
export const putNotices = async (ports: Ports, notices: readonly Notice[]): Promise<boolean> => {
  try {
    for (let i = 0; i < notices.length; i += BATCH) await ports.bus?.put(notices.slice(i, i + BATCH));
    return true;
  } catch (error) {
    if (!(error instanceof BusFailure)) throw error;
    ports.log('warn', 'notices stay unsent', { first: notices[0]?.id, count: notices.length, code: error.code });
    return false;
  }
};

/**
 * A question got another token while one was stored: what people hold of the old one is dead. Not a fact of the record, so it is sent
 * by the Park that stored the token, and a failure fails that Park: the machine enters the state again, under one more token.
 */
export const notifyReissued = async (
  ports: Ports,
  view: View,
  question: Question,
  parked: Omit<Parameters<typeof reissued>[2], 'at'>,
): Promise<void> => {
  await ports.bus?.put([reissued(view, question, { ...parked, at: ports.now() })]);
};

/** Before the generation is raised: dying in between tells it twice. */
export const notifyFailing = async (ports: Ports, job: string, generation: number, failures: number): Promise<void> => {
  if (!ports.bus) return;
  const view = fold(await ports.store.read(job));
  if (view) await putNotices(ports, [failing(view, { generation, failures, at: ports.now() })]);
};
