import * as sfn from '@aws-sdk/client-sfn';
import { describe, expect, test, vi } from 'vitest';
import { post, type World, world } from './world.ts';

const ELSEWHERE = 'arn:aws:states:eu-west-1:111111111111';
const START = 'StartExecution';

/** What the client is thrown. */
const thrown = async (sending: Promise<unknown>): Promise<sfn.SFNServiceException> => {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof sfn.SFNServiceException) return error;
  throw new Error('not refused, or not by the service', { cause: error });
};

const taskTimedOut: [string, (w: World) => Promise<unknown> | unknown][] = [
  ['a second signal', (w) => w.client.send(new sfn.SendTaskSuccessCommand({ taskToken: w.token(), output: '{}' }))],
  ['a signal after a failure', (w) => w.client.send(new sfn.SendTaskFailureCommand({ taskToken: w.token() }))],
  ['a signal after the time limit', (w) => w.clock.advance(3_600_000)],
  ['a signal after a stop', (w) => w.engine.stopExecution('e')],
];

describe('every refusal arrives as the class of the SDK, once and without a repetition', () => {
  test.each(taskTimedOut)('P2.4 TaskTimedOut: %s', async (_, before) => {
    const w = await world();
    await w.start();
    await before(w);
    for (const command of [
      new sfn.SendTaskSuccessCommand({ taskToken: w.token(), output: '{}' }),
      new sfn.SendTaskFailureCommand({ taskToken: w.token() }),
      new sfn.SendTaskHeartbeatCommand({ taskToken: w.token() }),
    ]) {
      const error = await thrown(w.client.send(command as sfn.SendTaskHeartbeatCommand));
      expect(error).toBeInstanceOf(sfn.TaskTimedOut);
      expect(error.message).toBe("Task Timed Out: 'Provided task does not exist anymore'");
      expect(error.$metadata).toMatchObject({ httpStatusCode: 400, attempts: 1 });
    }
  });

  const refused: [string, abstract new (...given: never[]) => Error, (w: World) => Promise<unknown>][] = [
    ['a token that is none', sfn.InvalidToken, (w) => w.client.send(new sfn.SendTaskHeartbeatCommand({ taskToken: 'x'.repeat(40) }))],
    [
      'an output that is no JSON',
      sfn.InvalidOutput,
      (w) => w.client.send(new sfn.SendTaskSuccessCommand({ taskToken: w.token(), output: '{' })),
    ],
    ['a name with a blank', sfn.InvalidName, (w) => start(w, { name: 'a b' })],
    ['an input that is no JSON', sfn.InvalidExecutionInput, (w) => start(w, { input: '{' })],
    ['a name that is taken, with another input', sfn.ExecutionAlreadyExists, (w) => start(w, { name: 'e', input: '{"a":1}' })],
    ['no ARN', sfn.InvalidArn, (w) => start(w, { stateMachineArn: 'supervisor' })],
    ['an execution where a machine belongs', sfn.InvalidArn, (w) => start(w, { stateMachineArn: w.engine.executionArn('e') })],
    ['a machine where an execution belongs', sfn.InvalidArn, (w) => describeIt(w, w.machineArn)],
    ['another machine', sfn.StateMachineDoesNotExist, (w) => start(w, { stateMachineArn: `${w.machineArn}2` })],
    ['another account', sfn.StateMachineDoesNotExist, (w) => start(w, { stateMachineArn: `${ELSEWHERE}:stateMachine:supervisor` })],
    ['a version of the machine', sfn.StateMachineDoesNotExist, (w) => start(w, { stateMachineArn: `${w.machineArn}:1` })],
    [
      'the executions of another machine',
      sfn.StateMachineDoesNotExist,
      (w) => w.client.send(new sfn.ListExecutionsCommand({ stateMachineArn: `${w.machineArn}2` })),
    ],
    ['an execution nobody started', sfn.ExecutionDoesNotExist, (w) => describeIt(w, w.engine.executionArn('f'))],
    ['an execution of another machine', sfn.ExecutionDoesNotExist, (w) => describeIt(w, `${ELSEWHERE}:execution:supervisor:e`)],
    [
      'stopping what nobody started',
      sfn.ExecutionDoesNotExist,
      (w) => w.client.send(new sfn.StopExecutionCommand({ executionArn: w.engine.executionArn('f') })),
    ],
    [
      'the history of what nobody started',
      sfn.ExecutionDoesNotExist,
      (w) => w.client.send(new sfn.GetExecutionHistoryCommand({ executionArn: w.engine.executionArn('f') })),
    ],
    [
      'a page that no page led to',
      sfn.InvalidToken,
      (w) => w.client.send(new sfn.ListExecutionsCommand({ stateMachineArn: w.machineArn, nextToken: '-1' })),
    ],
  ];

  test.each(refused)('%s: %o', async (_, Class, send) => {
    const w = await world();
    await w.start();
    const error = await thrown(send(w));
    expect(error).toBeInstanceOf(Class);
    expect(error.name).toBe(Class.name);
    expect(error.$metadata).toMatchObject({ httpStatusCode: 400, attempts: 1 });
    expect(w.engine.listExecutions()).toHaveLength(1);
  });

  test('a name stays taken when its execution has ended, also with the same input', async () => {
    const w = await world();
    await w.start();
    w.engine.stopExecution('e');
    const error = await thrown(start(w, { name: 'e', input: '{}' }));
    expect(error).toBeInstanceOf(sfn.ExecutionAlreadyExists);
    expect(error.message).toBe(`Execution Already Exists: '${w.engine.executionArn('e')}'`);
  });
});

describe('what a request must hold', () => {
  const arn = 'arn:aws:states:us-east-1:000000000000:stateMachine:supervisor';
  const long = (length: number): string => 'x'.repeat(length);
  const invalid: [string, Record<string, unknown>, string, string][] = [
    [START, {}, 'stateMachineArn', 'not be null'],
    [START, { stateMachineArn: null }, 'stateMachineArn', 'not be null'],
    [START, { stateMachineArn: 5 }, 'stateMachineArn', 'be of type string'],
    [START, { stateMachineArn: '' }, 'stateMachineArn', 'length greater than or equal to 1'],
    [START, { stateMachineArn: long(257) }, 'stateMachineArn', 'length less than or equal to 256'],
    [START, { stateMachineArn: arn, name: long(81) }, 'name', 'length less than or equal to 80'],
    [START, { stateMachineArn: arn, input: JSON.stringify(long(262_143)) }, 'input', 'at most 262144 bytes'],
    [START, { stateMachineArn: arn, input: JSON.stringify('ü'.repeat(131_072)) }, 'input', 'at most 262144 bytes'],
    ['DescribeExecution', {}, 'executionArn', 'not be null'],
    ['DescribeExecution', { executionArn: arn, includedData: 'SOME' }, 'includedData', 'enum value set: [ALL_DATA, METADATA_ONLY]'],
    ['StopExecution', { executionArn: arn, error: long(257) }, 'error', 'length less than or equal to 256'],
    ['StopExecution', { executionArn: arn, cause: long(32_769) }, 'cause', 'length less than or equal to 32768'],
    ['ListExecutions', { stateMachineArn: arn, statusFilter: 'PENDING_REDRIVE' }, 'statusFilter', 'enum value set'],
    ['ListExecutions', { stateMachineArn: arn, maxResults: 1001 }, 'maxResults', 'value less than or equal to 1000'],
    ['ListExecutions', { stateMachineArn: arn, maxResults: -1 }, 'maxResults', 'value greater than or equal to 0'],
    ['ListExecutions', { stateMachineArn: arn, maxResults: 1.5 }, 'maxResults', 'of type int'],
    ['ListExecutions', { stateMachineArn: arn, mapRunArn: arn }, 'mapRunArn', 'no map runs'],
    ['ListExecutions', { stateMachineArn: arn, redriveFilter: 'REDRIVEN' }, 'redriveFilter', 'map run only'],
    ['GetExecutionHistory', { executionArn: arn, reverseOrder: 'yes' }, 'reverseOrder', 'of type boolean'],
    ['SendTaskSuccess', { output: '{}' }, 'taskToken', 'not be null'],
    ['SendTaskSuccess', { taskToken: 't' }, 'output', 'not be null'],
    ['SendTaskSuccess', { taskToken: '', output: '{}' }, 'taskToken', 'length greater than or equal to 1'],
    ['SendTaskSuccess', { taskToken: long(2049), output: '{}' }, 'taskToken', 'length less than or equal to 2048'],
    ['SendTaskSuccess', { taskToken: 't', output: JSON.stringify(long(262_143)) }, 'output', 'at most 262144 bytes'],
    ['SendTaskFailure', { taskToken: 't', error: long(257) }, 'error', 'length less than or equal to 256'],
    ['SendTaskHeartbeat', {}, 'taskToken', 'not be null'],
  ];

  test.each(invalid)('ValidationException names the member: %s %o', async (operation, members, member, constraint) => {
    const { endpoint } = await world();
    const answer = await post(endpoint.url, JSON.stringify(members), { 'x-amz-target': `AWSStepFunctions.${operation}` });
    expect(answer).toMatchObject({ status: 400, type: 'com.amazon.coral.validate#ValidationException' });
    expect(answer.message).toMatch(/^1 validation error detected: /);
    expect(answer.message).toContain(`Value at '${member}' failed to satisfy constraint: `);
    expect(answer.message).toContain(constraint);
    expect(answer.message).not.toContain(long(20));
  });

  test('all that is wrong is named at once, and it is a ValidationException to the SDK', async () => {
    const { client } = await world();
    const error = await thrown(client.send(new sfn.SendTaskSuccessCommand({ taskToken: undefined, output: undefined })));
    expect(error).toBeInstanceOf(sfn.ValidationException);
    expect(error.message).toMatch(/^2 validation errors detected: .*'taskToken'.*; .*'output'/);
  });

  test('an input of exactly 256 KiB is taken, also when quoting makes its body twice as long', async () => {
    const w = await world();
    const input = JSON.stringify(Array.from({ length: 87_381 }, () => ''));
    expect(input.length).toBeLessThanOrEqual(262_144);
    expect(input.length).toBeGreaterThan(262_140);
    expect(await start(w, { input })).toMatchObject({ executionArn: expect.any(String) });
  });
});

describe('P2.6 no token in a log or an error', () => {
  test('whatever is sent with a token, nothing is written and no answer repeats it', async () => {
    const written: string[] = [];
    const write = (...given: unknown[]): true => {
      written.push(given.map(String).join(' '));
      return true;
    };
    const spies = [
      ...(['debug', 'info', 'log', 'warn', 'error', 'trace'] as const).map((level) => vi.spyOn(console, level).mockImplementation(write)),
      vi.spyOn(process.stdout, 'write').mockImplementation(write),
      vi.spyOn(process.stderr, 'write').mockImplementation(write),
    ];
    const w = await world();
    await w.start();
    const token = w.token();
    const bodies = [
      JSON.stringify({ taskToken: token, output: '{' }),
      JSON.stringify({ taskToken: token, output: 5 }),
      JSON.stringify({ taskToken: [token], output: '{}' }),
      JSON.stringify({ taskToken: `${token}0`, output: '{}' }),
      JSON.stringify({ taskToken: token.repeat(60), output: '{}' }),
      JSON.stringify({ [token]: token }),
      `{"taskToken":"${token}`,
      `{"taskToken": ${token}}`,
      `"${token}"`,
      `{"t":x${token}`,
      JSON.stringify({ taskToken: token, output: '{}' }),
      JSON.stringify({ taskToken: token, output: '{}' }),
    ];
    const answers: string[] = [];
    for (const body of bodies) answers.push(JSON.stringify(await post(w.endpoint.url, body)));
    for (const operation of [START, 'DescribeExecution', 'Unknown']) {
      const misplaced = JSON.stringify({ stateMachineArn: token, executionArn: token });
      answers.push(JSON.stringify(await post(w.endpoint.url, misplaced, { 'x-amz-target': `AWSStepFunctions.${operation}` })));
    }
    await w.clock.settle();
    for (const spy of spies) spy.mockRestore();

    expect(w.end().status).toBe('SUCCEEDED');
    expect(answers.filter((answer) => answer.includes('TaskTimedOut'))).toHaveLength(1);
    // Not a piece of it either: a JSON parser's message quotes a few characters around the place.
    const pieces = Array.from({ length: token.length - 5 }, (_, at) => token.slice(at, at + 6));
    expect(pieces.filter((piece) => answers.some((answer) => answer.includes(piece)))).toEqual([]);
    expect(written).toEqual([]);
  });
});

const start = (w: World, given: Partial<sfn.StartExecutionCommandInput>): Promise<unknown> =>
  w.client.send(new sfn.StartExecutionCommand({ stateMachineArn: w.machineArn, ...given }));
const describeIt = (w: World, executionArn: string): Promise<unknown> => w.client.send(new sfn.DescribeExecutionCommand({ executionArn }));
