/**
 * One mutant in a process of its own: `node test/sim/mutant-run.ts NAME FROM SEEDS`. Prints one line of JSON: the first seed whose world
 * broke by an invariant, and by which; else the first that dispatch itself gave up on, said as such; else none.
 */
import { MUTANTS } from './mutants.ts';
import { mutate } from './mutate.ts';

const [name, from = '1', seeds = '2000'] = process.argv.slice(2);
const mutant = MUTANTS.find((one) => one.name === name);
if (!mutant) throw new Error(`no mutant ${name}; there are: ${MUTANTS.map((one) => one.name).join(', ')}`);
if (mutant.source) mutate(mutant.source);
const { runWorld } = await import('./world.ts');

/** So many more worlds may find the invariant, once one was broken by what dispatch itself asserts, or throws. */
const MORE = 200;
const BY_ITSELF = new Set<string>(['assertion', 'error']);

const said = async (): Promise<object> => {
  let last = Number(from) + Number(seeds);
  let byItself: object | undefined;
  for (let seed = Number(from); seed < last; seed++) {
    const { broken } = await runWorld({ seed, mutant });
    if (!broken) continue;
    const caught = { seed, worlds: seed - Number(from) + 1, ...broken };
    if (!BY_ITSELF.has(broken.invariant)) return caught;
    if (!byItself) last = Math.min(last, seed + MORE);
    byItself ??= { ...caught, says: `by dispatch's own ${broken.invariant}, and by no invariant: ${broken.says}` };
  }
  return byItself ?? { worlds: Number(seeds) };
};
process.stdout.write(`${JSON.stringify(await said())}\n`);
