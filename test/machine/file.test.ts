import validate from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { loadMachine } from '../../lib/local/engine/load.ts';
import { definition, substitutions } from './world.ts';

interface RawState {
  Type: string;
  TimeoutSeconds?: number | string;
  HeartbeatSeconds?: number;
  Retry?: { ErrorEquals: string[]; MaxAttempts: number }[];
}

const states = definition['States'] as Record<string, RawState>;
const waits = ['AwaitWake', 'AwaitAnswer'];

describe('the supervisor machine file', () => {
  test('passes the validator of the language', () => {
    // The validator writes into what it checks.
    const result = validate(structuredClone(definition));
    expect(result.errorsText()).toBe('');
    expect(result.isValid).toBe(true);
  });

  test('loads: nothing in it is beyond the engine', () => {
    const machine = loadMachine(definition, substitutions, new Set(['advance', 'park']));
    expect([...machine.states.keys()]).toEqual(['Advance', 'Route', 'AwaitWake', 'AwaitAnswer', 'ContinueAsNew', 'Done']);
  });

  test('every wait has a time limit, and so has the execution', () => {
    for (const [name, state] of Object.entries(states)) {
      if (state.Type === 'Task') expect(state.TimeoutSeconds, name).toBeDefined();
    }
    // Later than continuing as new at 300 d plus the longest wait, earlier than the year after which AWS ends any execution.
    expect(definition['TimeoutSeconds']).toBeGreaterThan((300 + 4) * 86_400);
    expect(definition['TimeoutSeconds']).toBeLessThan(365 * 86_400);
  });

  test("Advance's limit is a little more than its function's 150 s, so that the function's own end is seen first", () => {
    expect(states['Advance']?.TimeoutSeconds).toBeGreaterThan(150);
    expect(states['Advance']?.TimeoutSeconds).toBeLessThan(180);
  });

  test.each(waits)('%s has no heartbeat: neither a person nor a poll sends one', (name) => {
    expect(states[name]?.HeartbeatSeconds).toBeUndefined();
  });

  test.each(waits)('%s never retries a time-out: a retry would wait again without deciding again', (name) => {
    for (const retrier of states[name]?.Retry ?? []) {
      for (const wide of ['States.ALL', 'States.Timeout', 'States.HeartbeatTimeout']) expect(retrier.ErrorEquals).not.toContain(wide);
    }
  });

  test('AwaitAnswer parks exactly as AwaitWake does, but for the question', () => {
    const {
      Comment: _wake,
      Output: _none,
      ...wake
    } = structuredClone(definition['States'] as Record<string, Record<string, unknown>>)['AwaitWake']!;
    const {
      Comment: _answer,
      Output: _value,
      ...answer
    } = structuredClone(definition['States'] as Record<string, Record<string, unknown>>)['AwaitAnswer']!;
    const text = (state: unknown): string =>
      JSON.stringify(state, (key, value: unknown) => (key === 'Comment' || key === 'question' ? undefined : value));
    expect(text(answer)).toBe(text(wake));
  });
});
