/**
 * One mutant in a process of its own: `node test/sim/mutant-run.ts NAME FROM SEEDS`. Prints one line of JSON: the first seed whose world
 * broke and by which invariant, or none.
 */
import { MUTANTS } from './mutants.ts';
import { mutate } from './mutate.ts';

const [name, from = '1', seeds = '2000'] = process.argv.slice(2);
const mutant = MUTANTS.find((one) => one.name === name);
if (!mutant) throw new Error(`no mutant ${name}; there are: ${MUTANTS.map((one) => one.name).join(', ')}`);
if (mutant.source) mutate(mutant.source);
const { runWorld } = await import('./world.ts');

const said = async (): Promise<object> => {
  for (let seed = Number(from); seed < Number(from) + Number(seeds); seed++) {
    const { broken } = await runWorld({ seed, mutant });
    if (broken) return { seed, worlds: seed - Number(from) + 1, ...broken };
  }
  return { worlds: Number(seeds) };
};
process.stdout.write(`${JSON.stringify(await said())}\n`);
