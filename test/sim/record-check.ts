/**
 * What must be true of every commit, judged as it is appended, on the record and the ground truth of that moment: S1, S2, S4, S8,
 * S10, S11. What follows from the events alone is judged on a ledger (policy-check.ts).
 */

import { type ClusterObject, isKnown, isOf, jobKey, type State } from '../../lib/cluster/memory/state.ts';
import type { Commit, Event, EventOf, Receipt } from '../../lib/job/event.ts';
import { nextStep } from '../../lib/job/next-step.ts';
import { TIMING } from '../../lib/job/timing.ts';
import { type AttemptView, blockingQuestion, fold, type View } from '../../lib/job/view.ts';
import { SKEW_MS } from './climate.ts';
import type { EndingCheck } from './ending-check.ts';
import type { Ledger } from './ledger.ts';
import { holds } from './verdict.ts';

/** What one world keeps to judge by. */
export interface Judged {
  readonly cluster: State;
  readonly endings: EndingCheck;
  /** Objects that strangers made under our identity. */
  readonly copies: ReadonlySet<ClusterObject>;
}

export const objectOf = (cluster: State, receipt: Receipt): ClusterObject | undefined =>
  cluster.objects.find((object) => isOf(object, receipt));

/** Folds one commit and judges it. `ledger`: with this commit entered. `at`: the moment of the append, by true time. */
export const judgeCommit = (judged: Judged, before: View | undefined, ledger: Ledger, commit: Commit, at: number): View => {
  holds(commit.version === (before?.version ?? 0) + 1, 'S10', () => `version ${commit.version} follows ${before?.version ?? 0}`);
  if (before) for (const event of commit.events) judgeEvent(judged, before, ledger, event, commit);
  const after = fold([commit], before)!;
  const blocking = after.questions.filter((question) => question.blocks && !question.closed);
  holds(blocking.length <= 1, 'S11', () => `${blocking.length} blocking questions are open on ${commit.job}`);
  for (const event of commit.events) {
    if (event.type !== 'attempt_ended') continue;
    judgeRunKnown(judged.cluster, after, event);
    judgeWaited(judged.cluster, after, event);
  }
  judgeAwait(after, at);
  return after;
};

/** What an open blocking question holds back (protocols §9). */
const HELD_BACK = new Set<Event['type']>(['attempt_planned', 'release_intended', 'requeue_intended', 'recovery_decided', 'job_ended']);
const CLOSES = new Set<Event['type']>(['escalation_answered', 'escalation_expired', 'escalation_withdrawn']);

const judgeEvent = (judged: Judged, before: View, ledger: Ledger, event: Event, commit: Commit): void => {
  const where = `${event.type} in version ${commit.version} of ${commit.job}`;
  const asked = HELD_BACK.has(event.type) ? blockingQuestion(before) : undefined;
  const closes = asked && commit.events.some((one) => CLOSES.has(one.type) && 'id' in one && one.id === asked.id);
  holds(!asked || closes, 'S11', () => `${where}, while question ${asked?.id} is open`);
  switch (event.type) {
    case 'release_intended': {
      const attempt = before.attempts[event.n - 1];
      holds(attempt?.receipt, 'S2', () => `${where}: nothing is bound`);
      holds(attempt.releaseIntendedAt === undefined, 'S2', () => `${where}, and it was intended already`);
      const other = before.attempts.find((one) => one.n !== event.n && one.releaseIntendedAt !== undefined && one.state !== 'ended');
      holds(!other, 'S1', () => `${where}: attempt ${other?.n} was to be released and has not ended`);
      return;
    }
    case 'cancel_intended':
    case 'requeue_intended': {
      const attempt = before.attempts[event.n - 1];
      const stands = event.type === 'cancel_intended' ? attempt?.cancel?.intendedAt : attempt?.requeueIntendedAt;
      holds(stands === undefined, 'S8', () => `${where}, and it was intended already at ${stands}`);
      return;
    }
    case 'attempt_bound':
      holds(objectOf(judged.cluster, event.receipt), 'S8', () => `${where}: there is no such object`);
      return;
    case 'attempt_never_landed':
    case 'attempt_refused': {
      const identity = before.attempts[event.n - 1]?.identity;
      // What every source forgot before anybody looked is as good as never landed, as long as it never began. On Kubernetes a create may
      // land after another one of the same name was refused, and is swept.
      const bySlurm = judged.cluster.settings.shape === 'slurm';
      const untilMs = bySlurm || event.type === 'attempt_never_landed' ? Number.POSITIVE_INFINITY : event.outcome.observedAt - SKEW_MS;
      const there = judged.cluster.objects.find(
        (object) =>
          object.name === identity &&
          object.landedAtMs < untilMs &&
          !object.refused &&
          !judged.copies.has(object) &&
          (object.everRan || isKnown(judged.cluster, object)),
      );
      holds(!there, 'S8', () => `${where}: object ${there?.id} landed`);
      const sent = before.attempts[event.n - 1];
      const early = !bySlurm && sent?.state === 'uncertain' && event.outcome.observedAt < settledAt(sent) - SKEW_MS;
      holds(!early, 'S8', () => `${where}: a repeat was refused, and what was sent before may still land`);
      return;
    }
    case 'job_ended': {
      const open = before.attempts.find((attempt) => attempt.state !== 'ended' && !commitEnds(commit, attempt.n));
      holds(!open, 'S4', () => `${where}, and attempt ${open?.n} is ${open?.state}`);
      return;
    }
    case 'attempt_ended':
      judgeEnded(judged, before, ledger, event, where);
      return;
    default:
  }
};

const settledAt = ({ plannedAt, clusterSettleAt, clusterNow }: AttemptView): number => plannedAt + clusterSettleAt - clusterNow;

const commitEnds = ({ events }: Commit, n: number): boolean =>
  events.some((event) => (event.type === 'attempt_ended' || event.type === 'attempt_refused') && event.n === n);

/** S8: the cause is one the truth allows. */
const judgeEnded = ({ cluster, endings }: Judged, before: View, ledger: Ledger, event: EventOf<'attempt_ended'>, where: string): void => {
  const attempt = before.attempts[event.n - 1];
  if (!attempt?.receipt) return;
  const object = objectOf(cluster, attempt.receipt);
  const { schedulerId, identity } = attempt.receipt;
  // Put back in its queue after the cluster's clock was set back, it seems older than its receipt, and so another one (P4.5).
  if (!object && cluster.objects.some(({ id, name, run }) => id === schedulerId && name === identity && run > 0)) return;
  holds(object, 'S8', () => `${where}: there is no such object`);
  endings.ends(before.job, object, ledger.attempts[event.n - 1]!, event, attempt.releasedAt !== undefined, where);
};

/** P4.6: whose end is told was recorded as begun; it is the last run's if it is of the moment at which the object ended. */
const judgeRunKnown = (cluster: State, { job, attempts }: View, { n, outcome }: EventOf<'attempt_ended'>): void => {
  const attempt = attempts[n - 1];
  const object = attempt?.receipt && objectOf(cluster, attempt.receipt);
  if (object?.state !== 'ended' || object.endedAtMs === undefined) return;
  const clusterEndedAt = Math.round(object.endedAtMs + cluster.clockOffsetMs);
  const isLast = outcome.evidence.some(({ at }) => at === clusterEndedAt);
  const begun = cluster.executionsByJob.get(jobKey(object.tag ?? '', job))?.some((one) => one.n === n && one.run === object.run);
  const known = !isLast || !begun || attempt!.run >= object.run;
  holds(known, 'S8', () => `the end of run ${object.run} of attempt ${n} of ${job} is told, and the record knows ${attempt!.run}`);
};

/** P5.6: evidence that was not there was waited for. A run that a stranger has begun since ended at another moment than the one told of. */
const judgeWaited = (cluster: State, { job, attempts }: View, { n, outcome }: EventOf<'attempt_ended'>): void => {
  const inVain = outcome.evidence.some(({ source, message }) => source === 'dispatch' && message?.startsWith('waited '));
  const attempt = attempts[n - 1];
  const object = attempt?.receipt && objectOf(cluster, attempt.receipt);
  if (!inVain || object?.endedAtMs === undefined || object.run !== attempt?.run) return;
  const sinceMs = cluster.agenda.nowMs - object.endedAtMs;
  holds(sinceMs >= EVIDENCE_MS, 'S8', () => `attempt ${n} of ${job} ended ${sinceMs} ms ago, and its evidence was waited for in vain`);
};

/** What an end waits for its evidence, less what two processes' clocks differ by. */
const EVIDENCE_MS = TIMING.evidenceWaitSeconds * 1000 - 15_000;

/** P2.1: if it awaits t, it awaits at every moment before t. */
const judgeAwait = (view: View, at: number): void => {
  const step = nextStep(view, at);
  if (step.do !== 'await') return;
  for (const part of [0.5, 0.99]) {
    const moment = Math.floor(at + (Math.min(step.until, at + 86_400_000) - at) * part);
    if (moment >= step.until) continue;
    const then = nextStep(view, moment);
    holds(
      then.do === 'await',
      'await',
      () => `version ${view.version} of ${view.job} awaits ${step.until} and at ${moment} does ${then.do}`,
    );
  }
};

export const isBoundTo = (attempt: AttemptView | undefined, schedulerId: string): boolean => attempt?.receipt?.schedulerId === schedulerId;
