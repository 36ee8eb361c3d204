/**
 * Next step: what the supervisor must do now, decided from a view and the time (contract §9). Total and deterministic.
 * Guards the whole of protocols.md from inside: submit only when nothing is outstanding (S6), release only what is bound
 * (S2), nothing new after a cancel or the deadline (S5), a blocking question holds back what it must (P9).
 *
 * Each concern below is asked in order and either names a step that is due or the moment at which it would have one. What it
 * says may only turn from waiting to due as time passes: if this says `await(t)`, it says `await` at every moment before t.
 */
import type { Because, CancelWhy } from './event.ts';
import { requeuedTooOften } from './limit.ts';
import { type Draft, draft, mayAsk, standingAnswer } from './question.ts';
import { decide, type Verdict } from './recovery.ts';
import { TIMING } from './timing.ts';
import { type AttemptView, blockingQuestion, isObserved, isUnsettled, lastAttempt, openQuestions, type View } from './view.ts';

export type Step =
  | { readonly do: 'submit'; readonly n: number }
  | { readonly do: 'settle'; readonly n: number }
  | { readonly do: 'release'; readonly n: number }
  | { readonly do: 'await'; readonly until: number; readonly question?: string }
  | { readonly do: 'cancel'; readonly n: number; readonly why: CancelWhy; readonly said?: string }
  | { readonly do: 'requeue'; readonly n: number }
  | { readonly do: 'discard'; readonly n: number }
  | { readonly do: 'decide'; readonly n: number; readonly verdict: Extract<Verdict, { kind: 'recover' }> }
  | { readonly do: 'escalate'; readonly question: Draft }
  | { readonly do: 'expire'; readonly question: string }
  | { readonly do: 'finish'; readonly because: Because }
  | { readonly do: 'done' };

/** "Nothing known of": later than any real moment, and still a safe integer. */
export const NEVER = 8_640_000_000_000_000;

/** A step that is due, or the earliest moment at which there may be one. */
type Concern = Step | number;

const first = (...concerns: readonly (() => Concern)[]): Concern => {
  let earliest = NEVER;
  for (const concern of concerns) {
    const says = concern();
    if (typeof says !== 'number') return says;
    earliest = Math.min(earliest, says);
  }
  return earliest;
};

const at = (moment: number, now: number, step: () => Concern): Concern => (now < moment ? moment : step());

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

/** Why no rule is asked any more: a cancel, the job's own end of time, or a person's `stop` about duplicates. */
export const overOf = (view: View, now: number): Because | undefined => {
  if (view.cancel) return { kind: 'cancel' };
  if (view.spec?.deadline !== undefined && view.spec.deadline <= now) return { kind: 'deadline' };
  if (wallClockEnd(view) <= now) return { kind: 'wall_clock' };
  const stop = view.questions.findLast((q) => q.kind === 'duplicate_attempts' && q.closed?.answer === 'stop');
  return stop ? { kind: 'answer', question: stop.id, answer: 'stop', expired: stop.closed?.how === 'expired' } : undefined;
};

const wallClockEnd = (view: View): number => {
  const seconds = view.spec?.policy.limits.wallClockSeconds;
  return seconds === undefined ? NEVER : view.submittedAt + seconds * 1000;
};
const endOfTime = (view: View): number => Math.min(view.spec?.deadline ?? NEVER, wallClockEnd(view));

// While an attempt is outstanding

const whileOutstanding = (view: View, attempt: AttemptView, now: number): Concern => {
  const over = overOf(view, now);
  if (isUnsettled(attempt)) return { do: 'settle', n: attempt.n };
  // A step that stays due when its try proved nothing hides what comes after it: so what is done once comes first.
  return first(
    () => (over ? NEVER : endOfTime(view)),
    () => expiry(view, now),
    () => (attempt.deferred ? deferred(view, attempt, now, over) : intending(view, attempt, now, over)),
    () => stuck(view, attempt, now),
    () => foreign(view, attempt, now),
    () => secondObject(view, attempt, now, over),
    () => inTurn(cancelling(attempt, now), discarding(attempt), now),
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

const asWhy = (over: Because): CancelWhy => (over.kind === 'deadline' || over.kind === 'wall_clock' ? over.kind : 'request');

/** Nothing of a deferred attempt is outstanding on the cluster: it is sent again, or ended at once (protocols §3.4). */
const deferred = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  const n = attempt.n;
  if (over) return { do: 'cancel', n, why: asWhy(over) };
  const patienceEnd = attempt.firstTriedAt + (view.spec?.patienceSeconds ?? 0) * 1000;
  if (patienceEnd <= now) return { do: 'cancel', n, why: 'patience' };
  if (blockingQuestion(view)) return patienceEnd;
  return first(
    () => patienceEnd,
    () => at(attempt.deferred?.notBefore ?? 0, now, () => ({ do: 'submit', n })),
  );
};

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
  const often = requeuedTooOften(view);
  return often === undefined ? undefined : { why: 'limit', said: often };
};

/** Where an unstarted attempt destroys itself, its scheduler owns the patience: two enforcers never own one event. */
const patienceEnd = (view: View, attempt: AttemptView): number =>
  attempt.gate.selfDestructs ||
  attempt.run > 0 ||
  attempt.startedAt !== undefined ||
  !attempt.receipt ||
  (attempt.state !== 'gated' && attempt.state !== 'queued')
    ? NEVER
    : // The receipt speaks by the cluster's clock; what the two differed by was read when this try was planned.
      attempt.receipt.submittedAt - (attempt.clusterNow - attempt.plannedAt) + (view.spec?.patienceSeconds ?? 0) * 1000;

const leftOf = (attempt: AttemptView) => attempt.duplicates.filter((d) => !d.discarded);

/** People are asked about a second object unless the job is over anyway, or waits for another answer already. */
const secondObject = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  const left = leftOf(attempt);
  if (left.length === 0 || over || blockingQuestion(view)) return NEVER;
  const running = left.some((d) => d.running);
  const since = Math.min(...left.map((d) => d.foundAt));
  const askAt = Math.max(running ? 0 : since + TIMING.undiscardedSeconds * 1000, mayAsk(view, 'duplicate_attempts', attempt.n, since));
  const says = `a second object of ${attempt.identity} ${running ? 'was seen running' : 'could not be discarded'}: ${left.map((d) => d.receipt.schedulerId).join(', ')}`;
  return at(askAt, now, () => ({ do: 'escalate', question: draft(view, 'duplicate_attempts', attempt.n, says) }));
};

const discarding = (attempt: AttemptView): Concern => (leftOf(attempt).length === 0 ? NEVER : { do: 'discard', n: attempt.n });

/** Also one that a stranger let go: without its mark the guard would refuse it. A hold after its gate is never released by us. */
const releasing = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  if (over || attempt.cancel || attempt.deferred || blockingQuestion(view)) return NEVER;
  // Only what is bound (S2).
  if (!attempt.receipt) return NEVER;
  const release: Step = { do: 'release', n: attempt.n };
  if (attempt.releasedAt === undefined) return release;
  // Its exit code proved nothing: while a look still sees the gate closed it is released again (protocols §4.3).
  if (attempt.state !== 'gated' || attempt.leftGate) return NEVER;
  return at(attempt.releasedAt + TIMING.cancelAgainSeconds * 1000, now, () => release);
};

/** Not before `moment`, about something that began at `since`. */
const ask = (
  view: View,
  kind: 'stuck' | 'foreign_change',
  n: number,
  { moment, since }: { readonly moment: number; readonly since: number },
  now: number,
  says: string,
): Concern => at(Math.max(moment, mayAsk(view, kind, n, since)), now, () => ({ do: 'escalate', question: draft(view, kind, n, says) }));

const stuck = (view: View, attempt: AttemptView, now: number): Concern => {
  const { n, cancel, state, since, pending } = attempt;
  const after = (began: number, seconds: number, says: string): Concern =>
    ask(view, 'stuck', n, { moment: began + seconds * 1000, since: began }, now, says);
  if (cancel) return after(cancel.intendedAt, TIMING.stuckCancellingSeconds, `attempt ${n} has not ended since it was cancelled`);
  if (state === 'ending') return after(since, TIMING.stuckEndingSeconds, `attempt ${n} is ending and its nodes are not released`);
  if (pending?.group === 'admitted') return after(since, TIMING.stuckAdmittedSeconds, `attempt ${n} was admitted and does not start`);
  if (state === 'queued' && (pending?.group === 'held' || pending?.group === 'blocked')) {
    return after(since, TIMING.stuckHeldSeconds, `attempt ${n} waits for somebody: ${pending.reason}`);
  }
  return NEVER;
};

const FOREIGN = new Set(['held', 'released', 'edited', 'requeued', 'active_after_end']);

const foreign = (view: View, attempt: AttemptView, now: number): Concern => {
  const finding = attempt.findings.findLast((f) => FOREIGN.has(f.kind));
  // Of an ended attempt only what came after its end is news; of a live one that we cancel, nothing is.
  if (!finding || (attempt.state === 'ended' ? finding.kind !== 'active_after_end' : attempt.cancel)) return NEVER;
  const since = finding.notedAt;
  const last = view.questions.findLast((q) => q.kind === 'foreign_change' && q.n === attempt.n);
  // One question per finding: a later look that says the same is no new change.
  if (last && last.raisedAt >= since && last.closed?.answer !== 'wait') return NEVER;
  return ask(view, 'foreign_change', attempt.n, { moment: 0, since }, now, `attempt ${attempt.n} was changed by others: ${finding.said}`);
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
