/**
 * Summary: what the head keeps of a view for lists and polls (protocols §1.6), and the compact line a poll compares.
 * Everything here is derived, so a head that lags costs a look and never a decision.
 */
import { seenOf, type Target } from '../cluster/port.ts';
import { type AttemptView, jobState, lastAttempt, type View } from '../job/view.ts';
import type { ActiveRow, Summary } from '../record/port.ts';

/** Longer roots do not fit a row of the index; the poll reads the log of such a job instead. */
const ROOT_BYTES = 72;

export const loginKey = (cluster: string, login: string): string => `${cluster}#${login}`;

export const summaryOf = (view: View): Summary => {
  const attempt = lastAttempt(view);
  const watched = attempt && isWatched(view, attempt);
  return {
    active: watched ? loginKey(attempt.cluster, attempt.login) : '',
    state: jobState(view),
    watchline: watched ? watchlineOf(view, attempt) : '',
    name: view.name,
    project: view.project,
    ended: view.ended !== undefined,
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
  root: string | 0 | 1,
];

const watchlineOf = (view: View, attempt: AttemptView): string => {
  const root = view.spec?.checkpoint?.root;
  const line: Line = [
    attempt.n,
    attempt.receipt?.schedulerId ?? '',
    attempt.receipt?.submittedAt ?? 0,
    (attempt.releasedAt === undefined && attempt.releaseIntendedAt === undefined ? 0 : 1) + (attempt.requeueable ? 2 : 0),
    attempt.run,
    seenOfAttempt(attempt),
    attempt.resources.timeLimitSeconds,
    view.spec?.policy.limits.stalledAfterSeconds ?? 0,
    root === undefined ? 0 : root.length <= ROOT_BYTES ? root : 1,
  ];
  return JSON.stringify(line);
};

/** What was recorded last of this attempt, in the form that an observation is compared by. */
export const seenOfAttempt = (attempt: AttemptView): string =>
  attempt.state === 'ended' || attempt.state === 'planned' || attempt.state === 'uncertain'
    ? seenOf('ended', attempt.run)
    : seenOf(attempt.state, attempt.run, attempt.pending?.group);

export interface Watched {
  readonly target: Target;
  readonly stalledAfterSeconds: number;
  /** The root did not fit: take it from the log. */
  readonly rootInLog: boolean;
}

export const watchedOf = (row: ActiveRow, cluster: string, login: string, identity: (n: number) => string): Watched => {
  const [n, schedulerId, submittedAt, flags, run, seen, timeLimitSeconds, stalledAfterSeconds, root] = JSON.parse(row.watchline) as Line;
  return {
    stalledAfterSeconds,
    rootInLog: root === 1,
    target: {
      job: row.job,
      n,
      receipt: { cluster, login, schedulerId, identity: identity(n), submittedAt },
      released: (flags & 1) !== 0,
      requeueable: (flags & 2) !== 0,
      run,
      seen,
      timeLimitSeconds,
      ...(typeof root === 'string' ? { checkpointRoot: root } : {}),
    },
  };
};
