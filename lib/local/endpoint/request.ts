/**
 * What each operation is asked with, and the refusal of anything else. Lengths and required members are those of the service's API
 * reference. A member that the engine could not honour is refused and not ignored: a local run must not be greener than AWS.
 *
 * Guards: a refusal names the member and never its value, which may be a token.
 */

import * as z from 'zod';
import { DATA_LIMIT_BYTES, tooLarge } from '../engine/json.ts';
import { CallRefused } from './refusal.ts';

const arn = z.string().min(1).max(256);
/** AWS counts bytes here, not characters. Whether it is JSON is the engine's question. */
const data = z.string().refine((text) => !tooLarge(text), `Member must have at most ${DATA_LIMIT_BYTES} bytes`);
const taskToken = z.string().min(1).max(2048);
const failure = { error: z.string().max(256).optional(), cause: z.string().max(32_768).optional() };
const page = { maxResults: z.int().min(0).max(1000).optional(), nextToken: z.string().min(1).max(3096).optional() };

export const REQUESTS = {
  StartExecution: z.object({ stateMachineArn: arn, name: z.string().min(1).max(80).optional(), input: data.optional() }),
  DescribeExecution: z.object({ executionArn: arn, includedData: z.enum(['ALL_DATA', 'METADATA_ONLY']).optional() }),
  StopExecution: z.object({ executionArn: arn, ...failure }),
  ListExecutions: z.object({
    stateMachineArn: arn,
    statusFilter: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']).optional(),
    ...page,
    mapRunArn: z.undefined('There are no map runs here').optional(),
    redriveFilter: z.undefined('AWS takes it with a map run only').optional(),
  }),
  GetExecutionHistory: z.object({
    executionArn: arn,
    reverseOrder: z.boolean().optional(),
    /** The engine's events hold no data: they look the same with and without. */
    includeExecutionData: z.boolean().optional(),
    ...page,
  }),
  SendTaskSuccess: z.object({ taskToken, output: data }),
  SendTaskFailure: z.object({ taskToken, ...failure }),
  SendTaskHeartbeat: z.object({ taskToken }),
} as const;

export type Requests = { readonly [name in keyof typeof REQUESTS]: z.output<(typeof REQUESTS)[name]> };

/** Throws ValidationException, naming every member that is wrong. */
export function readRequest<S extends z.ZodObject>(schema: S, members: { readonly [member: string]: unknown }): z.output<S> {
  const read = schema.safeParse(members);
  if (read.success) return read.data;
  const wrong = read.error.issues.map((issue) => {
    const member = String(issue.path[0]);
    return `Value at '${member}' failed to satisfy constraint: ${constraintOf(issue, members[member] === undefined)}`;
  });
  throw new CallRefused(
    'ValidationException',
    `${wrong.length} validation error${wrong.length === 1 ? '' : 's'} detected: ${wrong.join('; ')}`,
  );
}

function constraintOf(issue: z.core.$ZodIssue, missing: boolean): string {
  if (missing) return 'Member must not be null';
  const what = 'origin' in issue && issue.origin === 'string' ? 'length' : 'value';
  if (issue.code === 'too_small') return `Member must have ${what} greater than or equal to ${issue.minimum}`;
  if (issue.code === 'too_big') return `Member must have ${what} less than or equal to ${issue.maximum}`;
  if (issue.code === 'invalid_value') return `Member must satisfy enum value set: [${issue.values.map(String).join(', ')}]`;
  if (issue.code === 'invalid_type' && issue.expected !== 'undefined') return `Member must be of type ${issue.expected}`;
  return issue.message;
}
