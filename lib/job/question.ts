/**
 * Questions: what people are asked, which answers they have, and what an answer stands for later (contract §10, protocols §9).
 * Guards promise 6: a question is keyed by (kind, attempt, episode) and asked once; the first valid answer wins.
 */
import type { Answer, Because, EventOf, QuestionKind } from './event.ts';
import { TIMING } from './timing.ts';
import type { AttemptView, Question, View } from './view.ts';

interface Kind {
  readonly blocks: boolean;
  /** The default first. */
  readonly options: readonly Answer[];
}

export const KINDS: Readonly<Record<QuestionKind, Kind>> = {
  unmatched_outcome: { blocks: true, options: ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success'] },
  limit_reached: { blocks: true, options: ['stop', 'relaunch'] },
  rule_asks: { blocks: true, options: ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success', 'wait'] },
  outcome_unknown: { blocks: true, options: ['wait', 'stop', 'relaunch', 'accept_success'] },
  duplicate_attempts: { blocks: true, options: ['stop', 'wait'] },
  stuck: { blocks: false, options: ['wait', 'cancel'] },
  foreign_change: { blocks: false, options: ['wait', 'cancel'] },
};

/** A question before it is asked: everything of it that does not depend on the moment. */
export interface Draft {
  readonly kind: QuestionKind;
  readonly n: number;
  readonly episode: number;
  readonly options: readonly Answer[];
  readonly onExpiry: Answer;
  readonly expiresAfterSeconds: number;
  readonly says: string;
}

const asked = (view: View, kind: QuestionKind, n: number): readonly Question[] =>
  view.questions.filter((q) => q.kind === kind && q.n === n);

export const draft = (
  view: View,
  kind: QuestionKind,
  n: number,
  says: string,
  own?: { readonly options: readonly Answer[]; readonly onExpiry: Answer; readonly expiresAfterSeconds: number },
): Draft => ({
  kind,
  n,
  episode: asked(view, kind, n).length + 1,
  options: own?.options ?? KINDS[kind].options,
  onExpiry: own?.onExpiry ?? KINDS[kind].options[0]!,
  expiresAfterSeconds: own?.expiresAfterSeconds ?? TIMING.questionSeconds,
  // A scheduler's own words are part of it and may be as long as an event allows.
  says: says.slice(0, 1024),
});

export const raise = (view: View, question: Draft, now: number): EventOf<'escalation_raised'> => {
  const { expiresAfterSeconds, options, ...said } = question;
  return {
    type: 'escalation_raised',
    id: `q${view.questions.length + 1}`,
    ...said,
    options: [...options],
    blocks: KINDS[question.kind].blocks,
    expiresAt: now + expiresAfterSeconds * 1000,
  };
};

/**
 * When a question of this kind about attempt n may be asked: now (0), never while one is open, or 72 h after it was answered:
 * an answer that changed nothing is not asked for again at once. One about something that began at `since` is a new matter:
 * questions from before do not delay it.
 */
export const mayAsk = (view: View, kind: QuestionKind, n: number, since = 0): number => {
  const last = asked(view, kind, n).at(-1);
  if (!last) return 0;
  if (!last.closed) return Number.POSITIVE_INFINITY;
  return last.closed.how === 'withdrawn' || last.raisedAt < since ? 0 : last.closed.at + TIMING.questionSeconds * 1000;
};

/**
 * What the last answer about this ended attempt stands for: `stop` and `accept_success` end the job, `wait` holds until the
 * next episode. A relaunch stands as a decision already. Answers given before the attempt's present end do not count, nor do
 * those about a second object, which say nothing of this one's outcome.
 */
export const standingAnswer = (
  view: View,
  attempt: AttemptView,
): { kind: 'end'; because: Because; at: number } | { kind: 'wait'; until: number } | undefined => {
  const last = view.questions.findLast(
    (q) => q.n === attempt.n && q.blocks && q.kind !== 'duplicate_attempts' && q.closed && q.closed.how !== 'withdrawn',
  );
  const closed = last?.closed;
  if (!last || !closed?.answer || closed.version < (attempt.endedIn ?? 0)) return undefined;
  if (closed.answer === 'wait') {
    const until = closed.at + TIMING.questionSeconds * 1000;
    return { kind: 'wait', until };
  }
  if (closed.answer !== 'stop' && closed.answer !== 'accept_success') return undefined;
  const because = { kind: 'answer' as const, question: last.id, answer: closed.answer, expired: closed.how === 'expired' };
  return { kind: 'end', because, at: closed.at };
};
