/**
 * The table of mutants: `npm run sim:mutants [-- NAME…] [--seeds 2000] [--from 1]`. Each runs in a process of its own until an invariant
 * catches it; as many at a time as there are processors. Exit code 1 when one survived: a hole in the simulator.
 */
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs, promisify } from 'node:util';
import { MUTANTS, type Mutant } from './mutants.ts';

export interface Caught {
  readonly worlds: number;
  readonly seed?: number;
  readonly invariant?: string;
  readonly says?: string;
}

/** A mutant may turn in circles: then its process is ended, and that counts as survived. */
const LIMIT_MS = 15 * 60_000;

export const runMutant = async (name: string, from: number, seeds: number): Promise<Caught> => {
  const args = [`${import.meta.dirname}/mutant-run.ts`, name, String(from), String(seeds)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: LIMIT_MS, maxBuffer: 1 << 20 });
  return JSON.parse(stdout) as Caught;
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seeds: { type: 'string', default: '2000' }, from: { type: 'string', default: '1' } },
  });
  const [seeds, from] = [Number(values.seeds), Number(values.from)];
  const unknown = positionals.filter((name) => !MUTANTS.some((one) => one.name === name));
  if (unknown.length > 0 || ![seeds, from].every(Number.isSafeInteger)) {
    process.stderr.write(`usage: npm run sim:mutants [-- NAME…] [--seeds N] [--from N]; unknown: ${unknown.join(' ') || 'number'}\n`);
    return 2;
  }
  const chosen = positionals.length > 0 ? MUTANTS.filter((one) => positionals.includes(one.name)) : MUTANTS;
  const width = Math.max(...chosen.map((one) => one.name.length));
  let survivors = 0;
  const queue = [...chosen];
  const work = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) if (!(await told(mutant))) survivors++;
  };
  const told = async ({ name, without }: Mutant): Promise<boolean> => {
    const { worlds, seed, invariant, says } = await runMutant(name, from, seeds);
    const by = seed === undefined ? 'SURVIVED' : `${invariant} (seed ${seed}): ${says?.slice(0, 120)}`;
    process.stdout.write(`${name.padEnd(width)} ${String(worlds).padStart(5)}  ${without.split(':')[0]!.padEnd(5)} ${by}\n`);
    return seed !== undefined;
  };
  process.stdout.write(`${'mutant'.padEnd(width)} ${'seeds'.padStart(5)}  rule  caught by\n`);
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  process.stdout.write(`${chosen.length - survivors} caught, ${survivors} survived\n`);
  return survivors === 0 ? 0 : 1;
};

if (import.meta.main) process.exitCode = await main();
