/**
 * Ledger: what the judge keeps of one job by itself, from the raw events of its log. Nothing here is folded by dispatch, so that a fold that
 * forgets something is seen.
 */
import type { Cause, Outcome } from '../../lib/job/cause.ts';
import type { Answer, Commit, Event, EventOf, Run } from '../../lib/job/event.ts';
import type { Spec } from '../../lib/job/spec.ts';

/** Until when what was sent may land. */
export interface Settles {
  readonly clusterSettlesAt: number;
  /** By our own clock, counted from that commit. */
  readonly settlesAtMs: number;
}

export interface LedgerAttempt {
  /** The first try's. Absent: somebody else submitted it. */
  readonly plan?: EventOf<'attempt_planned'>;
  /** Of the latest try. */
  settles: Settles | undefined;
  run: number;
  /** A look showed this run as begun: to a scheduler that is so while the guard still waits for its mark. */
  seenBegun: boolean;
  ended: boolean;
  outcome: Outcome | undefined;
  runs: readonly Run[];
  /** Until when it may not be sent again; undefined: it was not deferred. */
  deferredUntil: number | undefined;
  /** Per run that the scheduler began by itself: why the one before it ended, where that was told. */
  readonly requeues: (Cause | undefined)[];
  /** Why we cancelled its present run. */
  cancel: EventOf<'cancel_intended'> | undefined;
  /** Of any run: what was sent then may land at a later one. */
  everCancelled: boolean;
}

export interface LedgerQuestion {
  readonly asked: EventOf<'escalation_raised'>;
  closed?: { readonly version: number; readonly how: 'answered' | 'expired' | 'withdrawn'; readonly answer?: Answer };
}

export interface LedgerDecision {
  readonly event: EventOf<'recovery_decided'>;
  /** Whether the program of that attempt had run. */
  readonly ran: Outcome['ran'];
}

export interface Ledger {
  spec?: Spec;
  /** True time. */
  cancelledAt?: number;
  endedAt?: number;
  readonly attempts: LedgerAttempt[];
  readonly decisions: LedgerDecision[];
  /** Decided, and nothing has come of it yet. */
  pending: EventOf<'recovery_decided'> | undefined;
  /** Rules whose requeue was refused. */
  readonly refused: Set<number>;
  readonly questions: Map<string, LedgerQuestion>;
}

export const emptyLedger = (): Ledger => ({ attempts: [], decisions: [], pending: undefined, refused: new Set(), questions: new Map() });

const attempt = (plan?: EventOf<'attempt_planned'>): LedgerAttempt => ({
  ...(plan ? { plan } : {}),
  ...{
    settles: undefined,
    run: 0,
    seenBegun: false,
    ended: false,
    outcome: undefined,
    runs: [],
    deferredUntil: undefined,
    requeues: [],
    cancel: undefined,
    everCancelled: false,
  },
});

const MOST_RUNS = 1000;

const begun = (of: LedgerAttempt, run: number, cause: Cause | undefined): void => {
  for (let i = 0; i < Math.min(run - of.run, MOST_RUNS); i++) of.requeues.push(i === 0 ? cause : undefined);
};

const reopened = (of: LedgerAttempt): void => {
  of.ended = false;
  of.outcome = undefined;
};

/** Enters one event. `at`: when its commit was appended, true time. */
export const enter = (ledger: Ledger, event: Event, commit: Commit, at: number): void => {
  const { version } = commit;
  const of = 'n' in event ? ledger.attempts[event.n - 1] : undefined;
  switch (event.type) {
    case 'job_submitted':
      ledger.spec = event.spec;
      return;
    case 'job_adopted':
      ledger.attempts.push(attempt());
      return;
    case 'attempt_planned':
      if (event.try === 1) {
        ledger.attempts.push(attempt(event));
        ledger.pending = undefined;
      } else if (of) of.deferredUntil = undefined;
      ledger.attempts[event.n - 1]!.settles = {
        clusterSettlesAt: event.clusterSettleAt,
        settlesAtMs: commit.at + event.clusterSettleAt - event.clusterNow,
      };
      return;
    case 'attempt_submission_deferred':
      if (of) of.deferredUntil = event.notBefore;
      return;
    case 'attempt_ended':
    case 'attempt_refused':
    case 'attempt_never_landed':
      if (!of) return;
      of.ended = true;
      of.outcome = event.outcome;
      of.runs = event.type === 'attempt_ended' ? event.runs : [];
      return;
    case 'attempt_observed':
      if (!of || event.finding?.kind === 'active_after_end') return;
      begun(of, event.run, event.lastRunCause);
      of.seenBegun =
        (of.seenBegun && event.run <= of.run) || event.state === 'running' || event.state === 'suspended' || event.state === 'ending';
      of.run = event.run;
      reopened(of);
      return;
    case 'attempt_requeued':
      if (!of) return;
      if (ledger.pending?.action.kind === 'requeue' && ledger.pending.action.by === 'scheduler') begun(of, event.run, of.outcome?.cause);
      of.run = event.run;
      of.seenBegun = false;
      of.cancel = undefined;
      reopened(of);
      ledger.pending = undefined;
      return;
    case 'requeue_refused':
      if (ledger.pending?.by.kind === 'rule') ledger.refused.add(ledger.pending.by.rule);
      ledger.pending = undefined;
      return;
    case 'cancel_intended':
      if (!of) return;
      of.cancel = event;
      of.everCancelled = true;
      return;
    case 'recovery_decided':
      ledger.decisions.push({ event, ran: of?.outcome?.ran ?? 'unknown' });
      ledger.pending = event;
      return;
    case 'escalation_raised':
      ledger.questions.set(event.id, { asked: event });
      return;
    case 'escalation_answered':
      close(ledger, event.id, { version, how: 'answered', answer: event.answer });
      return;
    case 'escalation_expired':
      close(ledger, event.id, { version, how: 'expired', answer: event.answer });
      return;
    case 'escalation_withdrawn':
      close(ledger, event.id, { version, how: 'withdrawn' });
      return;
    case 'cancel_requested':
      ledger.cancelledAt ??= at;
      return;
    case 'job_ended':
      ledger.endedAt ??= at;
      return;
    default:
  }
};

const close = (ledger: Ledger, id: string, closed: NonNullable<LedgerQuestion['closed']>): void => {
  const question = ledger.questions.get(id);
  if (question) question.closed = closed;
};
