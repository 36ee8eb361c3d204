/** Mutants stay what they say while the code around them changes, and leave no numbered rule without one. */
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { COUNTEREXAMPLES } from './models.ts';
import { MUTANTS } from './mutants.ts';
import { runMutant } from './mutants-run.ts';
import { changed } from './mutate.ts';
import { OUT_OF_REACH } from './out-of-reach.ts';

/** The numbered rules of the protocols. */
const RULES = [
  ...['P1.1', 'P1.2', 'P1.3', 'P1.4', 'P1.5', 'P1.6'],
  ...['P2.1', 'P2.2', 'P2.3', 'P2.4', 'P2.5', 'P2.6', 'P2.7', 'P2.8', 'P2.9'],
  ...['P3.1', 'P3.2', 'P3.3', 'P3.4', 'P3.5', 'P3.6'],
  ...['P4.1', 'P4.2', 'P4.3', 'P4.4', 'P4.5', 'P4.6', 'P4.7'],
  ...['P5.1', 'P5.2', 'P5.3', 'P5.4', 'P5.5', 'P5.6', 'P5.7', 'P5.8'],
  ...['P6.1', 'P6.2', 'P6.3', 'P6.4', 'P7', 'P8.1', 'P8.2', 'P8.3', 'P8.4', 'P9'],
];

const QUICK = ['release-unintended', 'token-never-taken', 'ended-without-stop', 'cancel-unintended', 'unknown-counts-as-gone'];
const QUICK_SEEDS = 60;

describe('mutants', () => {
  it.each(MUTANTS.flatMap(({ name, source }) => (source ? [{ name, source }] : [])))(
    '$name changes lines that are there, into code',
    ({ source }) => {
      for (const change of [source, source.also]) if (change) expect(() => stripTypeScriptTypes(changed(change))).not.toThrow();
    },
  );

  it('have names of their own', () => {
    expect(new Set(MUTANTS.map((one) => one.name)).size).toBe(MUTANTS.length);
  });

  it('leave no numbered rule without one, but those that no world can reach', () => {
    const taken = new Set(MUTANTS.map(({ without }) => without.split(':')[0]));
    expect(RULES.filter((rule) => !taken.has(rule))).toEqual(Object.keys(OUT_OF_REACH));
  });

  it('stand for every counterexample of the models, or it says why not', () => {
    const names = new Set(MUTANTS.map((one) => one.name));
    expect(COUNTEREXAMPLES.flatMap(({ mutants }) => mutants).filter((name) => !names.has(name))).toEqual([]);
    for (const { mutants, why } of COUNTEREXAMPLES) expect(mutants.length > 0).toBe(why === undefined);
  });

  it.each(QUICK)(`%s is caught within ${QUICK_SEEDS} seeds; npm run sim:mutants runs them all`, async (name) => {
    expect(await runMutant(name, 1, QUICK_SEEDS)).toMatchObject({ invariant: expect.stringMatching(/^[SL]\d/) });
  });
});
