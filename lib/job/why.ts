/**
 * Why: one sentence in every state, the first thing an operator reads: what is going on, by which rule or answer, from where.
 */
import type { Cause, Outcome } from './cause.ts';
import type { Because, DecidedBy, Point } from './event.ts';
import { attemptOfEpoch } from './identity.ts';
import { usesOf } from './limit.ts';
import { standingAnswer } from './question.ts';
import { type AttemptView, blockingQuestion, type Decision, jobState, lastAttempt, leavesDoubt, type View } from './view.ts';

const nodesOf = (outcome: Outcome): string => {
  const failed = outcome.detail['failedNodes'];
  return Array.isArray(failed) && failed.length > 0 ? ` (${failed.join(', ')})` : '';
};

/** A cause in words: `preempted`, `out of memory (step)`, `launch failed (workdir)`, `exited with 3`. */
export const causeWords = (outcome: Outcome): string => {
  const { cause, detail } = outcome;
  if (cause === 'exited') return `exited with ${detail['code'] ?? 'an unknown code'}`;
  if (cause === 'signalled') return `killed by signal ${detail['signal'] ?? '?'}`;
  return `${cause.replaceAll('_', ' ')}${scopeOf(outcome)}${nodesOf(outcome)}`;
};

/** What ran out, or what a launch failed at. */
const scopeOf = ({ cause, detail }: Outcome): string => {
  const scope = cause === 'out_of_memory' ? detail['scope'] : cause === 'launch_failed' ? detail['stage'] : undefined;
  return typeof scope === 'string' ? ` (${scope})` : '';
};

/** The same as what an attempt did or suffered: `was preempted`, `ran out of memory (step)`. */
export const fateWords = (outcome: Outcome): string => {
  if (outcome.cause === 'signalled') return `was ${causeWords(outcome)}`;
  const fate = FATES[outcome.cause];
  return fate === undefined ? causeWords(outcome) : `${fate}${scopeOf(outcome)}${nodesOf(outcome)}`;
};

/** Causes that are no participle by themselves; of those not here their own words are the fate. */
const FATES: Partial<Record<Cause, string>> = {
  preempted: 'was preempted',
  node_lost: 'lost a node',
  evicted: 'was evicted',
  launch_failed: 'failed to launch',
  boot_failed: 'got a node that did not boot',
  scheduler_failed: 'was lost by its scheduler',
  revoked: 'was revoked',
  never_landed: 'never reached its scheduler',
  no_capacity: 'found no room in time',
  gate_expired: 'was not released in time',
  time_limit: 'reached its time limit',
  deadline: 'met the deadline',
  out_of_memory: 'ran out of memory',
  budget: 'ran out of budget',
  rejected: 'was rejected',
  unsatisfiable: 'can never run as asked',
  dependency_failed: 'waited for what can never be',
  cancelled_by_dispatch: 'was cancelled by dispatch',
  cancelled_by_user: 'was cancelled by its user',
  cancelled_by_admin: 'was cancelled by an administrator',
  cancelled_by_unknown: 'was cancelled by somebody unknown',
  contradictory: 'ended and its sources disagree',
  unrecognised: 'ended with a word nobody knows',
};

/** What decided: `rule 0 (2 of 3 uses)`, `the answer 'relaunch' to q1`. `decision`: of several, whose uses are told as they were then. */
export const deciderWords = (view: View, by: DecidedBy, decision?: Decision): string => {
  if (by.kind === 'unmatched') return '`unmatched: relaunch_once`';
  if (by.kind === 'answer') return `the answer '${by.answer}' to ${by.question}`;
  const action = view.spec?.policy.rules[by.rule]?.do;
  const max = action && 'relaunch' in action ? action.relaunch.max : action && 'requeue' in action ? action.requeue.max : undefined;
  return `rule ${by.rule}${max === undefined ? '' : ` (${usesOf(decision ? asOf(view, decision) : view, by.rule)} of ${max} uses)`}`;
};

/** What had been decided up to that decision. */
const asOf = (view: View, decision: Decision): View => ({
  ...view,
  attempts: view.attempts.slice(0, decision.n),
  decisions: view.decisions.slice(0, view.decisions.indexOf(decision) + 1),
});

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
  return `attempt ${attempt.n} follows ${before.n}, which ${fateWords(before.outcome)}: ${deciderWords(view, decision.by, decision)} relaunched it ${resumeWords(attempt.resume)}`;
};

const liveWords = (view: View, attempt: AttemptView): string => {
  const restart = restartWords(view, attempt);
  const state: Partial<Record<AttemptView['state'], string>> = {
    planned: attempt.deferred ? `waits to be sent again: ${attempt.deferred.reason}` : 'is being sent',
    uncertain: 'was sent and its answer was lost: looking whether it landed',
    gated: attempt.releasedAt === undefined ? gatedWords(view, attempt) : 'was released',
    queued: `waits in the queue${attempt.pending ? `: ${attempt.pending.reason}` : ''}`,
    starting: 'is starting',
    running: `is running${attempt.run > 0 ? `, run ${attempt.run}` : ''}`,
    suspended: 'is suspended by its scheduler',
    ending: 'is ending',
  };
  return `attempt ${attempt.n} ${state[attempt.state] ?? attempt.state}${restart ? `; ${restart}` : ''}`;
};

/** A release waits while an earlier run may still be alive (protocols §6.3): minutes that somebody will ask about. */
const gatedWords = (view: View, attempt: AttemptView): string => {
  const released = view.attempts.findLast((a) => a.n < attempt.n && a.releasedAt !== undefined)?.n ?? 1;
  // Those before the last one released were fenced by its release.
  const doubtful = view.attempts.findLast((a) => a.n < attempt.n && a.n >= released && leavesDoubt(a));
  if (!doubtful) return 'is on the cluster behind its gate';
  return `waits behind its gate until what may be left of attempt ${doubtful.n} is fenced off`;
};

const decisionWords = (view: View, decision: Decision, attempt: AttemptView): string => {
  const fate = attempt.outcome ? fateWords(attempt.outcome) : 'is over';
  const does = decision.action.kind === 'relaunch' ? `relaunches it from ${decision.action.from}` : 'puts it back in the queue';
  return `attempt ${attempt.n} ${fate}: ${deciderWords(view, decision.by)} ${does}, ${whenWords(decision)}`;
};

/** An answer acts as soon as it can; a rule's decision waits for its backoff. */
const whenWords = ({ notBefore }: Decision): string => (notBefore === 0 ? 'at once' : `not before ${new Date(notBefore).toISOString()}`);

export const why = (view: View): string => `${capital(words(view))}.`;

const words = (view: View): string => {
  const attempt = lastAttempt(view);
  if (view.ended) return endWords(view, attempt);
  if (view.cancel) {
    // A name is somebody's own: it does not begin the sentence, where it would be changed.
    return `cancelling, as ${view.cancel.principal} asked; ${attempt && attempt.state !== 'ended' ? liveWords(view, attempt) : 'clearing up'}`;
  }
  const question = blockingQuestion(view);
  if (question)
    return `${question.says}; waiting for an answer to ${question.id} (${question.options.join(', ')}) until ${new Date(question.expiresAt).toISOString()}, then ${question.onExpiry}`;
  if (!attempt) return 'accepted; the first attempt is not planned yet';
  if (view.decision) return decisionWords(view, view.decision, attempt);
  return attempt.outcome ? `attempt ${attempt.n} ${fateWords(attempt.outcome)}; ${nextWords(view, attempt)}` : liveWords(view, attempt);
};

/** What an answer means for it, for as long as that takes: an end is looked at once more, and `wait` is days. */
const nextWords = (view: View, attempt: AttemptView): string => {
  const standing = standingAnswer(view, attempt);
  if (standing?.kind === 'end') return `${becauseWords(view, standing.because)}: the job ends`;
  if (standing?.kind === 'wait') return `the answer was 'wait': asked again at ${new Date(standing.until).toISOString()}`;
  return 'deciding what follows';
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
