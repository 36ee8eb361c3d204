/**
 * View: what the events of a record say now. The only way to know anything of a job is to fold its log (contract §8, §9).
 * Guards promise 4: pure and total; a log that cannot exist is a failed assertion, never a guess. Nothing here looks at a
 * clock: what depends on the time is asked of next-step.ts.
 */
import { assert } from './assertion.ts';
import type { Outcome } from './cause.ts';
import type {
  Answer,
  AttemptState,
  Because,
  CancelWhy,
  Commit,
  DecidedBy,
  Finding,
  Gate,
  Look,
  PendingGroup,
  Point,
  QuestionKind,
  Receipt,
  RecoveryAction,
  Resources,
  Run,
} from './event.ts';
import { evolve } from './evolve.ts';
import type { Spec } from './spec.ts';
import { upcast } from './upcast.ts';

export interface AttemptView {
  readonly n: number;
  readonly try: number;
  readonly identity: string;
  readonly cluster: string;
  readonly login: string;
  readonly gate: Gate;
  readonly requeueable: boolean;
  readonly resume: Point;
  readonly resources: Resources;
  readonly excludeNodes: readonly string[];
  readonly firstTriedAt: number;
  readonly plannedAt: number;
  /** The commit of the latest `attempt_planned`: only its author may send (protocols §3.1). */
  readonly plannedCommit: string;
  readonly clusterNow: number;
  readonly clusterBoundAt: number;
  readonly clusterSettleAt: number;
  readonly state: AttemptState;
  /** When the state, run or pending group last changed, by dispatch's clock; a finding alone changes none of them. */
  readonly since: number;
  readonly deferred?: { readonly reason: string; readonly notBefore: number };
  readonly receipt?: Receipt;
  readonly releaseIntendedAt?: number;
  readonly releasedAt?: number;
  /** A look saw it past its gate: from then on a hold is somebody else's (protocols §4.3). */
  readonly leftGate: boolean;
  readonly run: number;
  readonly look?: Look;
  readonly pending?: { readonly group: PendingGroup; readonly reason: string };
  /** With the moment each was committed: `since` is by the cluster's clock and not comparable with anything here. */
  readonly findings: readonly (Finding & { readonly notedAt: number })[];
  readonly lastRunCause?: Outcome['cause'];
  /** When the present run was first seen running: a restart begins anew, and with it the run's own time limit. */
  readonly startedAt?: number;
  /** One entry per run that the scheduler began by itself: why the run before it ended, where the cluster said so. */
  readonly schedulerRequeues: readonly (Outcome['cause'] | 'untold')[];
  readonly requeueIntendedAt?: number;
  readonly requeueRefused?: string;
  readonly cancel?: { readonly why: CancelWhy; readonly said?: string; readonly intendedAt: number; readonly sentAt?: number };
  readonly outcome?: Outcome;
  readonly endedAt?: number;
  /** The version of that commit: what was said before and after it is told by the log's order, never by two hosts' clocks. */
  readonly endedIn?: number;
  readonly processes?: 'gone' | 'unknown';
  readonly runs: readonly Run[];
  readonly duplicates: readonly Duplicate[];
}

export interface Duplicate {
  readonly receipt: Receipt;
  readonly running: boolean;
  readonly foundAt: number;
  readonly discarded: boolean;
}

export interface Question {
  readonly id: string;
  readonly kind: QuestionKind;
  readonly n: number;
  readonly episode: number;
  readonly blocks: boolean;
  readonly options: readonly Answer[];
  readonly onExpiry: Answer;
  readonly raisedAt: number;
  readonly expiresAt: number;
  readonly says: string;
  readonly closed?: {
    readonly how: 'answered' | 'expired' | 'withdrawn';
    readonly answer?: Answer;
    readonly by?: string;
    readonly at: number;
    readonly version: number;
    readonly says?: string;
  };
}

export interface Decision {
  readonly n: number;
  readonly by: DecidedBy;
  readonly action: RecoveryAction;
  readonly notBefore: number;
  readonly decidedAt: number;
}

export interface View {
  readonly job: string;
  readonly version: number;
  readonly submittedAt: number;
  readonly updatedAt: number;
  readonly name: string;
  readonly principal: string;
  readonly project: string;
  readonly login: string;
  readonly planDigest: string;
  readonly idempotencyKey: string;
  /** Absent for an observed job, which has no policy either. */
  readonly spec?: Spec;
  readonly facts: {
    readonly kind: string;
    readonly landingBoundSeconds: number;
    readonly credentialLifeSeconds: number;
    readonly pollEverySeconds: number;
  };
  readonly attempts: readonly AttemptView[];
  /** Every one ever taken, in order. The last may not be acted upon yet: see `decision`. */
  readonly decisions: readonly Decision[];
  /** Decided and not yet planned, requeued or refused. */
  readonly decision?: Decision;
  readonly questions: readonly Question[];
  readonly cancel?: { readonly at: number; readonly principal: string; readonly reason: string };
  /** The greatest report of the program itself; a report until a listing saw its marker (protocols §8.1). */
  readonly reported?: { readonly epoch: number; readonly step: number; readonly path: string; readonly at: number };
  readonly ended?: { readonly outcome: Outcome; readonly because: Because; readonly at: number };
}

export const lastAttempt = (view: View): AttemptView | undefined => view.attempts.at(-1);
export const attemptOf = (view: View, n: number): AttemptView => {
  const attempt = view.attempts[n - 1];
  assert(attempt, `job ${view.job}: attempt ${n} is not in the record`);
  return attempt;
};
export const openQuestions = (view: View): readonly Question[] => view.questions.filter((question) => !question.closed);
export const blockingQuestion = (view: View): Question | undefined =>
  view.questions.find((question) => question.blocks && !question.closed);
export const isObserved = (view: View): boolean => view.spec === undefined;

/** Its last run is not known to be gone, or has followed others of which that says nothing (protocols §6.3). */
export const leavesDoubt = (attempt: AttemptView): boolean => attempt.processes === 'unknown' || attempt.run > 0;

/** Whether an object of this attempt may be alive or may still come to life. */
export const isOutstanding = (attempt: AttemptView): boolean => attempt.state !== 'ended';
/** Sent and unanswered, or answered ambiguously: it must be settled before anything may assume it absent. */
export const isUnsettled = (attempt: AttemptView): boolean =>
  attempt.state === 'uncertain' || (attempt.state === 'planned' && attempt.deferred === undefined);

/**
 * Folds commits onto a view, or from nothing. The log must be gap-free and begin at version 1: anything else is a failed
 * assertion. Undefined for an empty log.
 */
export const fold = (commits: readonly Commit[], from?: View): View | undefined => {
  let view = from;
  for (const raw of commits) {
    const commit = upcast(raw);
    assert(commit.version === (view?.version ?? 0) + 1, `job ${commit.job}: version ${commit.version} follows ${view?.version ?? 0}`);
    assert(view === undefined || view.job === commit.job, `version ${commit.version} of job ${commit.job} is no part of ${view?.job}`);
    assert(commit.events.length > 0, `job ${commit.job}: version ${commit.version} is empty`);
    for (const event of commit.events) {
      assert(view?.ended === undefined, `job ${commit.job}: '${event.type}' follows job_ended`);
      view = evolve(view, event, commit);
    }
    assert(view, `job ${commit.job}: version ${commit.version} says nothing`);
    view = { ...view, version: commit.version, updatedAt: commit.at };
  }
  return view;
};

export const JOB_STATES = [
  'pending',
  'queued',
  'running',
  'recovering',
  'awaiting',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** The job's state, the first that applies (contract §2). */
export const jobState = (view: View): JobState => {
  if (view.ended) return view.ended.outcome.state === 'unknown' ? 'failed' : view.ended.outcome.state;
  if (view.cancel) return 'cancelling';
  if (blockingQuestion(view)) return 'awaiting';
  if (view.decision) return 'recovering';
  const attempt = lastAttempt(view);
  if (!attempt || attempt.state === 'planned' || attempt.state === 'uncertain' || attempt.state === 'gated') return 'pending';
  return attempt.state === 'queued' ? 'queued' : 'running';
};
