/** Whole lives of a supervisor, under virtual time. */

import { describe, expect, test } from 'vitest';
import type { HistoryEventType } from '../../lib/local/engine/history.ts';
import { directive, HOUR, inputOf, named, SECOND, start, type World, world } from './world.ts';

const until = (n: number) => (call: number) => (call < n ? directive('await') : directive('done'));

function endOf({ ended }: World): unknown {
  expect(ended).toHaveLength(1);
  const [{ status, output, error }] = ended as [World['ended'][number]];
  return { status, output, error };
}

const succeeded = (loops: number) => ({ status: 'SUCCEEDED', output: `{"loops":${loops},"answer":{}}`, error: undefined });

describe('waking', () => {
  test('P2.4 a wake brings Advance back at once; done ends', async () => {
    const w = world({ advance: until(1) });
    start(w.engine);
    await w.clock.settle();
    expect(w.parked).toMatchObject([{ version: 7, question: '', retry: 0, enteredAt: '2026-01-01T00:00:00.000Z' }]);
    expect(w.advanced).toEqual([{ machine: 1, job: 'j1', generation: 1, loops: 0, startedAt: '2026-01-01T00:00:00.000Z', answer: {} }]);
    w.engine.sendTaskSuccess(w.parked[0]!.token, '{}');
    await w.clock.settle();
    expect(endOf(w)).toEqual(succeeded(2));
    expect(w.clock.pending()).toBe(0);
  });

  test('P2.1 without a wake the time limit brings it back, not a millisecond earlier', async () => {
    const w = world({ advance: until(1) });
    start(w.engine);
    await w.clock.advance(HOUR - 1);
    expect(w.advanced).toHaveLength(1);
    await w.clock.advance(1);
    expect(endOf(w)).toEqual(succeeded(2));
    expect(() => w.engine.sendTaskSuccess(w.parked[0]!.token, '{}')).toThrow(expect.objectContaining({ name: 'TaskTimedOut' }));
  });

  test('P2.2 a stale decision is decided again at once', async () => {
    const park = (call: number): unknown => {
      if (call === 0) throw named('StaleDecision');
      return undefined;
    };
    const w = world({ advance: until(2), park });
    start(w.engine);
    await w.clock.settle();
    expect(w.advanced).toHaveLength(2);
    expect(w.parked[0]!.token).not.toBe(w.parked[1]!.token);
    w.engine.sendTaskSuccess(w.parked[1]!.token, '{}');
    await w.clock.settle();
    expect(endOf(w)).toEqual(succeeded(3));
  });

  test('P2.2 a park call that failed is made again with a new token and a higher retry count', async () => {
    const park = (call: number): unknown => {
      if (call < 4) throw named('Lambda.Unknown');
      return undefined;
    };
    const w = world({ advance: until(1), park });
    start(w.engine);
    await w.clock.advance(60 * SECOND);
    expect(w.parked.map(({ retry }) => retry)).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(w.parked.map(({ token }) => token)).size).toBe(5);
    expect(new Set(w.parked.map(({ enteredAt }) => enteredAt)).size).toBe(1);
    w.engine.sendTaskSuccess(w.parked[4]!.token, '{}');
    await w.clock.settle();
    expect(endOf(w)).toEqual(succeeded(2));
  });

  test('P2.8 a park of an older generation ends the supervisor quietly', async () => {
    const park = (): never => {
      throw named('Superseded');
    };
    const w = world({ advance: until(9), park });
    start(w.engine);
    await w.clock.settle();
    expect(endOf(w)).toEqual(succeeded(1));
  });
});

describe('answering', () => {
  const ask = (call: number) => (call === 0 ? directive('answer', { question: 'q1', seconds: 60 }) : directive('done'));

  test('P2.5 an answer by token reaches Advance raw, once', async () => {
    const w = world({ advance: (call) => (call === 1 ? directive('again') : ask(call)) });
    start(w.engine);
    await w.clock.settle();
    expect(w.parked).toMatchObject([{ question: 'q1' }]);
    w.engine.sendTaskSuccess(w.parked[0]!.token, '{"choice":"wait"}');
    await w.clock.settle();
    expect(w.advanced.map(({ answer }) => answer)).toEqual([{}, { question: 'q1', value: { choice: 'wait' } }, {}]);
    expect(endOf(w)).toEqual(succeeded(3));
  });

  test('nobody answers: the limit brings it back with no answer', async () => {
    const w = world({ advance: ask });
    start(w.engine);
    await w.clock.advance(60 * SECOND);
    expect(w.advanced.map(({ answer }) => answer)).toEqual([{}, {}]);
    expect(endOf(w)).toEqual(succeeded(2));
  });
});

describe('failing', () => {
  test('Advance fails four times, then recovers', async () => {
    const advance = (call: number): unknown => {
      if (call < 4) throw named('Lambda.Unknown');
      return directive('done');
    };
    const w = world({ advance });
    start(w.engine);
    // At most 2 + 6 + 18 + 54 s of delay.
    await w.clock.advance(80 * SECOND);
    expect(w.advanced).toHaveLength(5);
    expect(endOf(w)).toEqual(succeeded(1));
  });

  test('… the fifth failure ends the supervisor badly, which reconcile sees', async () => {
    const advance = (): never => {
      throw named('Lambda.Unknown');
    };
    const w = world({ advance });
    start(w.engine);
    await w.clock.advance(80 * SECOND);
    expect(w.advanced).toHaveLength(5);
    expect(endOf(w)).toEqual({ status: 'FAILED', output: undefined, error: 'Lambda.Unknown' });
  });

  test('AssertionFailed ends it at once', async () => {
    const advance = (): never => {
      throw named('AssertionFailed', 'cannot be');
    };
    const w = world({ advance });
    start(w.engine);
    await w.clock.settle();
    expect(w.advanced).toHaveLength(1);
    expect(endOf(w)).toEqual({ status: 'FAILED', output: undefined, error: 'AssertionFailed' });
  });

  test.each([['pause'], [undefined]])('a directive of %s ends it visibly', async (next) => {
    const w = world({ advance: () => ({ ...directive('done'), next }) });
    start(w.engine);
    await w.clock.settle();
    expect(endOf(w)).toEqual({ status: 'FAILED', output: undefined, error: 'States.NoChoiceMatched' });
  });

  test('an Advance that never answers is tried again after its limit', async () => {
    const w = world({ advance: (call) => (call === 0 ? new Promise(() => {}) : directive('done')) });
    start(w.engine);
    await w.clock.advance(164 * SECOND);
    expect(w.advanced).toHaveLength(1);
    await w.clock.advance(3 * SECOND);
    expect(endOf(w)).toEqual(succeeded(1));
  });
});

describe('continuing', () => {
  test('again goes straight back, without parking', async () => {
    const w = world({ advance: (call) => (call < 5 ? directive('again') : directive('done')) });
    start(w.engine);
    await w.clock.settle();
    expect(w.parked).toEqual([]);
    expect(w.advanced.map(({ loops }) => loops)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(endOf(w)).toEqual(succeeded(6));
  });

  test('P2.8 continue as new: one successor, same bytes, counting loops anew', async () => {
    const w = world({ advance: (call) => (call === 0 ? directive('continue_as_new') : directive('await')) });
    start(w.engine);
    await w.clock.settle();
    expect(endOf(w)).toEqual(succeeded(1));
    expect(w.engine.describeExecution('j1-2')).toMatchObject({ status: 'RUNNING', input: inputOf('j1', 2) });
    expect(w.advanced[1]).toMatchObject({ generation: 2, loops: 0 });
    expect(() => start(w.engine, 'j1', 2)).not.toThrow();
  });

  test('P2.8 a successor that runs already, or ended already, is success', async () => {
    for (const first of ['running', 'ended'] as const) {
      const w = world({ advance: (call) => (call === 0 ? directive('await') : directive('continue_as_new')) });
      start(w.engine, 'j1', 2);
      await w.clock.settle();
      if (first === 'ended') w.engine.stopExecution('j1-2');
      start(w.engine, 'j1', 1);
      await w.clock.settle();
      expect(w.engine.describeExecution('j1-1').status).toBe('SUCCEEDED');
      expect(w.engine.listExecutions()).toHaveLength(2);
    }
  });

  test('a start that fails is repeated; a lost answer meets its own successor', async () => {
    let calls = 0;
    const w = world(
      { advance: (call) => (call === 0 ? directive('continue_as_new') : directive('await')) },
      {
        aroundStart: async (_request, go) => {
          calls += 1;
          if (calls === 1) throw named('StepFunctions.ThrottlingException');
          const started = go();
          if (calls === 2) throw named('StepFunctions.SdkClientException', 'the answer was lost');
          return started;
        },
      },
    );
    start(w.engine);
    await w.clock.advance(10 * SECOND);
    expect(calls).toBe(3);
    expect(endOf(w)).toEqual(succeeded(1));
    expect(w.engine.describeExecution('j1-2').status).toBe('RUNNING');
  });

  test('the execution ends by its own limit of 315 d, long before the year of AWS', async () => {
    const w = world({ advance: () => directive('await', { seconds: 12 * 3600 }) });
    start(w.engine);
    await w.clock.advance(315 * 24 * HOUR);
    expect(endOf(w)).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout' });
    expect(w.clock.pending()).toBe(0);
  });
});

describe('what a loop costs', () => {
  const advance: HistoryEventType[] = ['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded', 'TaskStateExited'];
  const route: HistoryEventType[] = ['ChoiceStateEntered', 'ChoiceStateExited'];
  const park = (end: HistoryEventType): HistoryEventType[] => [
    'TaskStateEntered',
    'TaskScheduled',
    'TaskStarted',
    'TaskSubmitted',
    end,
    'TaskStateExited',
  ];

  test.each<[string, HistoryEventType]>([
    ['woken', 'TaskSucceeded'],
    ['timed out', 'TaskTimedOut'],
  ])('13 events and 3 transitions when %s', async (_how, end) => {
    const w = world({ advance: until(1) });
    const name = start(w.engine);
    await w.clock.settle();
    if (end === 'TaskSucceeded') w.engine.sendTaskSuccess(w.parked[0]!.token, '{}');
    await w.clock.advance(HOUR);
    const types = w.engine.history(name).map(({ type }) => type);
    const loop = [...advance, ...route, ...park(end)];
    expect(loop).toHaveLength(13);
    expect(loop.filter((type) => type.endsWith('StateEntered'))).toHaveLength(3);
    expect(types.slice(0, 14)).toEqual(['ExecutionStarted', ...loop]);
    expect(types.slice(14)).toEqual([...advance, ...route, 'SucceedStateEntered', 'SucceedStateExited', 'ExecutionSucceeded']);
  });

  test('S13 the 1,500 loops after which Advance continues as new stay under the cap', async () => {
    const w = world({ advance: until(1500) });
    const name = start(w.engine);
    await w.clock.advance(1501 * HOUR);
    expect(endOf(w)).toEqual(succeeded(1501));
    expect(w.engine.describeExecution(name).eventCount).toBe(1 + 13 * 1500 + 5 + 2 + 2 + 1);
    expect(13 * 1500).toBeLessThan(25_000 * 0.8);
  });
});

describe('losing an execution', () => {
  test('P2.8 stopped: reported, its token dead, nothing left behind', async () => {
    const w = world({ advance: until(9) });
    const name = start(w.engine);
    await w.clock.settle();
    w.engine.stopExecution(name, 'Operator', 'maintenance');
    expect(w.ended).toMatchObject([{ name, status: 'ABORTED', error: 'Operator', cause: 'maintenance' }]);
    expect(() => w.engine.sendTaskSuccess(w.parked[0]!.token, '{}')).toThrow(expect.objectContaining({ name: 'TaskTimedOut' }));
    expect(w.clock.pending()).toBe(0);
  });

  test('killed: no trace, no report, and the next generation starts', async () => {
    const w = world({ advance: until(9) });
    const name = start(w.engine);
    await w.clock.settle();
    expect(w.engine.kill(name)).toBe(true);
    await w.clock.advance(HOUR);
    expect(w.ended).toEqual([]);
    expect(w.clock.pending()).toBe(0);
    expect(() => w.engine.describeExecution(name)).toThrow(expect.objectContaining({ name: 'ExecutionDoesNotExist' }));
    start(w.engine, 'j1', 2);
    await w.clock.settle();
    expect(w.parked).toHaveLength(2);
  });
});
