/**
 * Why: one sentence in every state, the first thing an operator reads: what is going on, by which rule or answer, from where.
 */
import type { Outcome } from './cause.ts';
import type { Because, DecidedBy, Point } from './event.ts';
import { attemptOfEpoch } from './identity.ts';
import { usesOf } from './limit.ts';
import { type AttemptView, blockingQuestion, type Decision, jobState, lastAttempt, type View } from './view.ts';

const nodesOf = (outcome: Outcome): string => {
  const failed = outcome.detail['failedNodes'];
  return Array.isArray(failed) && failed.length > 0 ? ` (${failed.join(', ')})` : '';
};

/** A cause in words: `preempted`, `out of memory (step)`, `exited with 3`. */
export const causeWords = (outcome: Outcome): string => {
  const { cause, detail } = outcome;
  if (cause === 'exited') return `exited with ${detail['code'] ?? 'an unknown code'}`;
  if (cause === 'signalled') return `killed by signal ${detail['signal'] ?? '?'}`;
  const scope = cause === 'out_of_memory' && typeof detail['scope'] === 'string' ? ` (${detail['scope']})` : '';
  return `${cause.replaceAll('_', ' ')}${scope}${nodesOf(outcome)}`;
};

/** What decided: `rule 0 (2 of 3 uses)`, `the answer 'relaunch' to q1`. */
export const deciderWords = (view: View, by: DecidedBy): string => {
  if (by.kind === 'unmatched') return '`unmatched: relaunch_once`';
  if (by.kind === 'answer') return `the answer '${by.answer}' to ${by.question}`;
  const action = view.spec?.policy.rules[by.rule]?.do;
  const max = action && 'relaunch' in action ? action.relaunch.max : action && 'requeue' in action ? action.requeue.max : undefined;
  return `rule ${by.rule}${max === undefined ? '' : ` (${usesOf(view, by.rule)} of ${max} uses)`}`;
};

export const resumeWords = (resume: Point): string =>
  resume.step < 0 ? 'from the beginning' : `from step ${resume.step}, published by attempt ${attemptOfEpoch(resume.epoch).n}`;

const becauseWords = (view: View, because: Because): string => {
  switch (because.kind) {
    case 'completed':
      return 'its program completed';
    case 'rule':
      return `rule ${because.rule} says stop`;
    case 'unmatched':
      return 'no rule matched';
    case 'limit':
      return because.limit;
    case 'answer':
      return `${because.expired ? `nobody answered ${because.question}, so its default` : `${because.question} was answered`} '${because.answer}'${because.expired ? ' applied' : ''}`;
    case 'cancel':
      return `${view.cancel?.principal ?? 'someone'} asked for it`;
    case 'deadline':
      return 'its deadline passed';
    case 'wall_clock':
      return 'its wall clock limit passed';
    case 'observed':
      return 'it was only watched';
  }
};

/** How the present attempt came about; '' for the first one. */
const restartWords = (view: View, attempt: AttemptView): string => {
  const decision = view.decisions.findLast((d) => d.n === attempt.n - 1 && d.action.kind === 'relaunch');
  const before = view.attempts[attempt.n - 2];
  if (!decision || !before?.outcome) return '';
  return `attempt ${attempt.n} follows ${before.n}, which was ${causeWords(before.outcome)}: ${deciderWords(view, decision.by)} relaunched it ${resumeWords(attempt.resume)}`;
};

const liveWords = (view: View, attempt: AttemptView): string => {
  const restart = restartWords(view, attempt);
  const state: Partial<Record<AttemptView['state'], string>> = {
    planned: attempt.deferred ? `waits to be sent again: ${attempt.deferred.reason}` : 'is being sent',
    uncertain: 'was sent and its answer was lost: looking whether it landed',
    gated: attempt.releasedAt === undefined ? 'is on the cluster behind its gate' : 'was released',
    queued: `waits in the queue${attempt.pending ? `: ${attempt.pending.reason}` : ''}`,
    starting: 'is starting',
    running: `is running${attempt.run > 0 ? `, run ${attempt.run}` : ''}`,
    suspended: 'is suspended by its scheduler',
    ending: 'is ending',
  };
  return `attempt ${attempt.n} ${state[attempt.state] ?? attempt.state}${restart ? `; ${restart}` : ''}`;
};

const decisionWords = (view: View, decision: Decision, attempt: AttemptView): string => {
  const cause = attempt.outcome ? causeWords(attempt.outcome) : 'over';
  const does = decision.action.kind === 'relaunch' ? `relaunches it from ${decision.action.from}` : 'puts it back in the queue';
  return `attempt ${attempt.n} was ${cause}: ${deciderWords(view, decision.by)} ${does}, not before ${new Date(decision.notBefore).toISOString()}`;
};

export const why = (view: View): string => `${capital(words(view))}.`;

const words = (view: View): string => {
  const attempt = lastAttempt(view);
  if (view.ended) return endWords(view, attempt);
  if (view.cancel)
    return `${view.cancel.principal} asked to cancel; ${attempt && attempt.state !== 'ended' ? liveWords(view, attempt) : 'clearing up'}`;
  const question = blockingQuestion(view);
  if (question)
    return `${question.says}; waiting for an answer to ${question.id} (${question.options.join(', ')}) until ${new Date(question.expiresAt).toISOString()}, then ${question.onExpiry}`;
  if (!attempt) return 'accepted; the first attempt is not planned yet';
  if (view.decision) return decisionWords(view, view.decision, attempt);
  return attempt.outcome ? `attempt ${attempt.n} was ${causeWords(attempt.outcome)}; deciding what follows` : liveWords(view, attempt);
};

const endWords = (view: View, attempt: AttemptView | undefined): string => {
  const { outcome, because } = view.ended!;
  const state = jobState(view);
  const cause = state === 'succeeded' ? '' : ` (${causeWords(outcome)})`;
  const restart = attempt ? restartWords(view, attempt) : '';
  return `${state}${cause}: ${becauseWords(view, because)}${restart ? `; ${restart}` : ''}`;
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The one sentence that a user of a restarted job needs: why, by which rule, from where. '' when nothing was restarted. */
export const restartSentence = (view: View): string => {
  const attempt = lastAttempt(view);
  const restart = attempt ? restartWords(view, attempt) : '';
  return restart ? `${capital(restart)}.` : '';
};
