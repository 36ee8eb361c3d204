/**
 * Rest: what must be true once faults are over and the world had its time: L1 to L3, S5, S7, S10, S12.
 */

import { summaryOf } from '../../lib/app/summary.ts';
import { type ClusterObject, isKnown, jobKey, type State } from '../../lib/cluster/memory/state.ts';
import { CLUSTER_SCHEMA, type ClusterCommit } from '../../lib/job/cluster-event.ts';
import type { ClusterView } from '../../lib/job/cluster-view.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { TIMING } from '../../lib/job/timing.ts';
import { blockingQuestion, openQuestions, type View } from '../../lib/job/view.ts';
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import type { NoticeCheck } from './notice-check.ts';
import { objectOf } from './record-check.ts';
import { readable } from './release.ts';
import { Broken, holds } from './verdict.ts';
import { concerns } from './wake-check.ts';

export interface Resting {
  readonly store: MemoryStore;
  readonly cluster: State;
  readonly tag: string;
  readonly now: number;
  /** Whether an execution of this job runs; of one generation, if that is given. */
  supervised(job: string, generation?: number): boolean;
  /** Whether a task waits under this token. */
  isWaiting(token: string): boolean;
  readonly views: readonly View[];
  readonly clusterView: ClusterView;
  readonly notices: NoticeCheck;
  /** By idempotency key: the job that the API answered with. */
  readonly births: ReadonlyMap<string, string>;
}

/** Why this job is still under way; undefined: it ended, or a person was told and has not answered, or said to wait. */
export const underWay = (world: Resting, view: View): string | undefined => {
  if (view.ended) return undefined;
  const { now } = world;
  const step = nextStep(view, now);
  if (step.do !== 'await') return `${step.do} is next`;
  if (blockingQuestion(view)) return undefined;
  if (openQuestions(view).length > 0) return undefined;
  // A person said so, or nobody answered: the next episode comes after another 72 h.
  if (view.questions.some((one) => one.closed?.answer === 'wait' && one.closed.at + TIMING.questionSeconds * 1000 === step.until))
    return undefined;
  return `awaits ${new Date(step.until).toISOString()}`;
};

/** Reconcile's grace and its next round. */
const MISSED_MS = 600_000;

/** L1, L3: every job as it should be at rest. Throws what is broken. */
export const judgeRest = (world: Resting): void => {
  for (const view of world.views) {
    const why = underWay(world, view);
    holds(why === undefined, 'L1', () => `job ${view.job} (version ${view.version}) has neither ended nor told anybody: ${why}`);
    judgeHead(world, view);
    judgeCancelled(world, view.job);
  }
  for (const view of world.views) judgeRuns(world, view);
  judgeBirths(world);
  judgeCluster(world);
  for (const object of orphans(world))
    holds(false, 'L2', () => `object ${object.id} of ${object.name} is ${object.state} and nobody wants it`);
};

/**
 * S5: nothing of a cancelled job is alive, and it has ended; whether it was cancelled is told by the events themselves. What is being cleaned
 * up by its cluster is not ours to hurry.
 */
const judgeCancelled = ({ store, cluster, tag }: Resting, job: string): void => {
  const events = store
    .dump()
    .jobs.get(job)!
    .commits.flatMap((commit) => commit.events);
  if (!events.some((event) => event.type === 'cancel_requested')) return;
  const left = (cluster.byJob.get(jobKey(tag, job)) ?? []).filter((object) => object.state !== 'ended' && isKnown(cluster, object));
  const alive = left.find((object) => object.state !== 'ending');
  holds(!alive, 'S5', () => `${job} was cancelled, and object ${alive?.id} is ${alive?.state}`);
  const ended = events.some((event) => event.type === 'job_ended');
  holds(ended || left.length > 0, 'S5', () => `${job} was cancelled, nothing of it is left, and it has not ended`);
};

/** A run is known when polls have had time to see it. */
const SEEN_MS = 10 * 60_000;

/** P4.6: of the last attempt every run that began before its end is counted, if sources knew its object long enough to tell. */
const judgeRuns = ({ cluster, tag, now }: Resting, view: View): void => {
  const attempt = view.attempts.at(-1);
  const object = attempt?.receipt && objectOf(cluster, attempt.receipt);
  if (!object || !isKnown(cluster, object)) return;
  const executions = cluster.executionsByJob.get(jobKey(tag, view.job)) ?? [];
  const latestMs = Math.min(now, attempt.endedAt ?? now) - SEEN_MS;
  const begun = executions.filter((one) => one.n === attempt.n && one.startedAtMs < latestMs).map((one) => one.run);
  const runs = Math.max(0, ...begun);
  holds(attempt.run >= runs, 'S8', () => `run ${runs} of attempt ${attempt.n} of ${view.job} began, and the record knows ${attempt.run}`);
};

/** P1.5: what was accepted is there, and once. */
const judgeBirths = ({ births, views }: Resting): void => {
  for (const [key, job] of births)
    holds(
      views.some((view) => view.job === job),
      'api',
      () => `job ${job}, accepted under ${key}, has no record`,
    );
  const keys = new Map<string, string>();
  for (const { job, idempotencyKey, spec } of views) {
    const other = spec && keys.get(idempotencyKey);
    holds(!other, 'api', () => `jobs ${other} and ${job} were both born of the key ${idempotencyKey}`);
    keys.set(idempotencyKey, job);
  }
};

/** The cluster answers, and its record says so; everything it tells was told. */
const judgeCluster = ({ store, clusterView, notices }: Resting): void => {
  const wrong = clusterView.logins.find((one) => one.unreachable ?? one.blocked);
  holds(!wrong, 'L1', () => `the record says that the cluster does not answer login ${wrong?.login}`);
  const commits = [...store.dump().clusters.values()].flat().map((commit) => readable(commit as ClusterCommit, CLUSTER_SCHEMA));
  const untold = notices.untoldOfCluster(commits);
  holds(!untold, 'L3', () => `notice ${untold} was never sent`);
};

/** S10: the head is the fold of the log; L3: no wake is owed, and whoever waits was promised no more than the record says. */
const judgeHead = (world: Resting, view: View): void => {
  const { jobs } = world.store.dump();
  const held = jobs.get(view.job)!;
  const head = held.head;
  holds(head?.version === view.version, 'S10', () => `the head of ${view.job} is at ${head?.version}, its log at ${view.version}`);
  const [kept, folded] = [JSON.stringify(head.summary), JSON.stringify(summaryOf(view))];
  holds(kept === folded, 'S10', () => `the head of ${view.job} says ${kept}, its log ${folded}`);
  holds(head.notified === view.version, 'L3', () => `notices of ${view.job} are unsent after version ${head.notified}`);
  const untold = world.notices.untold(held.commits.map((commit) => readable(commit)));
  holds(!untold, 'L3', () => `notice ${untold} was never sent`);
  for (const [slot, { wake }] of held.slots) {
    holds(wake?.state !== 'owed', 'L3', () => `a wake of ${view.job} is still owed${slot === '' ? '' : ` on ${slot}`}`);
    if (view.ended || wake === undefined) continue;
    const question = view.questions.find((one) => one.id === slot);
    if (slot !== '' && question?.closed) continue;
    if (world.now >= wake.until) continue;
    holds(!concerns(view, wake, world.now), 'L3', () => `job ${view.job} waits until ${wake.until} and should not: a wake was lost`);
  }
  // An execution that waits under a token which nobody knows cannot be woken; one of an older generation need not be.
  const reachable = [...held.slots.values()].some(({ wake }) => wake !== undefined && world.isWaiting(wake.token));
  const runs = world.supervised(view.job, head.supervisor.generation);
  holds(view.ended || reachable || !runs, 'L3', () => `the supervisor of ${view.job} waits, and the record has no token of it`);
  // One that died while it waited is missed when what it was promised has passed, and not before.
  const promised = [...held.slots.values()].some(({ wake }) => wake !== undefined && wake.until + MISSED_MS > world.now);
  holds(view.ended || promised || world.supervised(view.job), 'L3', () => `nobody supervises ${view.job}`);
};

/** L2, S7: alive objects of our tag that no record explains, or of an ended job. Strangers' programs outside dispatch are not ours. */
export const orphans = (world: Resting): ClusterObject[] =>
  world.cluster.objects.filter((object) => {
    if (object.tag !== world.tag || object.state === 'ended' || object.vanished || object.forgotten) return false;
    const view = world.views.find((one) => one.job === object.job);
    const attempt = view?.attempts[object.n! - 1];
    return !view || view.ended !== undefined || attempt?.receipt?.schedulerId !== object.id;
  });

/** Whether nothing more is to be expected: cheap enough to be asked often. */
export const isAtRest = (world: Resting): boolean =>
  world.views.every((view) => underWay(world, view) === undefined) && orphans(world).length === 0;

export const whatIsBroken = (world: Resting): Broken | undefined => {
  try {
    judgeRest(world);
    return undefined;
  } catch (error) {
    if (error instanceof Broken) return error;
    throw error;
  }
};
