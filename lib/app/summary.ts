/**
 * Summary: what the head keeps of a view for lists and polls (protocols §1.6), and the compact line a poll compares.
 * Everything here is derived, so a head that lags costs a look and never a decision.
 */
import { seenOf, type Target } from '../cluster/port.ts';
import { type AttemptView, isObserved, jobState, lastAttempt, openQuestions, type View } from '../job/view.ts';
import { type ActiveRow, type Summary, watchlineBytes } from '../record/port.ts';

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const loginKey = (cluster: string, login: string): string => `${cluster}#${login}`;

export const summaryOf = (view: View): Summary => {
  const attempt = lastAttempt(view);
  const watched = attempt && isWatched(view, attempt);
  const active = watched ? loginKey(attempt.cluster, attempt.login) : '';
  return {
    active,
    state: jobState(view),
    watchline: watched ? watchlineOf(view, attempt, watchlineBytes(active)) : '',
    name: view.name,
    project: view.project,
    ended: view.ended !== undefined,
    cluster: attempt?.cluster ?? view.spec?.cluster ?? '',
    login: view.login,
    asked: openQuestions(view).some((question) => !question.blocks),
    cause: (view.ended?.outcome ?? attempt?.outcome)?.cause ?? '',
    updatedAt: view.updatedAt,
  };
};

/** A poll must look: the object may change, or an end that is provisional or to be requeued may turn out otherwise. */
const isWatched = (view: View, attempt: AttemptView): boolean => {
  if (view.ended || !attempt.receipt) return false;
  if (attempt.state !== 'ended') return true;
  return attempt.outcome?.class === 'evidence' || attempt.requeueIntendedAt !== undefined || view.decision?.action.kind === 'requeue';
};

type Line = readonly [
  n: number,
  id: string,
  submittedAt: number,
  flags: number,
  run: number,
  seen: string,
  limit: number,
  stalled: number,
  /** The checkpoint root, or an adopted object's own name; 0: none, 1: it does not fit. */
  text: string | 0 | 1,
];
const RELEASED = 1;
const REQUEUEABLE = 2;
const ADOPTED = 4;

/** What a poll reads per job. A root that does not fit is left out: the poll reads the log of such a job instead. */
const watchlineOf = (view: View, attempt: AttemptView, mostBytes: number): string => {
  const text = isObserved(view) ? attempt.identity : view.spec?.checkpoint?.root;
  const line = JSON.stringify(lineOf(view, attempt, text ?? 0));
  return bytesOf(line) <= mostBytes ? line : JSON.stringify(lineOf(view, attempt, 1));
};

const lineOf = (view: View, attempt: AttemptView, text: Line[8]): Line => {
  const released = attempt.releasedAt !== undefined || attempt.releaseIntendedAt !== undefined;
  return [
    attempt.n,
    attempt.receipt?.schedulerId ?? '',
    attempt.receipt?.submittedAt ?? 0,
    (released ? RELEASED : 0) | (attempt.requeueable ? REQUEUEABLE : 0) | (isObserved(view) ? ADOPTED : 0),
    attempt.run,
    seenOfAttempt(attempt),
    attempt.resources.timeLimitSeconds,
    view.spec?.policy.limits.stalledAfterSeconds ?? 0,
    text,
  ];
};

/**
 * What was recorded last of this attempt, in the form that an observation is compared by. An end of class evidence is provisional
 * (contract §3): it equals no observation, so a look that knows better says so.
 */
export const seenOfAttempt = (attempt: AttemptView): string =>
  attempt.state === 'ended' || attempt.state === 'planned' || attempt.state === 'uncertain'
    ? `${seenOf('ended', attempt.run)}${attempt.outcome?.class === 'evidence' ? 'provisional' : ''}`
    : seenOf(attempt.state, attempt.run, attempt.pending?.group);

export interface Watched {
  readonly target: Target;
  readonly stalledAfterSeconds: number;
  /** The root (of an adopted job: the identity) did not fit: take it from the log. */
  readonly rootInLog: boolean;
  /** It is the identity of an adopted job that did not fit: without it the object is not recognised. */
  readonly nameInLog: boolean;
}

export const watchedOf = (row: ActiveRow, cluster: string, login: string, identity: (n: number) => string): Watched => {
  const [n, schedulerId, submittedAt, flags, run, seen, timeLimitSeconds, stalledAfterSeconds, text] = JSON.parse(row.watchline) as Line;
  const adopted = (flags & ADOPTED) !== 0;
  // The name that somebody else gave an adopted object stands for its identity (contract §7).
  const name = adopted && typeof text === 'string' ? text : identity(n);
  return {
    stalledAfterSeconds,
    rootInLog: text === 1,
    nameInLog: adopted && text === 1,
    target: {
      job: row.job,
      n,
      receipt: { cluster, login, schedulerId, identity: name, submittedAt },
      released: (flags & RELEASED) !== 0,
      requeueable: (flags & REQUEUEABLE) !== 0,
      run,
      seen,
      timeLimitSeconds,
      ...(!adopted && typeof text === 'string' ? { checkpointRoot: text } : {}),
    },
  };
};
