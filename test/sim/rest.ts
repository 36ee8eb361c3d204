/**
 * Rest: what must be true once faults are over and the world had its time: L1 to L3, S7, S10, S12.
 */

import { summaryOf } from '../../lib/app/summary.ts';
import { mustWake } from '../../lib/app/wake.ts';
import type { ClusterObject, State } from '../../lib/cluster/memory/state.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { TIMING } from '../../lib/job/timing.ts';
import { blockingQuestion, openQuestions, type View } from '../../lib/job/view.ts';
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import { Broken, holds } from './verdict.ts';

export interface Resting {
  readonly store: MemoryStore;
  readonly cluster: State;
  readonly tag: string;
  readonly now: number;
  /** Whether an execution of this job runs. */
  supervised(job: string): boolean;
  readonly views: readonly View[];
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
  }
  for (const object of orphans(world))
    holds(false, 'L2', () => `object ${object.id} of ${object.name} is ${object.state} and nobody wants it`);
};

/** S10: the head is the fold of the log; L3: no wake is owed, and whoever waits was promised no more than the record says. */
const judgeHead = (world: Resting, view: View): void => {
  const { jobs } = world.store.dump();
  const held = jobs.get(view.job)!;
  const head = held.head;
  holds(head?.version === view.version, 'S10', () => `the head of ${view.job} is at ${head?.version}, its log at ${view.version}`);
  const [kept, folded] = [JSON.stringify(head.summary), JSON.stringify(summaryOf(view))];
  holds(kept === folded, 'S10', () => `the head of ${view.job} says ${kept}, its log ${folded}`);
  for (const [slot, { wake }] of held.slots) {
    holds(wake?.state !== 'owed', 'L3', () => `a wake of ${view.job} is still owed${slot === '' ? '' : ` on ${slot}`}`);
    if (view.ended || wake === undefined) continue;
    const question = view.questions.find((one) => one.id === slot);
    if (slot !== '' && question?.closed) continue;
    if (world.now >= wake.until) continue;
    holds(!mustWake(view, wake, world.now), 'L3', () => `job ${view.job} waits until ${wake.until} and should not: a wake was lost`);
  }
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
