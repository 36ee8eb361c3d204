import { describe, expect, test } from 'vitest';
import { names, StateFault } from '../../../lib/local/engine/fault.ts';
import { type Fields, named, outputOf, task, wait, world } from './world.ts';

/** Fails `times` times with each name in turn, then answers. */
function failing(...failures: string[]): () => unknown {
  let call = 0;
  return () => {
    const name = failures[call++];
    if (name !== undefined) throw named(name, `failure ${call}`);
    return { call };
  };
}

const handler = (errorEquals: string[], more: Fields = {}): Fields => ({ ErrorEquals: errorEquals, ...more });

/** When each call was made, in seconds. */
async function callTimes(retry: Fields[], failures: string[], random = () => 0.5): Promise<{ at: number[]; status: string }> {
  const at: number[] = [];
  const f = failing(...failures);
  const w = world(
    { A: task({ Retry: retry }) },
    () => {
      at.push(w.clock.now() / 1000);
      return f();
    },
    { random },
  );
  await w.start();
  await w.clock.advance(10_000_000);
  return { at, status: w.end().status };
}

describe('retry', () => {
  const four = ['X', 'X', 'X', 'X'];
  test.each<[string, Fields, string[], number[], string]>([
    ['three tries after 1, 2 and 4 s unless told otherwise', {}, ['X', 'X', 'X'], [0, 1, 3, 7], 'SUCCEEDED'],
    ['… and no fourth', {}, four, [0, 1, 3, 7], 'FAILED'],
    ['a constant delay', { IntervalSeconds: 5, BackoffRate: 1, MaxAttempts: 4 }, four, [0, 5, 10, 15, 20], 'SUCCEEDED'],
    [
      'a growing delay up to its cap',
      { IntervalSeconds: 2, BackoffRate: 3, MaxDelaySeconds: 10, MaxAttempts: 4 },
      four,
      [0, 2, 8, 18, 28],
      'SUCCEEDED',
    ],
    ['full jitter takes a random part of the delay', { IntervalSeconds: 4, JitterStrategy: 'FULL' }, ['X', 'X'], [0, 2, 6], 'SUCCEEDED'],
    ['no attempts: not retried', { MaxAttempts: 0 }, ['X'], [0], 'FAILED'],
  ])('%s', async (_title, more, failures, at, status) => {
    expect(await callTimes([handler(['X'], more)], failures)).toEqual({ at, status });
  });

  test('jitter can shrink a delay to nothing, and only jitter asks for a random number', async () => {
    const never = (): number => {
      throw new Error('asked for a random number');
    };
    expect((await callTimes([handler(['X'], { JitterStrategy: 'FULL' })], ['X'], () => 0)).at).toEqual([0, 0]);
    expect((await callTimes([handler(['X'])], ['X'], never)).at).toEqual([0, 1]);
  });

  test('each retrier counts for itself', async () => {
    const retry = [handler(['X'], { MaxAttempts: 2, BackoffRate: 1 }), handler(['Y'], { MaxAttempts: 1 })];
    expect(await callTimes(retry, ['X', 'Y', 'X'])).toMatchObject({ status: 'SUCCEEDED', at: [0, 1, 2, 3] });
    expect(await callTimes(retry, ['X', 'Y', 'X', 'Y'])).toMatchObject({ status: 'FAILED' });
  });

  test('the first retrier that names an error decides, also when its tries are used up', async () => {
    const retry = [handler(['X'], { MaxAttempts: 0 }), handler(['States.ALL'], { MaxAttempts: 9 })];
    expect((await callTimes(retry, ['X'])).at).toEqual([0]);
    expect((await callTimes(retry, ['Y'])).at).toEqual([0, 1]);
  });

  test('what is used up falls through to Catch', async () => {
    const states = {
      A: task({ Retry: [handler(['States.TaskFailed'], { MaxAttempts: 1 })], Catch: [handler(['X'], { Next: 'B' })] }),
      B: { Type: 'Succeed' },
    };
    const w = world(states, failing('X', 'X'));
    await w.start();
    await w.clock.advance(1000);
    expect(outputOf(w)).toEqual({ Error: 'X', Cause: '{"errorType":"X","errorMessage":"failure 2"}' });
  });

  test('a retry shows in the context and keeps the time the state was entered', async () => {
    const payload = { n: '{% $states.context.State.RetryCount %}', at: '{% $states.context.State.EnteredTime %}' };
    const w = world({ A: task({ Arguments: { FunctionName: 'f', Payload: payload }, Retry: [handler(['X'])] }) }, failing('X', 'X'));
    await w.start();
    await w.clock.advance(5000);
    expect(w.calls).toEqual([0, 1, 2].map((n) => ({ n, at: '1970-01-01T00:00:00.000Z' })));
    expect(w.engine.history('e').map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      ...['TaskScheduled', 'TaskStarted', 'TaskFailed'],
      ...['TaskScheduled', 'TaskStarted', 'TaskFailed'],
      ...['TaskScheduled', 'TaskStarted', 'TaskSucceeded'],
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
  });
});

describe('which names match', () => {
  const failed = StateFault.task('X', '');
  const timeout = StateFault.timeout('');
  const heartbeat = StateFault.heartbeat('');
  const query = StateFault.query('');
  const runtime = StateFault.terminal('States.Runtime', '');
  const tooLarge = StateFault.terminal('States.DataLimitExceeded', '');
  const thrown = StateFault.task('States.Timeout', 'thrown by a function under that name');
  test.each<[string, StateFault, boolean]>([
    ['X', failed, true],
    ['x', failed, false],
    ['States.ALL', failed, true],
    ['States.TaskFailed', failed, true],
    ['States.Timeout', failed, false],
    ['States.TaskFailed', timeout, false],
    ['States.TaskFailed', thrown, false],
    ['States.Timeout', timeout, true],
    ['States.HeartbeatTimeout', timeout, false],
    ['States.Timeout', heartbeat, true],
    ['States.HeartbeatTimeout', heartbeat, true],
    ['States.TaskFailed', heartbeat, false],
    ['States.ALL', timeout, true],
    ['States.QueryEvaluationError', query, true],
    ['States.TaskFailed', query, false],
    ['States.ALL', query, true],
    ['States.ALL', runtime, false],
    ['States.Runtime', runtime, false],
    ['States.TaskFailed', runtime, false],
    ['States.ALL', tooLarge, false],
    ['States.DataLimitExceeded', tooLarge, false],
  ])('%s against %s: %s', (name, fault, expected) => {
    expect(names([name], fault)).toBe(expected);
  });
});

describe('catch', () => {
  const caught = (catchers: Fields[], more: Fields = {}): Fields => ({
    A: task({ Catch: catchers, ...more }),
    B: { Type: 'Pass', Output: { at: 'B', input: '{% $states.input %}' }, End: true },
    C: { Type: 'Pass', Output: { at: 'C', input: '{% $states.input %}', why: '{% $why %}' }, End: true },
    D: { Type: 'Pass', Assign: { why: 'nothing' }, End: true },
  });

  test('the first catcher that names the error, with the error as its output', async () => {
    const w = world(caught([handler(['Y'], { Next: 'C' }), handler(['States.ALL'], { Next: 'B' })]), failing('X'));
    await w.start();
    expect(outputOf(w)).toEqual({ at: 'B', input: { Error: 'X', Cause: '{"errorType":"X","errorMessage":"failure 1"}' } });
  });

  test('its own Output and Assign see the error and the input', async () => {
    const exit = { Assign: { why: '{% $states.errorOutput.Error %}' }, Output: { kept: '{% $states.input.n %}' }, Next: 'C' };
    const w = world(caught([handler(['X'], exit)]), failing('X'));
    await w.start({ n: 1 });
    expect(outputOf(w)).toEqual({ at: 'C', input: { kept: 1 }, why: 'X' });
  });

  test('a fault in the Output of a task is caught, once', async () => {
    const w = world(
      caught([handler(['States.QueryEvaluationError'], { Next: 'B', Output: 1 })], { Output: '{% $states.result.Nothing %}' }),
    );
    await w.start();
    expect(outputOf(w)).toEqual({ at: 'B', input: 1 });
    expect(w.engine.history('e').map(({ type }) => type)).toContain('EvaluationFailed');
  });

  test('a fault in the Output of a catcher is not', async () => {
    const w = world(caught([handler(['States.ALL'], { Next: 'B', Output: '{% $states.input.nothing %}' })]), failing('X'));
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });

  test.each<[string, unknown, string, string]>([
    ['an error with a name', named('Odd', 'm'), 'Odd', '{"errorType":"Odd","errorMessage":"m"}'],
    ['a plain error', new Error('m'), 'Error', '{"errorType":"Error","errorMessage":"m"}'],
    ['a text', 'm', 'Error', '{"errorType":"Error","errorMessage":"m"}'],
    ['nothing', undefined, 'Error', '{"errorType":"Error","errorMessage":"undefined"}'],
  ])('a function that throws %s', async (_what, thrown, error, cause) => {
    const w = world({ A: task() }, () => {
      throw thrown;
    });
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error, cause });
  });

  test('a failed signal is matched by its own error', async () => {
    const w = world({ A: wait({ Catch: [handler(['Mine'], { Next: 'B' })] }), B: { Type: 'Succeed' } });
    await w.start();
    w.engine.sendTaskFailure(w.token(), 'Mine', 'because');
    await w.clock.settle();
    expect(outputOf(w)).toEqual({ Error: 'Mine', Cause: 'because' });
  });
});
