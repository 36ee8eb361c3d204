/**
 * The engine's answers in the shapes of the wire. Moments are seconds since 1970 with milliseconds as a fraction.
 */

import type { ExecutionDescription, ExecutionSummary } from '../engine/description.ts';
import type { HistoryEvent, HistoryEventType } from '../engine/history.ts';

export const seconds = (ms: number): number => ms / 1000;

export function summaryOnWire(summary: ExecutionSummary, stateMachineArn: string): object {
  const { executionArn, name, status, startedAtMs, stoppedAtMs } = summary;
  return {
    executionArn,
    stateMachineArn,
    name,
    status,
    startDate: seconds(startedAtMs),
    ...(stoppedAtMs === undefined ? {} : { stopDate: seconds(stoppedAtMs) }),
    redriveCount: 0,
  };
}

/** `data` false: neither input nor output. */
export function descriptionOnWire(description: ExecutionDescription, data: boolean): object {
  const { input, output, error, cause } = description;
  return {
    ...summaryOnWire(description, description.stateMachineArn),
    redriveStatus: 'NOT_REDRIVABLE',
    redriveStatusReason: 'the local engine cannot redrive',
    ...(data ? { input, inputDetails: { included: true } } : {}),
    ...(data && output !== undefined ? { output, outputDetails: { included: true } } : {}),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** Without what the engine does not keep: inputs, outputs, resources, causes. */
export function eventOnWire({ id, type, atMs, state, error }: HistoryEvent): object {
  return { id, previousEventId: id - 1, timestamp: seconds(atMs), type, ...detailsOf(type, state, error === undefined ? {} : { error }) };
}

function detailsOf(type: HistoryEventType, state: string, failed: { readonly error?: string }): object {
  if (type.endsWith('StateEntered')) return { stateEnteredEventDetails: { name: state } };
  if (type.endsWith('StateExited')) return { stateExitedEventDetails: { name: state } };
  if (type === 'EvaluationFailed') return { evaluationFailedEventDetails: { state, ...failed } };
  if (failed.error === undefined) return {};
  // TaskFailed → taskFailedEventDetails, ExecutionAborted → executionAbortedEventDetails, and so on.
  return { [`${type[0]!.toLowerCase()}${type.slice(1)}EventDetails`]: failed };
}
