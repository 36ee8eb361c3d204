/**
 * Asking: which questions about an attempt that lives are due (contract §10): stuck, changed by others, or with a second object.
 */
import type { Because } from './event.ts';
import { draft, mayAsk } from './question.ts';
import { at, type Concern, NEVER } from './step.ts';
import { TIMING } from './timing.ts';
import { type AttemptView, blockingQuestion, type View } from './view.ts';

export const leftOf = (attempt: AttemptView) => attempt.duplicates.filter((d) => !d.discarded);

/** People are asked about a second object unless the job is over anyway, or waits for another answer already. */
export const secondObject = (view: View, attempt: AttemptView, now: number, over: Because | undefined): Concern => {
  const left = leftOf(attempt);
  if (left.length === 0 || over || blockingQuestion(view)) return NEVER;
  const running = left.some((d) => d.running);
  const since = Math.min(...left.map((d) => d.foundAt));
  const askAt = Math.max(running ? 0 : since + TIMING.undiscardedSeconds * 1000, mayAsk(view, 'duplicate_attempts', attempt.n, since));
  const says = `a second object of ${attempt.identity} ${running ? 'was seen running' : 'could not be discarded'}: ${left.map((d) => d.receipt.schedulerId).join(', ')}`;
  return at(askAt, now, () => ({ do: 'escalate', question: draft(view, 'duplicate_attempts', attempt.n, says) }));
};

/** Not before `moment`, about something that began at `since`. */
export const ask = (
  view: View,
  kind: 'stuck' | 'foreign_change',
  n: number,
  { moment, since }: { readonly moment: number; readonly since: number },
  now: number,
  says: string,
): Concern => at(Math.max(moment, mayAsk(view, kind, n, since)), now, () => ({ do: 'escalate', question: draft(view, kind, n, says) }));

export const stuck = (view: View, attempt: AttemptView, now: number): Concern => {
  const { n, cancel, state, since, pending } = attempt;
  const after = (began: number, seconds: number, says: string): Concern =>
    ask(view, 'stuck', n, { moment: began + seconds * 1000, since: began }, now, says);
  if (cancel) return after(cancel.intendedAt, TIMING.stuckCancellingSeconds, `attempt ${n} has not ended since it was cancelled`);
  if (state === 'ending') return after(since, TIMING.stuckEndingSeconds, `attempt ${n} is ending and its nodes are not released`);
  if (pending?.group === 'admitted') return after(since, TIMING.stuckAdmittedSeconds, `attempt ${n} was admitted and does not start`);
  if (state === 'queued' && (pending?.group === 'held' || pending?.group === 'blocked')) {
    return after(since, TIMING.stuckHeldSeconds, `attempt ${n} waits for somebody: ${pending.reason}`);
  }
  return NEVER;
};

export const FOREIGN = new Set(['held', 'released', 'edited', 'requeued', 'active_after_end']);

export const foreign = (view: View, attempt: AttemptView, now: number): Concern => {
  const finding = attempt.findings.findLast((f) => FOREIGN.has(f.kind));
  // Of an ended attempt only what came after its end is news; of a live one that we cancel, nothing is.
  if (!finding || (attempt.state === 'ended' ? finding.kind !== 'active_after_end' : attempt.cancel)) return NEVER;
  const since = finding.notedAt;
  const last = view.questions.findLast((q) => q.kind === 'foreign_change' && q.n === attempt.n);
  // One question per finding: a later look that says the same is no new change.
  if (last && last.raisedAt >= since && last.closed?.answer !== 'wait') return NEVER;
  return ask(view, 'foreign_change', attempt.n, { moment: 0, since }, now, `attempt ${attempt.n} was changed by others: ${finding.said}`);
};
