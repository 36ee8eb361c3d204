/**
 * Recovery: what to do about an ended attempt, decided from the view by the policy (contract §5, §10; protocols §6.1).
 * Guards promise 3: the same view gives the same verdict, and every verdict names the rule, limit, or answer behind it.
 */
import { never } from './assertion.ts';
import type { Outcome } from './cause.ts';
import type { Because, DecidedBy, RecoveryAction, Resources } from './event.ts';
import { exhausted, matchingRule, recordFull, ruleUsedUp } from './limit.ts';
import type { Backoff, Rule } from './policy.ts';
import { type Draft, draft, standingAnswer } from './question.ts';
import { seeded } from './seed.ts';
import { TIMING } from './timing.ts';
import type { AttemptView, View } from './view.ts';
import { fateWords } from './why.ts';

export type Verdict =
  | { readonly kind: 'recover'; readonly by: DecidedBy; readonly action: RecoveryAction; readonly delaySeconds: number }
  | { readonly kind: 'ask'; readonly question: Draft }
  | { readonly kind: 'end'; readonly because: Because }
  /** A person said `wait`: nothing before that moment, then what `afterwards` says (the next episode). */
  | { readonly kind: 'wait'; readonly until: number; readonly afterwards: Verdict };

const DEFAULT_BACKOFF: Backoff = {
  initialSeconds: TIMING.backoffSeconds,
  factor: TIMING.backoffFactor,
  maxSeconds: TIMING.backoffMostSeconds,
};
const NEVER_LANDED_IN_A_ROW = 3;

/** The verdict on the last attempt, which has ended with this outcome and nothing was decided on it. */
export const decide = (view: View, attempt: AttemptView, outcome: Outcome): Verdict => {
  if (outcome.class === 'success') return { kind: 'end', because: { kind: 'completed' } };
  const standing = standingAnswer(view, attempt);
  if (standing?.kind === 'end') return standing;
  const judged = judge(view, attempt, outcome);
  return standing ? { ...standing, afterwards: judged } : judged;
};

const judge = (view: View, attempt: AttemptView, outcome: Outcome): Verdict => {
  if (attempt.cancel?.why === 'limit') return limitReached(view, attempt, outcome, attempt.cancel.said ?? 'a rule was used up');
  if (lostInARow(view) >= NEVER_LANDED_IN_A_ROW)
    return unknownOrStop(view, attempt, `${NEVER_LANDED_IN_A_ROW} submissions in a row never reached the scheduler`);
  const rules = view.spec?.policy.rules ?? [];
  const index = matchingRule(rules, outcome);
  const rule = rules[index];
  return rule ? byRule(view, attempt, outcome, rule, index) : unmatched(view, attempt, outcome);
};

const byRule = (view: View, attempt: AttemptView, outcome: Outcome, rule: Rule, index: number): Verdict => {
  const action = rule.do;
  if ('stop' in action) {
    // Class evidence ends a job only by an answer or by `unmatched: stop` (contract §3).
    return outcome.class === 'evidence'
      ? unknownOrStop(view, attempt, `it ended as ${outcome.cause}`)
      : { kind: 'end', because: { kind: 'rule', rule: index } };
  }
  const full = recordFull(view);
  if (full) return limitReached(view, attempt, outcome, full);
  if ('escalate' in action) {
    const { options, onExpiry, expiresAfterSeconds } = action.escalate;
    return {
      kind: 'ask',
      question: draft(view, 'rule_asks', attempt.n, `attempt ${attempt.n} ${fateWords(outcome)}: rule ${index} asks`, {
        options,
        onExpiry,
        expiresAfterSeconds,
      }),
    };
  }
  if ('requeue' in action) {
    const used = ruleUsedUp(view, index, action.requeue.max, outcome.ran) ?? sameMemoryRun(attempt, outcome);
    if (used) return limitReached(view, attempt, outcome, used);
    return { kind: 'recover', by: { kind: 'rule', rule: index }, action: { kind: 'requeue', by: action.requeue.by }, delaySeconds: 0 };
  }
  if ('relaunch' in action) {
    const used =
      exhausted(view, attempt) ??
      ruleUsedUp(view, index, action.relaunch.max, outcome.ran) ??
      noCheckpoint(view, attempt, action.relaunch.from);
    if (used) return limitReached(view, attempt, outcome, used);
    const prior = view.decisions.filter((d) => d.by.kind === 'rule' && d.by.rule === index).length;
    return relaunch(
      { kind: 'rule', rule: index },
      {
        from: action.relaunch.from,
        resources: scaled(attempt.resources, action.relaunch.scale),
        excludeNodes: excluded(attempt, outcome, action.relaunch.excludeNodes?.max),
        counts: outcome.ran !== 'no',
      },
      backoffSeconds(view, attempt, action.relaunch.backoff, prior),
    );
  }
  return never(action);
};

const unmatched = (view: View, attempt: AttemptView, outcome: Outcome): Verdict => {
  // Class people is never relaunched unless a rule names it: it ends the job cancelled, whatever `unmatched` says (contract §5).
  if (outcome.class === 'people') return { kind: 'end', because: { kind: 'unmatched' } };
  const choice = view.spec?.policy.unmatched ?? 'stop';
  if (choice === 'stop') return { kind: 'end', because: { kind: 'unmatched' } };
  if (choice === 'escalate') {
    const kind = outcome.class === 'evidence' ? 'outcome_unknown' : 'unmatched_outcome';
    return { kind: 'ask', question: draft(view, kind, attempt.n, `attempt ${attempt.n} ${fateWords(outcome)} and no rule matches`) };
  }
  const used = view.decisions.some((d) => d.by.kind === 'unmatched')
    ? 'relaunch_once was used'
    : (recordFull(view) ?? exhausted(view, attempt) ?? noCheckpoint(view, attempt, 'checkpoint'));
  if (used) return limitReached(view, attempt, outcome, used);
  return relaunch(
    { kind: 'unmatched' },
    { from: 'checkpoint', resources: attempt.resources, excludeNodes: attempt.excludeNodes, counts: true },
    backoffSeconds(view, attempt, DEFAULT_BACKOFF, 0),
  );
};

const limitReached = (view: View, attempt: AttemptView, outcome: Outcome, reached: string): Verdict => {
  // As long as `because` of job_ended may be: a scheduler's own words can be longer.
  const limit = reached.slice(0, 200);
  if (view.spec?.policy.unmatched === 'escalate')
    return { kind: 'ask', question: draft(view, 'limit_reached', attempt.n, `attempt ${attempt.n} ${fateWords(outcome)}, but ${limit}`) };
  if (outcome.class === 'evidence' && view.spec?.policy.unmatched !== 'stop')
    return unknownOrStop(view, attempt, `it ended as ${outcome.cause} and ${limit}`);
  return { kind: 'end', because: { kind: 'limit', limit } };
};

const unknownOrStop = (view: View, attempt: AttemptView, says: string): Verdict =>
  view.spec?.policy.unmatched === 'stop'
    ? { kind: 'end', because: { kind: 'unmatched' } }
    : { kind: 'ask', question: draft(view, 'outcome_unknown', attempt.n, `attempt ${attempt.n}: ${says}`) };

type Changes = Omit<Extract<RecoveryAction, { kind: 'relaunch' }>, 'kind' | 'excludeNodes'> & { readonly excludeNodes: readonly string[] };

const relaunch = (by: DecidedBy, changes: Changes, delaySeconds: number): Verdict => ({
  kind: 'recover',
  by,
  action: { kind: 'relaunch', ...changes, excludeNodes: [...changes.excludeNodes] },
  delaySeconds,
});

/** `checkpoint.required`: no publication to resume from is a limit, not a start from scratch (contract §4). */
const noCheckpoint = (view: View, attempt: AttemptView, from: 'checkpoint' | 'scratch'): string | undefined => {
  if (from === 'scratch' || !view.spec?.checkpoint?.required) return undefined;
  // The last attempt's point holds what its branch had before it; an earlier branch does not count (`from: scratch`).
  const published = attempt.resume.step >= 0 || attempt.runs.some((run) => run.latest !== undefined);
  return published ? undefined : 'a checkpoint is required and none was published';
};

/** A requeue changes no memory, so a second kill in the same object is the second at the same memory (C033). */
const sameMemoryRun = (attempt: AttemptView, outcome: Outcome): string | undefined =>
  outcome.cause === 'out_of_memory' && attempt.lastRunCause === 'out_of_memory' ? 'out of memory twice with the same memory' : undefined;

const scaled = (
  from: Resources,
  scale:
    | { memoryPerNode?: { by: number; upToMi: number } | undefined; timeLimit?: { by: number; upToSeconds: number } | undefined }
    | undefined,
): Resources => {
  const memory = from.memoryPerNodeMi;
  const grown =
    scale?.memoryPerNode && memory !== undefined
      ? Math.max(memory, Math.min(Math.floor(memory * scale.memoryPerNode.by), scale.memoryPerNode.upToMi))
      : memory;
  const limit = scale?.timeLimit
    ? Math.max(from.timeLimitSeconds, Math.min(Math.floor(from.timeLimitSeconds * scale.timeLimit.by), scale.timeLimit.upToSeconds))
    : from.timeLimitSeconds;
  return { timeLimitSeconds: limit, ...(grown === undefined ? {} : { memoryPerNodeMi: grown }) };
};

/** Only nodes that the evidence itself names as failed; the oldest are dropped beyond `max` (C002: a node list of the job names none). */
const excluded = (attempt: AttemptView, outcome: Outcome, max: number | undefined): readonly string[] => {
  if (max === undefined) return attempt.excludeNodes;
  const failed = outcome.detail['failedNodes'];
  const fresh = Array.isArray(failed) ? failed : [];
  return [...attempt.excludeNodes.filter((node) => !fresh.includes(node)), ...new Set(fresh)].slice(-max);
};

/** Full jitter, seeded by job and attempt so that the same view decides the same delay. */
const backoffSeconds = (view: View, attempt: AttemptView, backoff: Backoff, prior: number): number => {
  const ceiling = Math.min(backoff.initialSeconds * backoff.factor ** prior, backoff.maxSeconds);
  return Math.ceil(seeded(`${view.job}:${attempt.n}`) * ceiling);
};

const lostInARow = (view: View): number => {
  const landed = view.attempts.toReversed().findIndex((a) => a.outcome?.cause !== 'never_landed');
  return landed === -1 ? view.attempts.length : landed;
};

/** What an answer (or an expiry) to a blocking question commits beside itself. */
export const relaunchByAnswer = (attempt: AttemptView, question: string, answer: 'relaunch' | 'relaunch_from_scratch') => ({
  n: attempt.n,
  by: { kind: 'answer' as const, question, answer },
  action: {
    kind: 'relaunch' as const,
    from: answer === 'relaunch' ? ('checkpoint' as const) : ('scratch' as const),
    resources: attempt.resources,
    excludeNodes: [...attempt.excludeNodes],
    counts: true,
  },
});
