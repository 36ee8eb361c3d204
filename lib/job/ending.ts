/**
 * Ending: the outcome of a job from its last attempt and what ended it (contract §3). The attempt's own outcome stays what it was.
 */
import { type Outcome, outcomeOf } from './cause.ts';
import type { Because } from './event.ts';
import { lastAttempt, type View } from './view.ts';

export const jobOutcome = (view: View, because: Because, now: number): Outcome => {
  const last = lastAttempt(view)?.outcome;
  const bare = { observedAt: now, ran: last?.ran ?? ('no' as const), evidence: last?.evidence ?? [] };
  if (last?.class === 'success') return last;
  switch (because.kind) {
    case 'cancel': {
      const outcome = last ?? outcomeOf('cancelled_by_dispatch', bare);
      return { ...outcome, state: 'cancelled' };
    }
    case 'deadline':
    case 'wall_clock':
      return outcomeOf('deadline', { ...bare, detail: { by: because.kind } });
    case 'answer':
      if (because.answer === 'accept_success') return { ...(last ?? outcomeOf('completed', bare)), state: 'succeeded' };
      break;
  }
  const outcome = last ?? outcomeOf('cancelled_by_dispatch', bare);
  // Class evidence ends a job only by an answer or by `unmatched: stop`, as failed with that cause; an observed job keeps `unknown`.
  return outcome.state === 'unknown' && because.kind !== 'observed' ? { ...outcome, state: 'failed' } : outcome;
};
