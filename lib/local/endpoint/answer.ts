/**
 * A call of the AWS JSON 1.0 protocol and its answer: target and body in, status and body out.
 *
 * Guards: whatever is refused arrives at the SDK under the name AWS gives it, since callers decide by that name whether a signal was
 * too late (normal), invalid (an alarm) or unanswered (owed).
 */

import { isUtf8 } from 'node:buffer';
import type { Engine } from '../engine/api.ts';
import { RequestRefused } from '../engine/fault.ts';
import { OPERATIONS } from './operation.ts';
import { CallRefused, type CallRefusedName } from './refusal.ts';

export interface Answer {
  /** 200, or a refusal of the 400s, which the SDK does not repeat, or 500, which it does. */
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

const PREFIX = 'AWSStepFunctions.';

/** AWS has three namespaces for errors; the SDK decides by what comes after the `#`. */
const SERVICE = 'com.amazonaws.swf.service.v2.model#';
const VALIDATE = 'com.amazon.coral.validate#';
const FRAMEWORK = 'com.amazon.coral.service#';

const NOT_OF_THE_SERVICE: { readonly [name in CallRefusedName]?: { readonly status: number; readonly namespace: string } } = {
  AccessDeniedException: { status: 403, namespace: FRAMEWORK },
  RequestEntityTooLargeException: { status: 413, namespace: FRAMEWORK },
  SerializationException: { status: 400, namespace: FRAMEWORK },
  UnknownOperationException: { status: 400, namespace: FRAMEWORK },
  ValidationException: { status: 400, namespace: VALIDATE },
};

/** Says nothing of the error: it may hold anything. */
export const INTERNAL_FAILURE: Answer = {
  status: 500,
  body: JSON.stringify({ __type: `${FRAMEWORK}InternalFailure`, message: 'the endpoint or the engine has a bug' }),
};

/** Throws CallRefused and RequestRefused; anything else is a bug. */
export function answerTo(engine: Engine, target: string, body: Buffer): Answer {
  const operation = target.startsWith(PREFIX) ? OPERATIONS.get(target.slice(PREFIX.length)) : undefined;
  if (operation === undefined) throw new CallRefused('UnknownOperationException', 'this operation is not implemented here');
  return { status: 200, body: JSON.stringify(operation(engine, membersOf(body))) };
}

/** The answer for what `answerTo` throws; undefined when it is no refusal. */
export function refusalOf(error: unknown): Answer | undefined {
  if (error instanceof RequestRefused) return refusal(400, SERVICE, error);
  if (!(error instanceof CallRefused)) return undefined;
  const { status, namespace } = NOT_OF_THE_SERVICE[error.code] ?? { status: 400, namespace: SERVICE };
  return refusal(status, namespace, error);
}

function refusal(status: number, namespace: string, { name, message }: Error): Answer {
  return { status, body: JSON.stringify({ __type: namespace + name, message }) };
}

/** The members of the request; one that is `null` is not there, as on AWS. */
function membersOf(body: Buffer): { readonly [member: string]: unknown } {
  const read = isUtf8(body) ? parsed(body.toString()) : undefined;
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new CallRefused('SerializationException', 'the body is no JSON object');
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== null));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Its message quotes the text, which may hold a token: it goes no further.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
