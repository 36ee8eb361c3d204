/**
 * Log: one line of JSON per thing said, by Powertools Logger, so that a search by job, request or cold start finds it (docs/operate.md).
 * Guards P2.6: everything passes `hiding`; and that what one invocation is about is on its lines alone, since a function is used again.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import type { Ports } from '../app/ports.ts';
import { hideIn, hiding } from './hide.ts';

/** Of the platform's context object, what is read. */
export interface Invocation {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  getRemainingTimeInMillis(): number;
}

export interface Log {
  readonly log: Ports['log'];
  /** What the lines from here on are about: request, cold start and these fields (job, generation, cluster, …). */
  begin(invocation: Invocation | undefined, about: Readonly<Record<string, unknown>>): void;
}

type Level = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';

/** `service`: of the deployment. */
export const createLog = (service: string, level: Level = 'INFO'): Log => {
  const logger = new Logger({ serviceName: service, logLevel: level, jsonReplacerFn: hiding });
  return {
    log: (severity, message, fields) => logger[severity](hideIn(message), withAttempt(fields)),
    begin: (invocation, about) => {
      logger.resetKeys();
      // Called by hand, in a test or from a console, there may be none.
      if (invocation?.awsRequestId !== undefined) logger.addContext(invocation as Parameters<Logger['addContext']>[0]);
      logger.appendKeys({ ...about });
    },
  };
};

/** An attempt's number is `n` where code speaks of it, and `attempt` where people look for it. */
const withAttempt = ({ n, ...fields }: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  n === undefined ? fields : { ...fields, attempt: n };
