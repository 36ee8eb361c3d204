/** Every row of the table, state by state: what each state calls with, leaves with and where it goes. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../lib/local/engine/json.ts';
import { loadMachine } from '../../lib/local/engine/load.ts';
import { runState, type StateReport } from '../../lib/local/engine/run-state.ts';
import { idle, lambda, type Row, rows } from './rows.ts';
import { definition, directive, substitutions } from './world.ts';

const machine = loadMachine(definition, substitutions);
const context = {
  Execution: { Input: { answer: {}, generation: 3, job: 'j1', loops: 0 }, Name: 'j1-3', StartTime: '2026-01-01T00:00:00.000Z' },
  State: { EnteredTime: '2026-01-02T00:00:00.000Z', RetryCount: 2 },
  StateMachine: { Id: 'arn:machine' },
  Task: { Token: 'T' },
};

function report(row: Row): Promise<StateReport> {
  const { next = 'await', question = '', seconds = 3600 } = row;
  return runState({
    machine,
    state: row.state,
    input: row.input ?? idle,
    variables: { directive: { ...directive(next, { question, seconds }) } },
    context,
    ...(row.mock === undefined ? {} : { mock: row.mock }),
    ...(row.retried === undefined ? {} : { retrierRetryCount: row.retried }),
  });
}

describe.each(Object.entries(rows))('%s', (_group, group) => {
  test.each(group)('$state: $title', async (row) => {
    const seen = await report(row);
    expect(seen).toMatchObject(row.expected);
    if (row.expected.next === undefined) expect(seen.next).toBeUndefined();
    if (row.expected.output !== undefined) expect(JSON.stringify(seen.output)).toBe(JSON.stringify(row.expected.output));
  });
});

test('the rows take every arrow of the file', () => {
  const taken = new Set(
    Object.values(rows)
      .flat()
      .filter(({ expected }) => expected.next !== undefined)
      .map(({ state, expected }) => `${state} → ${expected.next}`),
  );
  const arrows = new Set<string>();
  for (const state of machine.states.values()) {
    const exits = state.type === 'Choice' ? state.rules : state.type === 'Task' ? [state.exit, ...state.catchers] : [];
    for (const { next } of exits) arrows.add(`${state.name} → ${next}`);
  }
  expect([...taken].sort()).toEqual([...arrows].sort());
});

test('P2.5 whatever JSON a person sends reaches Advance unchanged and kills nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (answer) => {
      const value = JSON.parse(JSON.stringify(answer)) as Json;
      const seen = await report({ title: '', state: 'AwaitAnswer', question: 'q', mock: { result: value }, expected: {} });
      expect(seen.output).toEqual({ loops: 4, answer: { question: 'q', value } });
      const handed = await report({ title: '', state: 'Advance', input: seen.output!, mock: lambda(directive('done')), expected: {} });
      expect(handed.arguments?.['Payload']).toMatchObject({ answer: { question: 'q', value } });
    }),
    { numRuns: 300, seed: 7 },
  );
});
