/**
 * functions: how much code each deployed function is, how much of it is read before its first call, how long that takes in a fresh
 * process, and how long a first answer takes (a cold start without what the platform adds). Against the two AWS clients alone: as one
 * file, as the bundler makes it unless told otherwise, and bundled as the functions are.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOORS, type DoorName, type FunctionName } from '../../lib/aws/doors.ts';
import { ALIKE, type Bundled, bundleEach, CLUSTERS, PLAIN } from './bundled.ts';
import { commitItem } from './item.ts';
import { live } from './life.ts';
import { type Measure, median, tell } from './measure.ts';
import { headItems } from './quiet-heads.ts';
import { startTable } from './table.ts';

const TURNS = 7;
const CALLER = 'arn:aws:iam::111122223333:user/bench';

const folder = await mkdtemp(join(tmpdir(), 'dispatch-bench-'));
const table = await startTable();
const IMPORT = new URL('./bundled-import.ts', import.meta.url);

interface Took {
  readonly loadedMs: number;
  readonly answeredMs: number;
}

/** The environment of a deployed function; its clients find the table where the platform's own variables say. */
const environment = (config: string, job: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any', AWS_ENDPOINT_URL_DYNAMODB: table.endpoint },
  ...{ DISPATCH_TAG: '0bch', DISPATCH_CONFIG: config, DISPATCH_TABLE: table.table, DISPATCH_BUS: 'bench', DISPATCH_LOG_LEVEL: 'ERROR' },
  DISPATCH_MACHINE_ARN: 'arn:aws:states:us-east-1:111122223333:stateMachine:bench',
  DISPATCH_CALLERS: JSON.stringify([{ arn: CALLER, scopes: ['read', 'operate'] }]),
  ...{ BENCH_JOB: job, BENCH_CALLER: CALLER },
});

const fresh = async (entry: string, env: NodeJS.ProcessEnv, call: boolean): Promise<Took> => {
  const child = fork(IMPORT, [entry, ...(call ? ['call'] : [])], { env, stdio: ['ignore', 'ignore', 2, 'ipc'], timeout: 20_000 });
  const ended = once(child, 'exit');
  const said = await Promise.race([once(child, 'message') as Promise<[Took]>, ended.then(() => undefined)]);
  await ended;
  if (!said) throw new Error(`${entry} was not loaded`);
  return said[0];
};

/** Each in turn, so that what else the machine does hits all alike; medians. */
const rounds = async (some: readonly Bundled[], env: NodeJS.ProcessEnv, call: boolean): Promise<ReadonlyMap<string, number>> => {
  const took = new Map<string, number[]>(some.map(({ name }) => [name, []]));
  for (let turn = 0; turn < TURNS; turn++)
    for (const { name, entry } of some) {
      const { loadedMs, answeredMs } = await fresh(entry, env, call);
      took.get(name)!.push(call ? answeredMs : loadedMs);
    }
  return new Map([...took].map(([name, ms]) => [name, median(ms)]));
};

const all = bundleEach(folder);
const named = (name: string): Bundled => all.find((one) => one.name === name)!;
const { commits } = await live();
const heads = await headItems();
const job = (heads[0]!['pk']!.S ?? '').replace('JOB#', '');
await table.seed([heads[0]!, ...commits.slice(0, 9).map((commit) => commitItem({ ...commit, job }))]);
const config = join(folder, 'clusters.json');
await writeFile(config, CLUSTERS);
const env = environment(config, job);
const loads = await rounds(all, env, false);
const firsts = await rounds([named(PLAIN), named(ALIKE), named('jobs')], env, true);
table.close();
await rm(folder, { recursive: true, force: true });

const KIB = 1024;
const size = (name: string): number => named(name).firstBytes;
const load = (name: string): number => loads.get(name)!;
const told = all.flatMap(({ name, bytes, firstBytes }): Measure[] => [
  { name: `${name}: code, KiB`, value: bytes / KIB },
  { name: `${name}: read before the first call, KiB`, value: firstBytes / KIB },
  { name: `${name}: import, ms`, value: load(name) },
]);

/** Of the largest of them. */
const sizeOf = (names: readonly FunctionName[], base: string): number => Math.max(...names.map(size)) / size(base);
/** Of them together, since doors differ by less than a measurement does. */
const loadOf = (names: readonly FunctionName[], base: string): number => median(names.map(load)) / load(base);
const api = (Object.keys(DOORS) as DoorName[]).filter((name) => name !== 'document');
const workers = ['advance', 'park', 'poll', 'reconcile', 'preflight'] as const;

tell([
  ...told,
  { name: "the API's size, in the two clients", value: sizeOf(api, PLAIN), bound: { atMost: 1.3 } },
  { name: "the API's import, in the two clients", value: loadOf(api, PLAIN), bound: { atMost: 1.3 } },
  { name: "the API's size, in the two clients bundled alike", value: sizeOf(api, ALIKE), bound: { atMost: 2.8 } },
  { name: "the API's import, in the two clients bundled alike", value: loadOf(api, ALIKE), bound: { atMost: 3.6 } },
  { name: "the workers' size, in the two clients", value: sizeOf(workers, PLAIN), bound: { atMost: 1.3 } },
  { name: "the workers' import, in the two clients", value: loadOf(workers, PLAIN), bound: { atMost: 1.3 } },
  { name: "the document's size, in the two clients", value: sizeOf(['document'], PLAIN), bound: { atMost: 2 } },
  { name: "the document's import, in the two clients", value: loadOf(['document'], PLAIN), bound: { atMost: 2 } },
  { name: 'the two clients: first Query after, ms', value: firsts.get(PLAIN)! },
  { name: 'the two clients bundled alike: first Query after, ms', value: firsts.get(ALIKE)! },
  { name: 'jobs: first status after, ms', value: firsts.get('jobs')! },
  { name: 'first status, in first Queries of the two clients', value: firsts.get('jobs')! / firsts.get(PLAIN)!, bound: { atMost: 2 } },
]);
