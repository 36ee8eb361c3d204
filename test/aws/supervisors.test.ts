/** What Step Functions answers, and what a supervisor's port makes of it (P2.4, C056): late is normal, unknown is owed, corrupt is an alarm. */
import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { SupervisorsFailure } from '../../lib/app/ports.ts';
import { executionInput, executionName, sfnClient, stepFunctionsSupervisors } from '../../lib/aws/supervisors.ts';

const JOB = '1q3dcbd0002kwy6g';
const ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:supervisor';
const service = mockClient(SFNClient);
const alarms: string[] = [];
const supervisors = stepFunctionsSupervisors({
  client: new SFNClient({ region: 'us-east-1' }),
  machineArn: ARN,
  onInvalidToken: (says) => alarms.push(says),
});

const because = { message: 'm', $metadata: {} };
const named = (name: string): Error => Object.assign(new Error(`${name} happened`), { name });

/** What may be wrong with the service, the line, or our own credentials: none of it says what became of the request. */
const UNKNOWN = [
  'ThrottlingException',
  'TooManyRequestsException',
  'ExecutionLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'ExpiredTokenException',
  'CredentialsProviderError',
  'AccessDeniedException',
  'StateMachineDoesNotExist',
];

beforeEach(() => {
  service.reset();
  alarms.length = 0;
});

describe('start', () => {
  test('given an execution that is started, then started, by a name and an input that are the same byte for byte every time', async () => {
    service.on(StartExecutionCommand).resolves({});
    expect(await supervisors.start(JOB, 3)).toBe('started');
    expect(await supervisors.start(JOB, 3)).toBe('started');
    const inputs = service.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input);
    expect(inputs).toEqual([inputs[0], inputs[0]]);
    expect(inputs[0]).toEqual({ stateMachineArn: ARN, name: `${JOB}-3`, input: `{"answer":{},"generation":3,"job":"${JOB}","loops":0}` });
    expect([executionName(JOB, 3), executionInput(JOB, 3)]).toEqual([inputs[0]?.name, inputs[0]?.input]);
  });

  test('given a name that is taken, then exists: whoever was first, there is one', async () => {
    service.on(StartExecutionCommand).rejects(new ExecutionAlreadyExists(because));
    expect(await supervisors.start(JOB, 1)).toBe('exists');
  });

  test.each(UNKNOWN)('given %s, then SupervisorsFailure, retryable, with what happened as its cause', async (name) => {
    service.on(StartExecutionCommand).rejects(named(name));
    const failure = await supervisors.start(JOB, 1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SupervisorsFailure);
    expect(failure).toMatchObject({ code: 'supervisors/unavailable', retryable: true, message: `StartExecution: ${name}` });
    expect((failure as Error).cause).toMatchObject({ name });
  });
});

describe('signal', () => {
  test('given a task that waits, then signalled, with `{}`: the record is the message', async () => {
    service.on(SendTaskSuccessCommand).resolves({});
    expect(await supervisors.signal('t')).toBe('signalled');
    expect(service.commandCalls(SendTaskSuccessCommand)[0]?.args[0].input).toEqual({ taskToken: 't', output: '{}' });
  });

  test.each([
    ['TaskTimedOut', new TaskTimedOut(because)],
    ['TaskDoesNotExist', new TaskDoesNotExist(because)],
  ])('given %s, then superseded, and no alarm: the normal answer to a late wake', async (_, error) => {
    service.on(SendTaskSuccessCommand).rejects(error);
    expect(await supervisors.signal('t')).toBe('superseded');
    expect(alarms).toEqual([]);
  });

  test('given InvalidToken, then an alarm that does not name the token, and superseded: no retry can help', async () => {
    service.on(SendTaskSuccessCommand).rejects(new InvalidToken({ ...because, message: 'Invalid Token: secret-token' }));
    expect(await supervisors.signal('secret-token')).toBe('superseded');
    expect(alarms).toEqual(['InvalidToken']);
  });

  test.each(UNKNOWN)('given %s, then SupervisorsFailure: the wake stays owed', async (name) => {
    service.on(SendTaskSuccessCommand).rejects(named(name));
    const failure = await supervisors.signal('secret-token').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SupervisorsFailure);
    expect(failure).toMatchObject({ retryable: true, message: `SendTaskSuccess: ${name}` });
    expect(alarms).toEqual([]);
  });

  test('given something thrown that is no error, then SupervisorsFailure all the same', async () => {
    service.on(SendTaskSuccessCommand).callsFake(() => Promise.reject('nothing'));
    expect(await supervisors.signal('t').catch((error: unknown) => error)).toBeInstanceOf(SupervisorsFailure);
  });
});

test('the client gives up soon: two tries, every wait with a limit', async () => {
  const client = sfnClient();
  expect(await client.config.maxAttempts()).toBe(2);
  client.destroy();
});
