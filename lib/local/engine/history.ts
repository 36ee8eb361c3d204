/**
 * The history of an execution: the events AWS would record, in AWS's words, so that what a loop costs can be counted here.
 *
 * Guards: an execution never has more events than the cap (25,000 on AWS); the one that would leave no room for an ending fails it.
 */

import { StateFault } from './fault.ts';

/** AWS fails an execution at this many events (hard). */
export const EVENT_CAP = 25_000;

type StateKind = 'Task' | 'Choice' | 'Wait' | 'Pass' | 'Succeed' | 'Fail';

export type HistoryEventType =
  | 'ExecutionStarted'
  | 'ExecutionSucceeded'
  | 'ExecutionFailed'
  | 'ExecutionTimedOut'
  | 'ExecutionAborted'
  | `${StateKind}StateEntered`
  | `${StateKind}StateExited`
  | 'TaskScheduled'
  | 'TaskStarted'
  | 'TaskSubmitted'
  | 'TaskSucceeded'
  | 'TaskFailed'
  | 'TaskTimedOut'
  | 'EvaluationFailed';

export interface HistoryEvent {
  /** From 1, without gaps. */
  readonly id: number;
  readonly type: HistoryEventType;
  readonly atMs: number;
  /** The state it belongs to; '' for the execution itself. */
  readonly state: string;
  readonly error?: string;
}

export interface History {
  /** How many events there were, also once the events themselves were let go. */
  count: number;
  events: HistoryEvent[];
}

/** Records what happens in a state. Throws `States.Runtime` when only the ending still fits. */
export function record(history: History, cap: number, event: Omit<HistoryEvent, 'id'>): void {
  if (history.count >= cap - 1) throw StateFault.terminal('States.Runtime', `the execution reached ${cap} history events`);
  append(history, event);
}

/** Records the ending itself, for which `record` always leaves room. */
export function append(history: History, event: Omit<HistoryEvent, 'id'>): void {
  history.count += 1;
  history.events.push({ id: history.count, ...event });
}
