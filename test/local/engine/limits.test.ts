import { describe, expect, test } from 'vitest';
import { DATA_LIMIT_BYTES } from '../../../lib/local/engine/json.ts';
import { type Fields, outputOf, task, wait, world } from './world.ts';

const ALL = [{ ErrorEquals: ['States.ALL'], Next: 'Z' }];
const Z = { Type: 'Succeed' };

describe('time limits', () => {
  test('a task that takes too long ends with States.Timeout, whatever its function does later', async () => {
    const w = world({ A: task({ TimeoutSeconds: 10 }) }, () => new Promise((resolve) => w.clock.after(11_000, () => resolve({}))));
    await w.start();
    await w.clock.advance(10_000);
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    await w.clock.advance(10_000);
    expect(w.ended).toHaveLength(1);
  });

  test('a limit by expression', async () => {
    const w = world({ A: wait({ TimeoutSeconds: '{% $states.input.s %}' }) });
    await w.start({ s: 2 });
    await w.clock.advance(1999);
    expect(w.ended).toEqual([]);
    await w.clock.advance(1);
    expect(w.end().error).toBe('States.Timeout');
  });

  test.each([0, -1, 0.5, '60', null, 100_000_000])('a limit of %j is States.Runtime, which nothing catches', async (s) => {
    const w = world({ A: wait({ TimeoutSeconds: '{% $states.input.s %}', Catch: ALL }), Z });
    await w.start({ s });
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect(w.calls).toEqual([]);
  });

  test('a heartbeat not shorter than the limit is States.Runtime', async () => {
    const w = world({ A: wait({ TimeoutSeconds: 60, HeartbeatSeconds: '{% $states.input.s %}' }) });
    await w.start({ s: 60 });
    expect(w.end().error).toBe('States.Runtime');
  });

  test('a limit that yields nothing is a query error, which can be caught', async () => {
    const w = world({ A: wait({ TimeoutSeconds: '{% $states.input.s %}', Catch: ALL }), Z });
    await w.start({});
    expect(outputOf(w)).toMatchObject({ Error: 'States.QueryEvaluationError' });
  });

  test('the limit of the execution ends it as TIMED_OUT and leaves no timer', async () => {
    const w = world({ A: wait() }, undefined, { machine: { TimeoutSeconds: 5 } });
    await w.start();
    await w.clock.advance(5000);
    expect(w.end()).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout', stoppedAtMs: 5000 });
    expect(w.clock.pending()).toBe(0);
  });
});

describe('the cap of the history', () => {
  const loop = { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } };

  test('S13 an execution fails at 25,000 events, whatever it does', async () => {
    const w = world(loop);
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Runtime', eventCount: 25_000 });
  });

  test.each([10, 11, 12, 13])('… or at the %i it was given, the ending being the last of them', async (events) => {
    const w = world({ A: task({ Next: 'A', Catch: [{ ErrorEquals: ['States.ALL'], Next: 'A' }] }) }, undefined, { limits: { events } });
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', eventCount: events });
    expect(w.engine.history('e').at(-1)).toMatchObject({ id: events, type: 'ExecutionFailed' });
  });

  test('a wait that reaches the cap while its function returns fails at once', async () => {
    const w = world({ A: wait() }, undefined, { limits: { events: 5 } });
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.Runtime', eventCount: 5 });
    expect(w.clock.pending()).toBe(0);
  });
});

describe('the size of data', () => {
  const text = (bytes: number): string => 'x'.repeat(bytes - 2);
  const sizes: [string, number, boolean][] = [
    ['at the limit', DATA_LIMIT_BYTES, true],
    ['above it', DATA_LIMIT_BYTES + 1, false],
  ];

  test.each(sizes)('an output %s', async (_where, bytes, fits) => {
    const w = world({ A: { Type: 'Pass', Output: text(bytes), End: true } });
    await w.start();
    expect(w.end()).toMatchObject(fits ? { status: 'SUCCEEDED' } : { status: 'FAILED', error: 'States.DataLimitExceeded' });
  });

  test('bytes count, not characters', async () => {
    const w = world({ A: { Type: 'Pass', Output: 'é'.repeat(DATA_LIMIT_BYTES / 2), End: true } });
    await w.start();
    expect(w.end().error).toBe('States.DataLimitExceeded');
  });

  const big = text(DATA_LIMIT_BYTES + 10);
  test.each<[string, Fields, () => unknown]>([
    ['a payload', { A: task({ Arguments: { FunctionName: 'f', Payload: big }, Catch: ALL }), Z }, () => ({})],
    ['an answer', { A: task({ Catch: ALL }), Z }, () => big],
    ['a variable', { A: task({ Assign: { v: big }, Catch: ALL }), Z }, () => ({})],
  ])('%s too large ends the execution, whatever its Catch says', async (_what, states, f) => {
    const w = world(states, f);
    await w.start();
    expect(w.end()).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });
});

describe('the JSON boundary', () => {
  class Point {
    x = 1;
    hidden = undefined;
    get y(): number {
      return 2;
    }
  }

  test('what a function answers is what JSON makes of it', async () => {
    const w = world({ A: task({ Output: '{% $states.result %}' }) }, () => ({
      at: new Date(0),
      none: undefined,
      point: new Point(),
      list: [undefined],
    }));
    await w.start();
    expect(outputOf(w)).toEqual({
      ExecutedVersion: '$LATEST',
      Payload: { at: '1970-01-01T00:00:00.000Z', point: { x: 1 }, list: [null] },
      StatusCode: 200,
    });
  });

  test('no answer is null; an answer beyond JSON fails the function', async () => {
    const none = world({ A: task({ Output: '{% $states.result.Payload %}' }) }, () => undefined);
    await none.start();
    expect(outputOf(none)).toBeNull();
    const beyond = world({ A: task() }, () => 1n);
    await beyond.start();
    expect(beyond.end().error).toBe('Runtime.MarshalError');
  });

  test('a function that changes its payload changes nothing else', async () => {
    const states = { A: task({ Arguments: { FunctionName: 'f', Payload: '{% $states.input %}' }, Output: '{% $states.input %}' }) };
    const w = world(states, (payload) => {
      (payload as { list: number[] }).list.push(2);
    });
    await w.start({ list: [1] });
    expect(outputOf(w)).toEqual({ list: [1] });
  });
});
