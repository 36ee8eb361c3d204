/**
 * Status: a job as readers see it (contract §11). Derived from the view, and from when its cluster last answered; instants are
 * RFC 3339, but for the outcome and the receipt, which are the record's own words.
 */
import type { Outcome } from '../job/cause.ts';
import type { Receipt } from '../job/event.ts';
import { attemptOfEpoch } from '../job/identity.ts';
import { byResolveOrder } from '../job/point.ts';
import { TIMING } from '../job/timing.ts';
import { type AttemptView, blockingQuestion, jobState, lastAttempt, type View } from '../job/view.ts';
import { causeWords, deciderWords, why } from '../job/why.ts';

export interface Status {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly project: string;
  readonly cluster: string;
  readonly state: string;
  readonly version: number;
  readonly attempt?: {
    readonly n: number;
    readonly run: number;
    readonly state: string;
    readonly receipt?: Receipt;
    /** When the cluster last told how it is. */
    readonly observedAt?: string;
    /** The cluster has not answered for longer than a few polls: the state is the last one known. */
    readonly stale?: boolean;
  };
  readonly outcome?: Outcome;
  readonly why: string;
  readonly resumedFrom?: { readonly attempt: number; readonly trainingStep: number; readonly path: string };
  readonly attempts: readonly { readonly n: number; readonly outcome?: string; readonly decision?: string }[];
  readonly question?: {
    readonly id: string;
    readonly kind: string;
    readonly options: readonly string[];
    readonly expiresAt: string;
    readonly says: string;
  };
  /** The greatest publication that is known: `listed` where a complete listing saw it, `reported` by the program alone. */
  readonly checkpoint?: {
    readonly attempt: number;
    readonly trainingStep: number;
    readonly path: string;
    readonly source: 'listed' | 'reported';
  };
}

/** `answeredAt`: when the last complete look at the cluster began (the poll's lease); 0: never. */
export interface Sighting {
  readonly answeredAt: number;
  readonly now: number;
}

const instant = (ms: number): string => new Date(ms).toISOString();

export const statusOf = (view: View, sighting?: Sighting): Status => {
  const attempt = lastAttempt(view);
  const question = blockingQuestion(view);
  const resume = attempt?.resume;
  const checkpoint = checkpointOf(view);
  return {
    id: view.job,
    name: view.name,
    owner: view.principal,
    project: view.project,
    cluster: view.spec?.cluster ?? attempt?.cluster ?? '',
    state: jobState(view),
    version: view.version,
    ...(attempt ? { attempt: attemptStatus(view, attempt, sighting) } : {}),
    ...(view.ended ? { outcome: view.ended.outcome } : {}),
    why: why(view),
    ...(resume && resume.step >= 0
      ? { resumedFrom: { attempt: attemptOfEpoch(resume.epoch).n, trainingStep: resume.step, path: resume.path } }
      : {}),
    attempts: view.attempts.map((a) => {
      const decision = view.decisions.findLast((d) => d.n === a.n);
      return {
        n: a.n,
        ...(a.outcome ? { outcome: causeWords(a.outcome) } : {}),
        ...(decision ? { decision: `${deciderWords(view, decision.by, decision)}: ${decision.action.kind}` } : {}),
      };
    }),
    ...(question
      ? {
          question: {
            id: question.id,
            kind: question.kind,
            options: question.options,
            expiresAt: instant(question.expiresAt),
            says: question.says,
          },
        }
      : {}),
    ...(checkpoint ? { checkpoint } : {}),
  };
};

/** Something on the cluster is looked at by every poll; what was never sent, or has ended, grows no older. */
const attemptStatus = (view: View, attempt: AttemptView, sighting: Sighting | undefined): NonNullable<Status['attempt']> => {
  const { n, run, state, receipt } = attempt;
  const status = { n, run, state, ...(receipt ? { receipt } : {}) };
  if (state === 'ended' && attempt.endedAt !== undefined) return { ...status, observedAt: instant(attempt.endedAt) };
  if (!receipt || !sighting) return status;
  // What taught the last change is an observation, too, whatever polls have said since.
  const observedAt = Math.max(sighting.answeredAt, attempt.since);
  const patienceMs = Math.max(TIMING.vanishSeconds, TIMING.vanishPolls * view.facts.pollEverySeconds) * 1000;
  return { ...status, observedAt: instant(observedAt), stale: sighting.now - observedAt > patienceMs };
};

const checkpointOf = (view: View): Status['checkpoint'] => {
  const listed = view.attempts
    .flatMap((attempt) => [attempt.resume, ...attempt.runs.flatMap((run) => (run.latest ? [run.latest] : []))])
    .filter((point) => point.step >= 0)
    .sort(byResolveOrder)
    .at(-1);
  const reported = view.reported;
  const newest = reported && (!listed || byResolveOrder(reported, listed) > 0) ? reported : listed;
  if (!newest) return undefined;
  return {
    attempt: attemptOfEpoch(newest.epoch).n,
    trainingStep: newest.step,
    path: newest.path,
    source: newest === listed ? 'listed' : 'reported',
  };
};
