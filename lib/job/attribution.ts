/**
 * Attribution: an end after our own cancel takes its cause from why we cancelled, unless the program's own result says
 * otherwise (contract §3). Applied once, before `attempt_ended` is committed; a recorded outcome is never rewritten.
 */
import { CAUSES, type Cause, type Outcome, outcomeOf } from './cause.ts';
import type { AttemptView } from './view.ts';

/** Causes that our own cancel looks like from outside: anything else is the program's or the scheduler's own word. */
const OURS_LOOKS_LIKE: readonly Cause[] = [
  'cancelled_by_dispatch',
  'cancelled_by_user',
  'cancelled_by_unknown',
  'signalled',
  'gate_expired',
  'vanished',
  'launch_failed',
];

/** What a cancel sends (INT, KILL, TERM): by any other signal the program died of itself. */
const OUR_SIGNALS: readonly unknown[] = [2, 9, 15, undefined];
/** Cluster times come in whole seconds, and the two clocks' difference was read over a network. */
const CLOCK_MARGIN_MS = 5000;

const looksLikeOurs = ({ cause, detail }: Outcome): boolean =>
  OURS_LOOKS_LIKE.includes(cause) &&
  (cause !== 'launch_failed' || detail['stage'] === 'guard' || detail['stage'] === 'told') &&
  (cause !== 'signalled' || OUR_SIGNALS.includes(detail['signal']));

/** Every source that knows when it ended says: before the cancel was even intended. */
const endedBefore = (attempt: AttemptView, outcome: Outcome, intendedAt: number): boolean => {
  const ends = outcome.evidence.flatMap((e) => (e.at === undefined ? [] : [e.at - (attempt.clusterNow - attempt.plannedAt)]));
  return ends.length > 0 && Math.max(...ends) < intendedAt - CLOCK_MARGIN_MS;
};

export const attribute = (attempt: AttemptView, outcome: Outcome): Outcome => {
  const cancel = attempt.cancel;
  // Its release was intended and never done: no room is not what it lacked. Seen in the queue it may be all the same: a begin time
  // that passes opens the gate for the moment before the deadline is looked at.
  const neverLetGo = attempt.releasedAt === undefined && !attempt.findings.some((finding) => finding.kind === 'released');
  if (!cancel && neverLetGo && outcome.cause === 'no_capacity' && outcome.ran === 'no') return { ...outcome, cause: 'gate_expired' };
  // Where the scheduler itself ends what waits too long, its one word for it does not say what it waited for.
  if (!cancel && outcome.cause === 'no_capacity' && outcome.ran === 'no' && attempt.pending?.group === 'budget')
    return outcomeOf('budget', { ...outcome, detail: { ...outcome.detail, reason: attempt.pending.reason } });
  if (!cancel || !looksLikeOurs(outcome) || endedBefore(attempt, outcome, cancel.intendedAt)) return outcome;
  const { evidence, observedAt, confidence } = outcome;
  // What was seen running has begun, unless the evidence knows better: a scheduler says running while the guard waits, and refuses.
  const ran = outcome.ran === 'unknown' && attempt.startedAt !== undefined ? 'yes' : outcome.ran;
  // Whether it ran is the evidence's word, never the cancel's: it may have begun, unseen, just before its patience ended.
  const as = (cause: Cause, detail: Outcome['detail'] = {}): Outcome => outcomeOf(cause, { detail, evidence, observedAt, confidence, ran });
  const reason = cancel.said ?? '';
  switch (cancel.why) {
    case 'request':
      return as('cancelled_by_dispatch');
    case 'limit':
      // What used the rule up is why it ends: nobody asked for this cancel.
      return as(attempt.lastRunCause && CAUSES[attempt.lastRunCause] !== 'success' ? attempt.lastRunCause : 'cancelled_by_dispatch');
    case 'deadline':
    case 'wall_clock':
      return as('deadline', { by: cancel.why });
    case 'stall':
      return as('stalled', { since: reason });
    case 'patience':
      return attempt.pending?.group === 'budget'
        ? as('budget', { reason: attempt.pending.reason })
        : as('no_capacity', { reason: attempt.pending?.reason ?? '' });
    case 'never':
      return as(neverCause(attempt, reason), { reason, stage: 'pending' });
  }
};

const neverCause = (attempt: AttemptView, reason: string): Cause =>
  attempt.pending?.group === 'launch_failed' ? 'launch_failed' : reason.startsWith('Dependency') ? 'dependency_failed' : 'unsatisfiable';

/** The outcome of an attempt of which nothing ever reached the cluster: deferred, then given up (protocols §3.4). */
export const unsent = (attempt: AttemptView, why: NonNullable<AttemptView['cancel']>['why'], now: number): Outcome => {
  const cause: Cause =
    why === 'patience' ? 'no_capacity' : why === 'deadline' || why === 'wall_clock' ? 'deadline' : 'cancelled_by_dispatch';
  const reason = attempt.deferred?.reason ?? '';
  return outcomeOf(cause, {
    ran: 'no',
    observedAt: now,
    detail: { reason },
    evidence: [{ source: 'dispatch', message: `never sent: ${reason}`.slice(0, 1024) }],
  });
};
