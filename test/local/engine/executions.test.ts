import { describe, expect, test } from 'vitest';
import { virtualClock } from '../../../lib/local/clock.ts';
import { createEngine } from '../../../lib/local/engine/engine.ts';
import type { Json } from '../../../lib/local/engine/json.ts';
import { machineOf, task, wait, world } from './world.ts';

const refused = (name: string): unknown => expect.objectContaining({ name });

describe('starting', () => {
  test('the same name and the same bytes while it runs: the one that runs', async () => {
    const w = world({ A: wait() });
    const first = w.engine.startExecution({ name: 'e', input: '{"a":1}' });
    await w.clock.advance(5);
    expect(w.engine.startExecution({ name: 'e', input: '{"a":1}' })).toEqual(first);
    expect(w.calls).toHaveLength(1);
  });

  test.each(['{"a": 1}', '{}'])('another input is refused: %s', async (input) => {
    const w = world({ A: wait() });
    w.engine.startExecution({ name: 'e', input: '{"a":1}' });
    expect(() => w.engine.startExecution({ name: 'e', input })).toThrow(refused('ExecutionAlreadyExists'));
  });

  test('a name stays taken after the end', async () => {
    const w = world({ A: task() });
    await w.start();
    expect(w.end().status).toBe('SUCCEEDED');
    expect(() => w.engine.startExecution({ name: 'e', input: '{}' })).toThrow(refused('ExecutionAlreadyExists'));
  });

  test.each(['', 'a'.repeat(81), 'a b', 'a/b', 'a:b', 'a$b', 'a\nb'])('no name: %j', (name) => {
    const { engine } = world({ A: wait() });
    expect(() => engine.startExecution({ name, input: '{}' })).toThrow(refused('InvalidName'));
  });

  test.each(['', '{', JSON.stringify('x'.repeat(262_144))])('no input: %.10s', (input) => {
    const { engine } = world({ A: wait() });
    expect(() => engine.startExecution({ name: 'e', input })).toThrow(refused('InvalidExecutionInput'));
  });

  test('without a name one is drawn', () => {
    const { engine } = world({ A: wait() });
    const { executionArn } = engine.startExecution({ input: '{}' });
    expect(executionArn).toBe(engine.executionArn('8000000080000000'));
  });
});

describe('describing and stopping', () => {
  test('an execution from start to stop', async () => {
    const w = world({ A: wait() });
    const name = await w.start({ a: 1 });
    const running = { name, executionArn: w.engine.executionArn(name), status: 'RUNNING', startedAtMs: 0 };
    expect(w.engine.describeExecution(name)).toEqual({ ...running, stateMachineArn: w.engine.machineArn, input: '{"a":1}', eventCount: 5 });
    await w.clock.advance(7);
    expect(w.engine.stopExecution(name, 'E', 'C')).toEqual({ stoppedAtMs: 7 });
    await w.clock.advance(7);
    expect(w.engine.stopExecution(name)).toEqual({ stoppedAtMs: 7 });
    expect(w.end()).toMatchObject({ ...running, status: 'ABORTED', stoppedAtMs: 7, error: 'E', cause: 'C', eventCount: 6 });
    expect(w.engine.history(name).at(-1)).toEqual({ id: 6, type: 'ExecutionAborted', atMs: 7, state: '', error: 'E' });
  });

  test('an unknown execution', () => {
    const { engine } = world({ A: wait() });
    for (const ask of [engine.describeExecution, engine.history, engine.stopExecution])
      expect(() => ask('z')).toThrow(refused('ExecutionDoesNotExist'));
    expect(engine.kill('z')).toBe(false);
  });

  test('lists: newest first, by status, bounded', async () => {
    const w = world({ A: wait() });
    for (let n = 0; n < 120; n++) await w.start({}, `e${n}`);
    w.engine.stopExecution('e7');
    expect(w.engine.listExecutions()).toHaveLength(100);
    expect(w.engine.listExecutions({ maxResults: 2 }).map(({ name }) => name)).toEqual(['e119', 'e118']);
    expect(w.engine.listExecutions({ status: 'ABORTED' }).map(({ name }) => name)).toEqual(['e7']);
    expect(w.engine.listExecutions({ maxResults: 5000, status: 'RUNNING' })).toHaveLength(119);
  });

  test('memory: the oldest endings are forgotten, their events before them', async () => {
    const w = world({ A: task() }, undefined, { limits: { ended: 3, histories: 1 } });
    for (let n = 0; n < 5; n++) await w.start({}, `e${n}`);
    expect(w.engine.listExecutions().map(({ name }) => name)).toEqual(['e4', 'e3', 'e2']);
    expect(w.engine.history('e3')).toEqual([]);
    expect(w.engine.describeExecution('e3').eventCount).toBe(7);
    expect(w.engine.history('e4')).toHaveLength(7);
  });

  test('a stop at any moment leaves nothing running: no call, event, timer or second report', async () => {
    const states = {
      A: task({ Next: 'B', Retry: [{ ErrorEquals: ['X'] }] }),
      B: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.StatusCode = 200 %}', Next: 'C' }] },
      C: { Type: 'Wait', Seconds: 1, Next: 'D' },
      D: wait(),
    };
    for (const how of ['stopExecution', 'kill'] as const) {
      for (let turns = 0; turns < 60; turns++) {
        let call = 0;
        const w = world(states, () => {
          if (call++ === 0) throw Object.assign(new Error(), { name: 'X' });
          return {};
        });
        w.engine.startExecution({ name: 'e', input: '{}' });
        if (turns >= 30) await w.clock.advance(1000);
        for (let turn = 0; turn < turns % 30; turn++) await Promise.resolve();
        w.engine[how]('e');
        const { length } = w.calls;
        await w.clock.advance(10_000_000);
        expect([w.calls.length, w.clock.pending(), w.ended.length]).toEqual([length, 0, how === 'kill' ? 0 : 1]);
        if (how === 'stopExecution') expect(w.engine.history('e').at(-1)?.type).toBe('ExecutionAborted');
      }
    }
  });

  test('close kills whatever runs', async () => {
    const w = world({ A: wait() });
    for (let n = 0; n < 3; n++) await w.start({}, `e${n}`);
    w.engine.close();
    expect(w.clock.pending()).toBe(0);
    expect(w.engine.listExecutions()).toEqual([]);
  });
});

describe('speed and sameness', () => {
  /** 300 executions with three waits of an hour each. */
  async function many(seed: number): Promise<string> {
    const clock = virtualClock(0);
    let state = seed;
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const seen: Json[] = [];
    const next = {
      Output: { n: '{% $states.input.n + 1 %}' },
      Catch: [{ ErrorEquals: ['States.Timeout'], Output: { n: '{% $states.input.n + 1 %}' }, Next: 'B' }],
    };
    const engine = createEngine({
      definition: machineOf({
        A: wait({ ...next, Next: 'B' }),
        B: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.n < 3 %}', Next: 'A' }], Default: 'C' },
        C: { Type: 'Succeed' },
      }),
      functions: { f: (payload) => seen.push(payload) },
      clock,
      random,
      onEnd: ({ name, output }) => seen.push(`${name} ${output}`),
    });
    for (let n = 0; n < 300; n++) engine.startExecution({ name: `e${n}`, input: '{"n":0}' });
    await clock.advance(3 * 3_600_000);
    expect(engine.listExecutions({ status: 'SUCCEEDED', maxResults: 1000 })).toHaveLength(300);
    return JSON.stringify(seen);
  }

  test('the same seed gives the same calls in the same order, another one other tokens', async () => {
    const first = await many(1);
    expect(await many(1)).toBe(first);
    expect(await many(2)).not.toBe(first);
  });
});
