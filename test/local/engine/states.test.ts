import { describe, expect, test } from 'vitest';
import { loadMachine } from '../../../lib/local/engine/load.ts';
import { runState } from '../../../lib/local/engine/run-state.ts';
import { type Fields, machineOf, outputOf, task, world } from './world.ts';

async function run(states: Fields, input = {}): Promise<unknown> {
  const w = world(states, (payload) => payload);
  await w.start(input);
  await w.clock.advance(10_000);
  return outputOf(w);
}

describe('variables', () => {
  test('Assign and Output of one state both see the old values', async () => {
    const states = {
      A: { Type: 'Pass', Assign: { x: 1, y: 10 }, Next: 'B' },
      B: { Type: 'Pass', Assign: { x: '{% $y %}', y: '{% $x %}' }, Output: ['{% $x %}', '{% $y %}'], Next: 'C' },
      C: { Type: 'Pass', Output: { before: '{% $states.input %}', now: ['{% $x %}', '{% $y %}'] }, End: true },
    };
    expect(await run(states)).toEqual({ before: [1, 10], now: [10, 1] });
  });

  test('a variable read before any state assigned it is a query error', async () => {
    const w = world({ A: { Type: 'Pass', Output: '{% $late %}', Next: 'B' }, B: { Type: 'Pass', Assign: { late: 1 }, End: true } });
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });

  test('two executions share none', async () => {
    const w = world({
      A: { Type: 'Pass', Assign: { n: '{% $states.input.n %}' }, Next: 'B' },
      B: { Type: 'Pass', Output: '{% $n %}', End: true },
    });
    await Promise.all([w.start({ n: 1 }, 'a'), w.start({ n: 2 }, 'b')]);
    expect(w.ended.map(({ output }) => output)).toEqual(['1', '2']);
  });

  test('a choice rule and a catcher assign too', async () => {
    const states = {
      A: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.n > 1 %}', Assign: { big: true }, Output: { n: 0 }, Next: 'B' }] },
      B: { Type: 'Pass', Output: ['{% $big %}', '{% $states.input %}'], End: true },
    };
    expect(await run(states, { n: 2 })).toEqual([true, { n: 0 }]);
  });
});

describe('states', () => {
  test('Pass hands its input on; Succeed may say something else', async () => {
    expect(await run({ A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Succeed' } }, { a: 1 })).toEqual({ a: 1 });
    expect(await run({ A: { Type: 'Succeed', Output: 'x' } })).toBe('x');
  });

  test.each<[string, Fields, number]>([
    ['a number of seconds', { Seconds: 3 }, 3000],
    ['an expression', { Seconds: '{% $states.input.s + 1 %}' }, 3000],
    ['no time', { Seconds: 0 }, 0],
    ['a moment', { Timestamp: '1970-01-01T00:00:04Z' }, 4000],
    ['a moment by expression', { Timestamp: '{% $states.input.t %}' }, 5000],
    ['a moment that is over', { Timestamp: '1969-01-01T00:00:00Z' }, 0],
  ])('Wait for %s', async (_what, more, stoppedAtMs) => {
    const w = world({ A: { Type: 'Wait', ...more, End: true } });
    await w.start({ s: 2, t: '1970-01-01T00:00:05Z' });
    await w.clock.advance(10_000);
    expect(w.end()).toMatchObject({ status: 'SUCCEEDED', stoppedAtMs });
  });

  test.each<[Fields, Fields]>([
    [{ Seconds: '{% $states.input.bad %}' }, { bad: 1.5 }],
    [{ Timestamp: '{% $states.input.bad %}' }, { bad: 'soon' }],
  ])('Wait for what is no time: %j', async (more, input) => {
    const w = world({ A: { Type: 'Wait', ...more, End: true } });
    await w.start(input as { bad: string });
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('Fail ends with its error and cause', async () => {
    const w = world({ A: { Type: 'Fail', Error: 'Mine', Cause: "{% 'because ' & $states.input.why %}" } });
    await w.start({ why: 'so' });
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'Mine', cause: 'because so' });
    expect(w.engine.history('e').map(({ type }) => type)).toEqual(['ExecutionStarted', 'FailStateEntered', 'ExecutionFailed']);
  });

  test('Choice: the first rule that holds, else Default, else States.NoChoiceMatched', async () => {
    const choice = (more: Fields): Fields => ({
      A: {
        Type: 'Choice',
        Choices: [
          { Condition: '{% $states.input.n = 1 %}', Next: 'B' },
          { Condition: '{% $states.input.n >= 1 %}', Next: 'C' },
        ],
        ...more,
      },
      B: { Type: 'Succeed', Output: 'B' },
      C: { Type: 'Succeed', Output: 'C' },
      D: { Type: 'Succeed', Output: 'D' },
    });
    expect(await run(choice({}), { n: 1 })).toBe('B');
    expect(await run(choice({}), { n: 2 })).toBe('C');
    expect(await run(choice({ Default: 'D' }), { n: 0 })).toBe('D');
    await expect(run(choice({}), { n: 0 })).rejects.toThrow('States.NoChoiceMatched');
  });

  test('Choice: a condition that is no boolean is a query error', async () => {
    const states = { A: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.n %}', Next: 'A' }] } };
    await expect(run(states, { n: 1 })).rejects.toThrow('States.QueryEvaluationError');
  });

  test('a task hands on its whole result unless told otherwise, and knows its function', async () => {
    const w = world({ A: task({ Arguments: { FunctionName: 'f', Payload: { a: '{% $states.input.a %}' } } }) }, (payload, context) => ({
      payload,
      context,
    }));
    await w.start({ a: 1 });
    expect(outputOf(w)).toEqual({
      ExecutedVersion: '$LATEST',
      Payload: { payload: { a: 1 }, context: { functionName: 'f', awsRequestId: 'e-4' } },
      StatusCode: 200,
    });
  });

  test('startExecution of another machine is refused; of a name that is taken, under the name AWS gives', async () => {
    const starting = (machineArn: string, name: string): Fields => ({
      A: task({
        Resource: 'arn:aws:states:::states:startExecution',
        Arguments: { StateMachineArn: machineArn, Name: name, Input: { a: 1 } },
      }),
    });
    await expect(run(starting('arn:other', 'x'))).rejects.toThrow('StepFunctions.StateMachineDoesNotExistException');
    await expect(run(starting('{% $states.context.StateMachine.Id %}', 'e'))).rejects.toThrow(
      'StepFunctions.ExecutionAlreadyExistsException',
    );
    await expect(run(starting('{% $states.context.StateMachine.Id %}', 'a b'))).rejects.toThrow('StepFunctions.InvalidNameException');
  });
});

describe('runState', () => {
  const machine = loadMachine(
    machineOf({
      A: task({ HeartbeatSeconds: 5, TimeoutSeconds: 10, Next: 'B' }),
      B: { Type: 'Wait', Seconds: 1, Assign: { x: 1 }, Next: 'C' },
      C: { Type: 'Fail', Error: 'E' },
    }),
  );

  test('reports limits, output, variables and where to', async () => {
    expect(await runState({ machine, state: 'A', input: 1, mock: { result: 2 }, variables: { x: 0 } })).toEqual({
      status: 'SUCCEEDED',
      output: 2,
      variables: { x: 0 },
      next: 'B',
      arguments: { FunctionName: 'f', Payload: {} },
      timeoutSeconds: 10,
      heartbeatSeconds: 5,
    });
    expect(await runState({ machine, state: 'B', input: 1 })).toEqual({ status: 'SUCCEEDED', output: 1, variables: { x: 1 }, next: 'C' });
    expect(await runState({ machine, state: 'C', input: 1 })).toEqual({ status: 'FAILED', error: 'E', cause: '' });
  });

  test('a Task without a mock and an unknown state are mistakes of the test', async () => {
    await expect(runState({ machine, state: 'A', input: 1 })).rejects.toThrow('say what its call comes to');
    await expect(runState({ machine, state: 'Z', input: 1 })).rejects.toThrow('there is no state Z');
  });
});
