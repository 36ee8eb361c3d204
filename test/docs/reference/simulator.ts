/** Tables of docs/simulator.md: the mutants of dispatch, the rules that have none, and what became of the models' counterexamples. */
import { COUNTEREXAMPLES } from '../../sim/models.ts';
import { MUTANTS } from '../../sim/mutants.ts';
import { OUT_OF_REACH } from '../../sim/out-of-reach.ts';
import { code, codes, table } from './markdown.ts';

const byRule = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

export const mutants = (): string =>
  table(
    ['mutant', 'rule', 'what it leaves out'],
    MUTANTS.map(({ name, without }): [string, string, string] => {
      const [rule, ...said] = without.split(': ');
      return [code(name), rule!, said.join(': ')];
    }).toSorted(([, a], [, b]) => byRule(a, b)),
  );

export const outOfReach = (): string => table(['rule', 'why'], Object.entries(OUT_OF_REACH));

export const models = (): string =>
  table(
    ['model', 'counterexample', 'mutant, or why there is none'],
    COUNTEREXAMPLES.map(({ model, trace, mutants: names, why }) => [code(model), trace, why ?? codes(names)]),
  );
