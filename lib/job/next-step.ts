/**
 * Next step: what the supervisor must do now, decided from a view and the time (contract §9). Total and deterministic.
 * Guards the whole of protocols.md from inside: submit only when nothing is outstanding (S6), release only what is bound
 * (S2), nothing new after a cancel or the deadline (S5), a blocking question holds back what it must (P9).
 *
 * Each concern below is asked in order and either names a step that is due or the moment at which it would have one. What it
 * says may only turn from waiting to due as time passes: if this says `await(t)`, it says `await` at every moment before t.
 */
import { foreign, leftOf, secondObject, stuck } from './asking.ts';
import type { Because, CancelWhy } from './event.ts';
import { recordFull, requeuedTooOften } from './limit.ts';
import { asWhy, endOfTime, overOf } from './over.ts';
import { standingAnswer } from './question.ts';
import { decide, type Verdict } from './recovery.ts';
import { at, type Concern, first, NEVER, type Step } from './step.ts';
import { TIMING } from './timing.ts';
import { type AttemptView, blockingQuestion, isObserved, isUnsettled, lastAttempt, openQuestions, type View } from './view.ts';

export const nextStep = (view: View, now: number): Step => {
  if (view.ended) return { do: 'done' };
  const attempt = lastAttempt(view);
  const says = isObserved(view)
    ? observedOnly(attempt)
    : outstanding(attempt)
      ? whileOutstanding(view, attempt, now)
      : whenQuiet(view, attempt, now);
  if (typeof says !== 'number') return says;
  const question = blockingQuestion(view);
  return { do: 'await', until: says, ...(question ? { question: question.id } : {}) };
};

const outstanding = (attempt: AttemptView | undefined): attempt is AttemptView => attempt !== undefined && attempt.state !== 'ended';

/** A job that somebody else submitted has one attempt and ends with it (contract §7). */
const observedOnly = (attempt: AttemptView | undefined): Concern =>
  attempt?.state === 'ended' ? { do: 'finish', because: { kind: 'observed' } } : NEVER;

// While an attempt is outstanding

const whileOutstanding = (view: View, attempt: AttemptView, now: number): Concern => {
  const over = overOf(view, now);
  if (isUnsettled(attempt)) return { do: 'settle', n: attempt.n };
  // A step that stays due when its try proved nothing hides what comes after it: so what is done once comes first.
  return first(
    () => (over ? NEVER : endOfTime(view)),
    () => expiry(view, now),
    () => intending(view, attempt, now, over),
    () => stuck(view, attempt, now),
    () => foreign(view, attempt, now),
    () => secondObject(view, attempt, now, over),
    () => inTurn(cancelling(attempt, now), discarding(attempt), now),
    () => resending(view, attempt, now, over),
    () => releasing(view, attempt, now, over),
  );
};

/** Both may stay due for as long as the cluster refuses: neither may starve the other (protocols §9: both go on). */
const inTurn = (one: Concern, other: Concern, now: number): Concern => {
  if (typeof one === 'number') return typeof other === 'number' ? Math.min(one, other) : other;
  if (typeof other === 'number') return one;
  return Math.floor(now / (TIMING.cancelAgainSeconds * 1000)) % 2 === 0 ? one : other;
};

const expiry = (view: View, now: number): Concern => {
  const soonest = openQuestions(view).toSorted((a, b) => a.expiresAt - b.expiresAt)[0];
  return soonest ? at(soonest.expiresAt, now, () => ({ do: 'expire', question: soonest.id })) : NEVER;
};

/** Nothing of a deferred attempt is outstanding on the cluster: the same attempt is sent again (protocols §3.4). */
const resending = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern =>
  !attempt.deferred || over || blockingQuestion(view) ? NEVER : at(attempt.deferred.notBefore, now, () => ({ do: 'submit', n: attempt.n }));

/** Intended and not ended: sent, and sent again, since a scheduler may lose it. */
const cancelling = (attempt: AttemptView, now: number): Concern => {
  if (!attempt.cancel) return NEVER;
  const { why, sentAt } = attempt.cancel;
  const again: Step = { do: 'cancel', n: attempt.n, why };
  return sentAt === undefined ? again : at(sentAt + TIMING.cancelAgainSeconds * 1000, now, () => again);
};

/** Whether to cancel it at all. */
const intending = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  if (attempt.cancel) return NEVER;
  if (over) return { do: 'cancel', n: attempt.n, why: asWhy(over) };
  const due = dueCancel(view, attempt);
  if (due) return { do: 'cancel', n: attempt.n, ...due };
  return at(patienceEnd(view, attempt), now, () => ({ do: 'cancel', n: attempt.n, why: 'patience' }));
};

/** Reasons to cancel that an observation brought, not the clock. */
const dueCancel = (view: View, attempt: AttemptView): { why: CancelWhy; said?: string } | undefined => {
  const silent = attempt.findings.find((f) => f.kind === 'silent_since');
  if (silent && view.spec?.policy.limits.stalledAfterSeconds !== undefined && attempt.state === 'running')
    return { why: 'stall', said: silent.said };
  const pending = attempt.pending;
  if (pending && (pending.group === 'never' || pending.group === 'launch_failed')) return { why: 'never', said: pending.reason };
  // Of its own doing: an attempt that people allowed beyond the limit begins with the count as it is.
  const often = attempt.schedulerRequeues.length > 0 ? requeuedTooOften(view) : undefined;
  return often === undefined ? undefined : { why: 'limit', said: often };
};

/**
 * Where an unstarted attempt destroys itself, its scheduler owns the patience: two enforcers never own one event. Only when it
 * has evidently not looked (Slurm evaluates no deadline of a held job, or in a partition that is down) is it cancelled for it.
 */
const patienceEnd = (view: View, attempt: AttemptView): number => {
  const patienceMs = (view.spec?.patienceSeconds ?? 0) * 1000;
  // Each try is two commits: where there is no room for them, its patience is over.
  if (attempt.deferred) return recordFull(view) ? 0 : attempt.firstTriedAt + patienceMs;
  const never = attempt.run > 0 || attempt.startedAt !== undefined || (attempt.state !== 'gated' && attempt.state !== 'queued');
  if (never || !attempt.receipt) return NEVER;
  // The receipt speaks by the cluster's clock; what the two differed by was read when this try was planned.
  const graceMs = attempt.gate.selfDestructs ? TIMING.patienceGraceSeconds * 1000 : 0;
  return attempt.receipt.submittedAt - (attempt.clusterNow - attempt.plannedAt) + patienceMs + graceMs;
};

const discarding = (attempt: AttemptView): Concern => (leftOf(attempt).length === 0 ? NEVER : { do: 'discard', n: attempt.n });

/** Also one that a stranger let go: without its mark the guard would refuse it. A hold after its gate is never released by us. */
const releasing = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  // Only what is bound (S2).
  if (over || attempt.cancel || !attempt.receipt || blockingQuestion(view)) return NEVER;
  const release: Step = { do: 'release', n: attempt.n };
  if (attempt.releasedAt === undefined) return release;
  // Its exit code proved nothing: while a look still sees the gate closed it is released again (protocols §4.3).
  if (attempt.state !== 'gated' || attempt.leftGate) return NEVER;
  return at(attempt.releasedAt + TIMING.cancelAgainSeconds * 1000, now, () => release);
};

// When nothing of the job is outstanding

const whenQuiet = (view: View, attempt: AttemptView | undefined, now: number): Concern => {
  const over = overOf(view, now);
  if (attempt?.outcome?.class === 'success') return { do: 'finish', because: view.cancel ? { kind: 'cancel' } : { kind: 'completed' } };
  if (over) return { do: 'finish', because: (attempt && answeredInTime(view, attempt, over)) ?? over };
  return first(
    () => endOfTime(view),
    () => expiry(view, now),
    () => (attempt ? foreign(view, attempt, now) : NEVER),
    () => (attempt ? secondObject(view, attempt, now, over) : NEVER),
    () => (attempt ? discarding(attempt) : NEVER),
    () => (blockingQuestion(view) ? NEVER : onward(view, attempt, now)),
  );
};

/** What a person decided before the time was up still ends the job, however long the cluster could not be reached since. */
const answeredInTime = (view: View, attempt: AttemptView, over: Because): Because | undefined => {
  if (over.kind === 'cancel') return undefined;
  const standing = standingAnswer(view, attempt);
  return standing?.kind === 'end' && standing.at < endOfTime(view) ? standing.because : undefined;
};

const onward = (view: View, attempt: AttemptView | undefined, now: number): Concern => {
  if (!attempt) return { do: 'submit', n: 1 };
  const decision = view.decision;
  if (decision) {
    if (decision.action.kind === 'relaunch') return at(decision.notBefore, now, () => ({ do: 'submit', n: attempt.n + 1 }));
    // The scheduler's own requeue is only observed; when it has not shown by then, a look decides (contract §5).
    const due = decision.action.by === 'scheduler' ? decision.decidedAt + TIMING.requeueSettleSeconds * 1000 : 0;
    return at(due, now, () => ({ do: 'requeue', n: attempt.n }));
  }
  return attempt.outcome ? byVerdict(decide(view, attempt, attempt.outcome), attempt.n, now) : NEVER;
};

const byVerdict = (verdict: Verdict, n: number, now: number): Concern => {
  switch (verdict.kind) {
    case 'recover':
      return { do: 'decide', n, verdict };
    case 'ask':
      return { do: 'escalate', question: verdict.question };
    case 'end':
      return { do: 'finish', because: verdict.because };
    case 'wait':
      return at(verdict.until, now, () => byVerdict(verdict.afterwards, n, now));
  }
};
