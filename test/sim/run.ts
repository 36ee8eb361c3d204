/**
 * The simulator's command line.
 *
 *   npm run sim                                   200 worlds, and what they met
 *   npm run sim -- --seed 42 [--trace] [--stop-at N] [--without kind,…]
 *   npm run sim -- --seeds 1000 [--from 1] [--mutant NAME] [--first]   --first stops at the first that breaks
 *   npm run sim:mutants [-- --seeds 2000]         what each mutant is caught by
 *
 * Exit code 1 when a world broke, or when a mutant survived.
 */
import { parseArgs } from 'node:util';
import { MUTANTS, type Mutant } from './mutants.ts';
import { createReport } from './report.ts';
import { shrink } from './shrink.ts';
import { type Ran, runWorld } from './world.ts';

const TRACE_TAIL = 120;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    'stop-at': { type: 'string' },
    without: { type: 'string' },
    mutant: { type: 'string' },
    mutants: { type: 'boolean' },
    trace: { type: 'boolean' },
    shrink: { type: 'boolean' },
    first: { type: 'boolean' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const wholeNumber = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a whole number: ${text}`);
  return value;
};

const mutantNamed = (name: string): Mutant => {
  const mutant = MUTANTS.find((one) => one.name === name);
  if (!mutant) throw new Error(`no mutant ${name}; there are: ${MUTANTS.map((one) => one.name).join(', ')}`);
  return mutant;
};

const replayOf = (seed: number, mutant: Mutant | undefined): string =>
  `npm run sim -- --seed ${seed}${mutant ? ` --mutant ${mutant.name}` : ''}`;

const one = async (seed: number, mutant: Mutant | undefined): Promise<boolean> => {
  const without = new Set(values.without?.split(',') ?? []);
  const stopAt = values['stop-at'] === undefined ? {} : { stopAt: wholeNumber(values['stop-at'], 0) };
  const ran = await runWorld({ seed, trace: true, without, ...stopAt, ...(mutant ? { mutant } : {}) });
  const lines = values.trace ? ran.trace : ran.broken || stopAt.stopAt ? ran.trace.slice(-TRACE_TAIL) : [];
  for (const line of lines) say(line);
  if (ran.dump) say(JSON.stringify(ran.dump, null, 1));
  say(JSON.stringify({ ...briefly(ran), faults: Object.fromEntries(ran.faults), reached: Object.fromEntries(ran.reached) }, null, 1));
  if (ran.broken && values.shrink) say(JSON.stringify(await shrink({ seed, ...(mutant ? { mutant } : {}) }, ran)));
  return ran.broken === undefined;
};

const briefly = ({ seed, steps, virtualSeconds, broken }: Ran) => ({ seed, steps, virtualSeconds, ...(broken ? { broken } : {}) });

const many = async (from: number, most: number, mutant: Mutant | undefined): Promise<boolean> => {
  const report = createReport();
  let seeds = 0;
  const begun = performance.now();
  for (let seed = from; seed < from + most; seed++) {
    const ran = await runWorld({ seed, ...(mutant ? { mutant } : {}) });
    seeds += 1;
    report.add(ran);
    if (ran.broken) say(JSON.stringify({ ...briefly(ran), replay: replayOf(seed, mutant) }));
    if (ran.broken && values.first) break;
  }
  const seconds = (performance.now() - begun) / 1000;
  const all = report.report();
  say(
    JSON.stringify({ ...all, seconds: Math.round(seconds * 10) / 10, worldsPerSecond: Math.round((seeds / seconds) * 10) / 10 }, null, 1),
  );
  return all.broken === 0;
};

const everyMutant = async (from: number, seeds: number): Promise<boolean> => {
  let survivors = 0;
  say(`${'mutant'.padEnd(26)} ${'seeds'.padStart(6)}  caught by`);
  for (const mutant of MUTANTS) {
    const caught = await firstCaught(mutant, from, seeds);
    if (!caught) survivors += 1;
    const by = caught ? `${caught.broken?.invariant}: ${caught.broken?.says.slice(0, 110)} (seed ${caught.seed})` : 'SURVIVED';
    say(`${mutant.name.padEnd(26)} ${String(caught ? caught.seed - from + 1 : seeds).padStart(6)}  ${by}`);
  }
  return survivors === 0;
};

const firstCaught = async (mutant: Mutant, from: number, seeds: number): Promise<Ran | undefined> => {
  for (let seed = from; seed < from + seeds; seed++) {
    const ran = await runWorld({ seed, mutant });
    if (ran.broken) return ran;
  }
  return undefined;
};

const mutant = values.mutant === undefined ? undefined : mutantNamed(values.mutant);
const from = wholeNumber(values.from, 1);
const well = values.mutants
  ? await everyMutant(from, wholeNumber(values.seeds, 2000))
  : values.seed !== undefined
    ? await one(wholeNumber(values.seed, 0), mutant)
    : await many(from, wholeNumber(values.seeds, 200), mutant);
process.exitCode = well ? 0 : 1;
