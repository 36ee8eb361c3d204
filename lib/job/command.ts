/**
 * Commands: what people ask of a job, as `(view, command) → events | refusal` (contract §8, §10, protocols §7, §9).
 * Pure: whoever commits the events does so on the version that they were decided from, and decides again on a conflict.
 */
import type { Answer, Event, EventOf } from './event.ts';
import { relaunchByAnswer } from './recovery.ts';
import { attemptOf, isObserved, type Question, type View } from './view.ts';

export type Decided = { readonly kind: 'events'; readonly events: readonly Event[] } | Refused;
export interface Refused {
  readonly kind: 'refused';
  readonly code: 'job/observe_only' | 'escalation/unknown' | 'escalation/closed' | 'escalation/not_an_option';
  readonly says: string;
}
/** The command is a fact already: answered with the state of things, not with an error. */
export type Already = { readonly kind: 'already'; readonly says: string };

const events = (...list: Event[]): Decided => ({ kind: 'events', events: list });
const refused = (code: Refused['code'], says: string): Refused => ({ kind: 'refused', code, says });

export const submit = (submitted: Omit<EventOf<'job_submitted'>, 'type'>): Decided => events({ type: 'job_submitted', ...submitted });

/** A cancel wins against any intention not yet committed. Of a job that ended meanwhile the answer is its outcome. */
export const cancel = (view: View, command: { readonly principal: string; readonly reason: string }): Decided | Already => {
  if (isObserved(view)) return refused('job/observe_only', 'this job was submitted by someone else: dispatch only watches it');
  if (view.ended) return { kind: 'already', says: `the job has ended: ${view.ended.outcome.state}` };
  if (view.cancel) return { kind: 'already', says: `cancelled by ${view.cancel.principal} already` };
  return events({ type: 'cancel_requested', principal: command.principal, reason: command.reason });
};

/** The first valid answer wins; a later one is refused as closed (S11). */
export const answer = (view: View, command: { readonly question: string; readonly answer: unknown; readonly by: string }): Decided => {
  const question = view.questions.find((q) => q.id === command.question);
  if (!question) return refused('escalation/unknown', `there is no question ${command.question} on this job`);
  if (question.closed)
    return refused(
      'escalation/closed',
      `question ${question.id} was ${question.closed.how}${question.closed.by ? ` by ${question.closed.by}` : ''}`,
    );
  const choice = question.options.find((option) => option === command.answer);
  if (!choice) return refused('escalation/not_an_option', `answer ${question.id} with one of: ${question.options.join(', ')}`);
  return events(
    { type: 'escalation_answered', id: question.id, answer: choice, by: command.by },
    ...consequences(view, question, choice, command.by),
  );
};

/** Nobody answered in time: the default counts as the answer, in the same commit. */
export const expire = (view: View, id: string): Decided => {
  const question = view.questions.find((q) => q.id === id);
  if (!question || question.closed) return refused('escalation/closed', `question ${id} is not open`);
  return events(
    { type: 'escalation_expired', id, answer: question.onExpiry },
    ...consequences(view, question, question.onExpiry, 'system'),
  );
};

const consequences = (view: View, question: Question, choice: Answer, by: string): readonly Event[] => {
  if (choice === 'cancel') return view.cancel ? [] : [{ type: 'cancel_requested', principal: by, reason: `answer to ${question.id}` }];
  if (choice !== 'relaunch' && choice !== 'relaunch_from_scratch') return [];
  // One attempt beyond any limit, at once, with the last attempt's resources and exclusions.
  return [{ type: 'recovery_decided', ...relaunchByAnswer(attemptOf(view, question.n), question.id, choice), notBefore: 0 }];
};
