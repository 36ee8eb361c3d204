/** Tell: one event as one line for a terminal. Says what happened in the words of the contract, and from where. */
import type { Event } from '../job/event.ts';
import type { View } from '../job/view.ts';
import { causeWords, deciderWords, resumeWords } from '../job/why.ts';
import { printable } from './printable.ts';

/** The line, or undefined for events that only matter to the record. `view` is the fold up to and including the event's commit. */
export const tell = (event: Event, view: View): string | undefined => {
  const line = lineOf(event, view);
  // Much of it is what a cluster or a person wrote.
  return line === undefined ? undefined : printable(line);
};

const lineOf = (event: Event, view: View): string | undefined => {
  switch (event.type) {
    case 'job_submitted':
      return `job ${view.job} accepted`;
    case 'attempt_planned':
      return `attempt ${event.n} planned as ${event.identity}, ${resumeWords(event.resume)}`;
    case 'attempt_bound':
      return `attempt ${event.n} is on the cluster as ${event.receipt.schedulerId}, gated`;
    case 'attempt_uncertain':
      return `attempt ${event.n} was sent and the answer was lost (${event.answer}): settling before anything else`;
    case 'attempt_submission_deferred':
      return `attempt ${event.n} was not sent: ${event.reason}`;
    case 'attempt_refused':
      return `attempt ${event.n} was refused: ${causeWords(event.outcome)}`;
    case 'attempt_never_landed':
      return `attempt ${event.n} never reached the scheduler: ${event.proof}`;
    case 'attempt_released':
      return `attempt ${event.n} released`;
    case 'attempt_observed':
      // That it left its gate is what `released` has just said; why it waits is worth a line.
      if (event.state === 'queued' && event.run === 0 && !event.pending && !event.finding) return undefined;
      return `attempt ${event.n} ${event.state}${event.run > 0 ? `, run ${event.run}` : ''}${event.pending ? `: ${event.pending.reason}` : ''}${event.finding ? ` (${event.finding.said})` : ''}`;
    case 'attempt_ended': {
      const best = event.runs.map((run) => run.latest).findLast((latest) => latest !== undefined);
      return `attempt ${event.n} ended: ${causeWords(event.outcome)}${best ? `; latest checkpoint: step ${best.step}` : ''}`;
    }
    case 'attempt_requeued':
      return `attempt ${event.n} is back in the queue as run ${event.run}`;
    case 'recovery_decided': {
      const does = event.action.kind === 'relaunch' ? `relaunch from ${event.action.from}` : 'requeue';
      const when = event.notBefore === 0 ? 'at once' : `not before ${new Date(event.notBefore).toISOString().slice(11, 19)}`;
      return `${deciderWords(view, event.by)} applies: ${does}, ${when}`;
    }
    case 'escalation_raised':
      return `question ${event.id}: ${event.says} (${event.options.join(', ')}; ${event.onExpiry} at ${new Date(event.expiresAt).toISOString()})`;
    case 'escalation_answered':
    case 'escalation_expired':
      return `question ${event.id} closed: ${event.answer}`;
    case 'cancel_intended':
      return `attempt ${event.n} is being cancelled: ${event.why}`;
    case 'cancel_requested':
      return `${event.principal} asked to cancel the job`;
    case 'duplicate_found':
      return `a second object of attempt ${event.n} was found: ${event.receipt.schedulerId}`;
    case 'duplicate_discarded':
      return `the second object ${event.schedulerId} is gone`;
    case 'job_ended':
      return `job ${event.outcome.state}`;
    default:
      return undefined;
  }
};
