/**
 * The operations of Step Functions that the endpoint speaks: those dispatch uses and those a person looks with.
 *
 * Guards: every operation validates its request before the engine sees it, and decides nothing itself.
 */

import type { Engine } from '../engine/api.ts';
import { executionNameOf, requireMachine } from './arn.ts';
import { pageOf } from './page.ts';
import { REQUESTS, type Requests, readRequest } from './request.ts';
import { descriptionOnWire, eventOnWire, seconds, summaryOnWire } from './wire.ts';

/** Throws CallRefused and RequestRefused. */
export type Operation = (engine: Engine, members: { readonly [member: string]: unknown }) => object;

type Carried = { readonly [name in keyof Requests]: (engine: Engine, request: Requests[name]) => object };

/** As many as the engine lists; older ones are on no page. */
const LISTED = 1000;

const CARRIED: Carried = {
  StartExecution: (engine, { stateMachineArn, name, input = '{}' }) => {
    requireMachine(engine, stateMachineArn);
    const { executionArn, startedAtMs } = engine.startExecution({ input, ...(name === undefined ? {} : { name }) });
    return { executionArn, startDate: seconds(startedAtMs) };
  },
  DescribeExecution: (engine, { executionArn, includedData }) =>
    descriptionOnWire(engine.describeExecution(executionNameOf(engine, executionArn)), includedData !== 'METADATA_ONLY'),
  StopExecution: (engine, { executionArn, error, cause }) => ({
    stopDate: seconds(engine.stopExecution(executionNameOf(engine, executionArn), error, cause).stoppedAtMs),
  }),
  ListExecutions: (engine, { stateMachineArn, statusFilter, ...page }) => {
    requireMachine(engine, stateMachineArn);
    const all = engine.listExecutions({ maxResults: LISTED, ...(statusFilter === undefined ? {} : { status: statusFilter }) });
    const { items, next } = pageOf(all, page);
    return { executions: items.map((summary) => summaryOnWire(summary, stateMachineArn)), ...next };
  },
  GetExecutionHistory: (engine, { executionArn, reverseOrder, ...page }) => {
    const all = engine.history(executionNameOf(engine, executionArn));
    const { items, next } = pageOf(reverseOrder ? all.toReversed() : all, page);
    return { events: items.map(eventOnWire), ...next };
  },
  SendTaskSuccess: (engine, { taskToken, output }) => {
    engine.sendTaskSuccess(taskToken, output);
    return {};
  },
  SendTaskFailure: (engine, { taskToken, error, cause }) => {
    engine.sendTaskFailure(taskToken, error, cause);
    return {};
  },
  SendTaskHeartbeat: (engine, { taskToken }) => {
    engine.sendTaskHeartbeat(taskToken);
    return {};
  },
};

const operation =
  <Name extends keyof Requests>(name: Name): Operation =>
  (engine, members) =>
    CARRIED[name](engine, readRequest(REQUESTS[name], members) as Requests[Name]);

/** By the name that follows `AWSStepFunctions.` in X-Amz-Target. A map, since a caller may ask for `constructor`. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  (Object.keys(CARRIED) as (keyof Requests)[]).map((name) => [name, operation(name)]),
);
