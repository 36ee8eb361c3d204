/**
 * Supervisors on Step Functions (reference: StartExecution is idempotent by name and input; a second or late signal answers
 * TaskTimedOut). Guards protocols §2.4: superseded is normal; throttling and outages leave the wake owed.
 */
import { SendTaskSuccessCommand, SFNClient, type SFNClientConfig, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { type Supervisors, SupervisorsFailure } from '../app/ports.ts';

export interface StepFunctions {
  readonly client: SFNClient;
  readonly machineArn: string;
  readonly onInvalidToken: (message: string) => void;
  /** What became of a signal: for those who count. */
  readonly onSignal?: (how: 'signalled' | 'superseded' | 'failed') => void;
}

/** Byte-stable, so that a repeated start of the same name is the same request. */
export const executionInput = (job: string, generation: number): string => JSON.stringify({ answer: {}, generation, job, loops: 0 });
export const executionName = (job: string, generation: number): string => `${job}-${generation}`;

/** Nothing that a retry could change: what is stored is no token. */
const MALFORMED = new Set(['InvalidToken', 'ValidationException']);
const SUPERSEDED = new Set(['TaskTimedOut', 'TaskDoesNotExist']);

export const stepFunctionsSupervisors = ({ client, machineArn, onInvalidToken, onSignal }: StepFunctions): Supervisors => ({
  start: async (job, generation) => {
    const input = executionInput(job, generation);
    try {
      await client.send(new StartExecutionCommand({ stateMachineArn: machineArn, name: executionName(job, generation), input }));
      return 'started';
    } catch (error) {
      if (nameOf(error) === 'ExecutionAlreadyExists') return 'exists';
      throw new SupervisorsFailure(`StartExecution: ${nameOf(error)}`, { cause: error });
    }
  },
  signal: async (taskToken) => {
    try {
      await client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }));
      onSignal?.('signalled');
      return 'signalled';
    } catch (error) {
      if (SUPERSEDED.has(nameOf(error))) {
        onSignal?.('superseded');
        return 'superseded';
      }
      if (MALFORMED.has(nameOf(error))) {
        // A corrupted store or a bug: raised as an alarm, and forgotten, since no retry can succeed.
        onInvalidToken(nameOf(error));
        return 'superseded';
      }
      onSignal?.('failed');
      throw new SupervisorsFailure(`SendTaskSuccess: ${nameOf(error)}`, { cause: error });
    }
  },
});

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

/** Two tries of at most 5 s (without the last setting the SDK only warns): a wake that cannot be sent now is owed and sent by the next sweep. */
export const sfnClient = (identity: Pick<SFNClientConfig, 'endpoint' | 'region' | 'credentials'> = {}): SFNClient =>
  new SFNClient({
    ...identity,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true },
  });
