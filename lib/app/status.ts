/** Status: a job as readers see it (contract §11). Derived from the view alone; instants are RFC 3339. */
import type { Outcome } from '../job/cause.ts';
import type { Receipt } from '../job/event.ts';
import { attemptOfEpoch } from '../job/identity.ts';
import { blockingQuestion, jobState, lastAttempt, type View } from '../job/view.ts';
import { causeWords, deciderWords, why } from '../job/why.ts';

export interface Status {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly project: string;
  readonly cluster: string;
  readonly state: string;
  readonly version: number;
  readonly attempt?: { readonly n: number; readonly run: number; readonly state: string; readonly receipt?: Receipt };
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
}

export const statusOf = (view: View): Status => {
  const attempt = lastAttempt(view);
  const question = blockingQuestion(view);
  const resume = attempt?.resume;
  return {
    id: view.job,
    name: view.name,
    owner: view.principal,
    project: view.project,
    cluster: view.spec?.cluster ?? attempt?.cluster ?? '',
    state: jobState(view),
    version: view.version,
    ...(attempt
      ? { attempt: { n: attempt.n, run: attempt.run, state: attempt.state, ...(attempt.receipt ? { receipt: attempt.receipt } : {}) } }
      : {}),
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
            expiresAt: new Date(question.expiresAt).toISOString(),
            says: question.says,
          },
        }
      : {}),
  };
};
