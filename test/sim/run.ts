/**
 * The simulator's command line.
 *
 *   npm run sim                                   200 worlds, and what they met
 *   npm run sim -- --seed 42 [--trace] [--stop-at N] [--without kind,…] [--jobs N] [--whole]
 *   npm run sim -- --seeds 1000 [--from 1] [--for SECONDS] [--mutant NAME] [--first]   --first stops at the first that breaks
 *   npm run sim -- --fresh --for 60               seeds that nobody ran before
 *   npm run sim -- --kind two|attempts|year       long and strange worlds (kind.ts)
 *   npm run sim -- --store dynamodb --seeds 3     both stores in step, the one on dynalite
 *
 * The first worlds that break are shrunk, each for a minute at most; not with `--whole`.
 * Exit code 1 when a world broke, or when 1,000 default worlds did not meet and reach everything.
 */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KIND_NAMES, type KindName } from './kind-name.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { mutate } from './mutate.ts';
import type { WorldOptions } from './stage.ts';
import type { Ran } from './world.ts';

const TRACE_TAIL = 120;
/** Of worlds that break: so many are shrunk, and each for so long. */
const MOST_SHRUNK = 3;
const SHRINK_MS = 60_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    fresh: { type: 'boolean' },
    for: { type: 'string' },
    kind: { type: 'string' },
    jobs: { type: 'string' },
    store: { type: 'string' },
    'stop-at': { type: 'string' },
    without: { type: 'string' },
    mutant: { type: 'string' },
    trace: { type: 'boolean' },
    whole: { type: 'boolean' },
    first: { type: 'boolean' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const wholeNumber = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a whole number: ${text}`);
  return value;
};

const oneOf = <T extends string>(text: string | undefined, names: readonly T[]): T | undefined => {
  const name = names.find((one) => one === text);
  if (text !== undefined && name === undefined) throw new Error(`no ${text}; there are: ${names.join(', ')}`);
  return name;
};

const mutantNamed = (name: string | undefined): Mutant | undefined => {
  const known = oneOf(
    name,
    MUTANTS.map((one) => one.name),
  );
  return MUTANTS.find((one) => one.name === known);
};

const kind: KindName | undefined = oneOf(values.kind, KIND_NAMES);
const store = oneOf(values.store, ['memory', 'dynamodb']);
const mutant = mutantNamed(values.mutant);
const chosen = {
  ...(kind ? { kind } : {}),
  ...(mutant ? { mutant } : {}),
};

const replayOf = (seed: number): string =>
  [
    `npm run sim -- --seed ${seed}`,
    ...(kind ? [`--kind ${kind}`] : []),
    ...(mutant ? [`--mutant ${mutant.name}`] : []),
    ...(store ? [`--store ${store}`] : []),
  ].join(' ');

const briefly = ({ seed, steps, virtualSeconds, broken }: Ran) => ({ seed, steps, virtualSeconds, ...(broken ? { broken } : {}) });

// What loads production code is loaded now that the mutant is known: some mutants change a line of it.
if (mutant?.source) mutate(mutant.source);
const { runWorld } = await import('./world.ts');
const { shrink } = await import('./shrink.ts');

const shrunk = async (options: WorldOptions, ran: Ran): Promise<void> => {
  const untilMs = performance.now() + SHRINK_MS;
  const { without, jobs, ...found } = await shrink({ ...options, trace: false }, ran, () => performance.now() < untilMs);
  const fewer = [...(without === '' ? [] : [`--without ${without}`]), ...(jobs === undefined ? [] : [`--jobs ${jobs}`])];
  say(JSON.stringify({ shrunk: found, replay: [replayOf(ran.seed), ...fewer].join(' ') }));
};

const one = async (seed: number, twin: WorldOptions['twin']): Promise<boolean> => {
  const options: WorldOptions = {
    ...{ ...chosen, seed, trace: true, without: new Set(values.without?.split(',') ?? []) },
    ...(values['stop-at'] === undefined ? {} : { stopAt: wholeNumber(values['stop-at'], 0) }),
    ...(values.jobs === undefined ? {} : { jobs: wholeNumber(values.jobs, 1) }),
    ...(twin ? { twin } : {}),
  };
  const ran = await runWorld(options);
  const lines = values.trace || options.stopAt !== undefined ? ran.trace : ran.broken ? ran.trace.slice(-TRACE_TAIL) : [];
  for (const line of lines) say(line);
  if (ran.dump) say(JSON.stringify(ran.dump, null, 1));
  say(JSON.stringify({ ...briefly(ran), faults: Object.fromEntries(ran.faults), reached: Object.fromEntries(ran.reached) }, null, 1));
  if (ran.broken && !values.whole) await shrunk(options, ran);
  return ran.broken === undefined;
};

const many = async (twin: WorldOptions['twin']): Promise<boolean> => {
  const { runMany } = await import('./many.ts');
  // Memory that is only waiting to be collected says nothing of what worlds leave behind.
  setFlagsFromString('--expose-gc');
  globalThis.gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  const from = values.fresh ? Math.floor(Math.random() * 2 ** 31) : wholeNumber(values.from, 1);
  if (values.fresh) say(`fresh seeds from ${from}`);
  const seeds = wholeNumber(values.seeds, values.for === undefined ? 200 : 1_000_000);
  const broken: Ran[] = [];
  const { report, well } = await runMany({
    ...{ ...chosen, from, seeds, first: values.first === true || values.fresh === true, tell: say },
    ...(values.for === undefined ? {} : { forSeconds: wholeNumber(values.for, 0) }),
    ...(twin ? { twin } : {}),
    broke: (ran) => {
      broken.push(ran);
      say(JSON.stringify({ ...briefly(ran), replay: replayOf(ran.seed) }));
    },
  });
  const withTwin = twin ? { twin } : {};
  if (!values.whole) for (const ran of broken.slice(0, MOST_SHRUNK)) await shrunk({ ...chosen, ...withTwin, seed: ran.seed }, ran);
  say(JSON.stringify(report, null, 1));
  if (values.fresh) say(`${report.worlds - report.broken} passed, ${report.broken} failed`);
  return well;
};

const within = async (work: (twin: WorldOptions['twin']) => Promise<boolean>): Promise<boolean> => {
  if (store !== 'dynamodb') return work(undefined);
  const { startTwins } = await import('./twin.ts');
  const twins = await startTwins();
  try {
    return await work(twins.twin);
  } finally {
    await twins.close();
  }
};

const well = await within((twin) => (values.seed === undefined ? many(twin) : one(wholeNumber(values.seed, 0), twin)));
process.exitCode = well ? 0 : 1;
