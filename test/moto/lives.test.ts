/** Without moto: that nothing of the table is forgotten on the way to the second engine, and that people are told what differs there. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rows } from '../machine/rows.ts';
import { differences, fieldsKnown } from './differences.ts';
import { rowScenarios } from './from-rows.ts';
import { lives, notLived } from './lives.ts';
import { runOurs } from './our-engine.ts';

const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const scenarios = [...rowScenarios, ...lives];

describe('the scenarios for a second engine', () => {
  test('every life of test/machine is one of them, or is listed with the reason why not', () => {
    const told = [...lives, ...notLived].map(({ title }) => title);
    const titles = [...text('../machine/paths.test.ts').matchAll(/(?:\btest|\)|\])\(\s*(['"])(.+?)\1,/g)].map(([, , title]) => title!);
    expect(titles.length).toBeGreaterThanOrEqual(21);
    // `%s` of a table stands for one of its values, and `: ` begins what is varied.
    const isTold = (title: string) => {
      const [begin = '', end = ''] = title.split('%s');
      return told.some((one) => one.startsWith(begin) && (one.endsWith(end) || one.startsWith(`${title}: `)));
    };
    expect(titles.filter((title) => !isTold(title))).toEqual([]);
  });

  test('every row of test/machine is one of them, but for the heartbeats and the limits below a second', () => {
    const all = Object.values(rows).flat();
    expect(all.length - rowScenarios.length).toBe(2 + 4);
    expect(new Set(scenarios.map(({ title }) => title)).size).toBe(scenarios.length);
  });

  test.each(rowScenarios)('our engine goes where the row says: $title', async (scenario) => {
    const { expected, state } = scenario.row;
    const trace = await runOurs(scenario);
    if (expected.status === 'FAILED') expect(trace).toMatchObject({ status: 'FAILED', error: expected.error });
    else expect(trace.status).toBe('SUCCEEDED');
    const at = trace.states.indexOf(state);
    if (expected.next !== undefined) expect(trace.states[at + 1]).toBe(expected.next);
    if (expected.delayMs !== undefined) expect(trace.delaysSeconds.at(-1)).toBe(expected.delayMs / 1000);
  });

  test('each known difference names scenarios that there are, and the README tells it', () => {
    const readme = text('../../statemachines/README.md').replace(/\s+/g, ' ');
    for (const { what, source, cases } of differences) {
      expect(readme).toContain(what);
      expect(readme).toContain(source);
      for (const { title } of cases) expect(scenarios.map((one) => one.title)).toContain(title);
    }
    expect(fieldsKnown('AssertionFailed ends it at once')).toEqual([]);
  });
});
