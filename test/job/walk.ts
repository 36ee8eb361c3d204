/**
 * Walk: a random but plausible life of a job. It follows `nextStep`, lets the cluster, people and time do what they may do in
 * between, and notes the record before every move. One seed is one life, for ever.
 */
import { attribute, unsent } from '../../lib/job/attribution.ts';
import { CAUSE_NAMES, type Cause, outcomeOf } from '../../lib/job/cause.ts';
import type { Commit, LiveState } from '../../lib/job/event.ts';
import type { Rule } from '../../lib/job/policy.ts';
import { seeded } from '../../lib/job/seed.ts';
import type { Step } from '../../lib/job/step.ts';
import type { View } from '../../lib/job/view.ts';
import { asks, DAY, type Given, given, HOUR, MINUTE, NOON, relaunch, requeue, type SpecChanges, stop } from './given.ts';

class Chance {
  readonly #seed: number;
  #drawn = 0;
  constructor(seed: number) {
    this.#seed = seed;
  }
  below(bound: number): number {
    this.#drawn += 1;
    return Math.floor(seeded(`${this.#seed}:${this.#drawn}`) * bound);
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }
}

const MOMENTS = [1, 29, MINUTE, 3 * MINUTE, 16 * MINUTE, HOUR, 7 * HOUR, DAY, 3 * DAY, 8 * DAY];

const ruleOf = (chance: Chance): Rule => {
  const on = chance.of(['any', 'infrastructure', 'preempted', 'exited', 'evidence', 'limit', 'never_landed', 'people'] as const);
  return chance.of([
    relaunch(on, { max: 1 + chance.below(4), from: chance.of(['checkpoint', 'scratch']) }),
    relaunch(on, { max: 9 }),
    requeue(on, 'supervisor', 1 + chance.below(3)),
    requeue(on, 'scheduler', 1 + chance.below(2)),
    asks(on, ['stop', 'relaunch', 'wait'], chance.of(['stop', 'relaunch', 'wait'])),
    stop(on),
  ]);
};

const specOf = (chance: Chance): SpecChanges => ({
  patienceSeconds: chance.of([HOUR, 7 * DAY]),
  ...(chance.oneIn(3) ? { deadline: NOON + chance.of([HOUR, 2 * DAY, 20 * DAY]) * 1000 } : {}),
  ...(chance.oneIn(3) ? { checkpoint: { required: chance.oneIn(2) } } : {}),
  policy: {
    unmatched: chance.of(['escalate', 'escalate', 'stop', 'relaunch_once']),
    rules: Array.from({ length: chance.below(4) }, () => ruleOf(chance)),
    limits: {
      attempts: 1 + chance.below(6),
      ...(chance.oneIn(4) ? { wallClockSeconds: chance.of([HOUR, 5 * DAY]) } : {}),
      ...(chance.oneIn(4) ? { attemptsWithoutProgress: 1 + chance.below(3) } : {}),
      ...(chance.oneIn(3) ? { stalledAfterSeconds: HOUR } : {}),
    },
  },
});

/** What is known at one moment of a life. */
export interface Moment {
  readonly view: View;
  readonly now: number;
  readonly log: readonly Commit[];
}

/** The life of one seed, moment by moment. */
export const walk = (seed: number, moves: number): readonly Moment[] => {
  const chance = new Chance(seed);
  const job = given(specOf(chance));
  const moments: Moment[] = [];
  const note = (): number => moments.push({ view: job.view, now: job.now, log: [...job.log] });
  for (let i = 0; i < moves && !job.view.ended; i++) {
    note();
    if (chance.oneIn(4)) world(job, chance);
    else if (chance.oneIn(6)) job.after(chance.of(MOMENTS));
    else perform(job, job.next(), chance);
  }
  note();
  return moments;
};

/** What happens whether or not anybody supervises: the cluster and people. */
const world = (job: Given, chance: Chance): Given => {
  const question = chance.oneIn(2) ? job.open[0] : undefined;
  if (question) return job.answered(chance.of(question.options), question.id);
  if (chance.oneIn(12) && !job.view.cancel) return job.cancelRequested();
  const attempt = job.view.attempts.at(-1);
  if (!attempt?.receipt) return job.after(chance.of(MOMENTS));
  if (attempt.state === 'ended') return ended(job, chance);
  if (chance.oneIn(12)) return job.duplicate(String(chance.below(3)), chance.oneIn(2));
  if (chance.oneIn(8)) return job.published(chance.below(99));
  return chance.oneIn(4) ? end(job, chance, chance.of(CAUSE_NAMES)) : look(job, chance);
};

const ended = (job: Given, chance: Chance): Given => {
  const { outcome } = job.attempt;
  if (job.view.decision?.action.kind === 'requeue' && chance.oneIn(2)) return job.requeued();
  if (outcome?.class !== 'evidence' || job.view.decision) return job.seen('running', { finding: 'active_after_end' });
  return chance.oneIn(2) ? look(job, chance) : end(job, chance, chance.of(CAUSE_NAMES));
};

const look = (job: Given, chance: Chance): Given => {
  const { run, releasedAt } = job.attempt;
  const state = chance.of<LiveState>(
    releasedAt === undefined ? ['gated', 'queued'] : ['gated', 'queued', 'queued', 'starting', 'running', 'running', 'suspended', 'ending'],
  );
  const waits = state === 'queued' || state === 'gated';
  return job.seen(state, {
    run: run + (chance.oneIn(6) ? 1 : 0),
    ...(waits && chance.oneIn(2)
      ? { pending: chance.of(['waiting', 'budget', 'held', 'blocked', 'admitted', 'never', 'launch_failed']) }
      : {}),
    ...(chance.oneIn(4) ? { finding: chance.of(['silent_since', 'held', 'edited', 'released', 'requeued']) } : {}),
    ...(chance.oneIn(3) ? { lastRunCause: chance.of(['preempted', 'node_lost']) } : {}),
  });
};

const end = (job: Given, chance: Chance, cause: Cause): Given => {
  const ran = chance.of(['yes', 'yes', 'no', 'unknown'] as const);
  const outcome = attribute(
    job.attempt,
    outcomeOf(cause, { observedAt: job.now, ran, detail: chance.oneIn(2) ? { failedNodes: ['n1'] } : {} }),
  );
  return job.ended(outcome.cause, {
    ran: outcome.ran,
    detail: outcome.detail,
    processes: chance.of(['gone', 'unknown']),
    ...(chance.oneIn(2) ? { saved: chance.below(99) } : {}),
  });
};

/** Carries a step out as its file in lib/app/step would, with whatever answer the cluster may give; or learns nothing. */
const perform = (job: Given, step: Step, chance: Chance): Given => {
  if (step.do === 'await') return job.after(Math.max(1, Math.min((step.until - job.now) / 1000, chance.of(MOMENTS))));
  if (step.do !== 'decide' && step.do !== 'escalate' && step.do !== 'expire' && chance.oneIn(4)) return job.after(chance.of(MOMENTS));
  switch (step.do) {
    case 'submit':
      return job.planned({ selfDestructs: chance.oneIn(3) });
    case 'settle':
      return settle(job, chance);
    case 'release':
      if (chance.oneIn(6)) return job.duplicate('9', chance.oneIn(2));
      return job.attempt.releasedAt === undefined ? job.released() : job.after(chance.of(MOMENTS));
    case 'cancel':
      if (job.attempt.deferred) return job.ended(unsent(job.attempt, step.why, job.now).cause, { ran: 'no', runs: [] });
      if (!job.attempt.cancel) return job.cancelIntended(step.why, step.said);
      return chance.oneIn(2) ? job.cancelSent() : end(job, chance, 'cancelled_by_user');
    case 'requeue':
      if (job.attempt.requeueIntendedAt === undefined) return job.requeueIntended();
      return chance.oneIn(2) ? job.requeued() : job.requeueRefused();
    case 'discard':
      return job.discarded(job.attempt.duplicates.find((d) => !d.discarded)!.receipt.schedulerId);
    default:
      return job.acts();
  }
};

const settle = (job: Given, chance: Chance): Given => {
  if (job.attempt.state === 'planned' && chance.oneIn(4)) return job.deferred(chance.of(MOMENTS));
  if (job.attempt.state === 'planned' && chance.oneIn(4)) return job.uncertain();
  if (chance.oneIn(5)) return job.neverLanded();
  return job.bound();
};
