/**
 * Run demo: the story on the memory cluster, or on a cluster of a configuration file, its record shown as it grows. Answers the
 * exit code: 0 only if the record says succeeded; 1 if it says anything else; 2 for a mistake in how it was called.
 * Everything outside (terminal, clock, environment) is handed in, so that a test runs the whole of it in no time.
 */
import { readFile } from 'node:fs/promises';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { planJob, sha256 } from '../app/plan-job.ts';
import { statusOf } from '../app/status.ts';
import { submitJob } from '../app/submit-job.ts';
import { type ClusterEntry, readConfiguration } from '../cluster/configuration.ts';
import { openCluster } from '../cluster/open.ts';
import type { Commit } from '../job/event.ts';
import { newTag, TAG } from '../job/identity.ts';
import { planText } from '../job/plan-text.ts';
import { fold, type View } from '../job/view.ts';
import { restartSentence, why } from '../job/why.ts';
import type { Clock } from '../local/clock.ts';
import { openStore } from '../local/store.ts';
import { createSystem, type System } from '../local/system.ts';
import { printable } from './printable.ts';
import { storySpec } from './story.ts';
import { tell } from './tell.ts';

export interface Surroundings {
  readonly clock: Clock;
  /** [0, 1). */
  readonly random: () => number;
  readonly environment: NodeJS.ProcessEnv;
  readonly out: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly dim: (text: string) => string;
  /** Where somebody watches: the line that says what goes on meanwhile. */
  readonly live?: () => Live;
}
export interface Live {
  text: string;
  clear(): void;
  stop(): void;
}

interface Options {
  readonly json: boolean;
  readonly cluster?: string;
  readonly config?: string;
  readonly login?: string;
  readonly partition?: string;
  readonly steps: number;
  readonly key?: string;
  readonly verbose: boolean;
}

/** A mistake of the caller: one line, exit 2, nothing started. */
class Mistake extends Error {}

const PRINCIPAL = 'demo';
/** How often the record is read for something new. */
const FOLLOW_MS = 100;

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 3600) throw new InvalidArgumentError('a whole number from 1 to 3600.');
  return value;
};

const commandOf = ({ out, warn }: Surroundings): Command =>
  new Command('demo')
    .description('A preempted job is classified, explained and resumed from its latest checkpoint.')
    .option('--json', 'print {plan, events, job} as JSON instead of telling', false)
    .option('--cluster <id>', 'a cluster of the configuration file (default: a memory cluster)')
    .option('--config <file>', 'configuration of clusters; see docs/configuration.md')
    .option('--login <id>', 'the login of that cluster to run under')
    .option('--partition <name>', 'the Slurm partition')
    .option('--steps <n>', 'training steps of the program on a real cluster, a second each', number, 30)
    .option('--key <text>', 'idempotency key: the same key carries the same job on')
    .option('--verbose', 'log what the handlers say to standard error', false)
    .configureOutput({ writeOut: out, writeErr: warn })
    .exitOverride();

const entryOf = async (options: Options): Promise<ClusterEntry> => {
  if (options.config === undefined) {
    if (options.cluster !== undefined && options.cluster !== 'demo')
      throw new Mistake(`--cluster ${options.cluster}: name its configuration with --config FILE`);
    const demo = readConfiguration('{"clusters":[{"id":"demo","kind":"memory"}]}');
    if (!demo.ok) throw new Error(demo.says);
    return demo.configuration.clusters[0]!;
  }
  const text = await readFile(options.config, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Mistake(`${options.config}: cannot be read (${error.code ?? error.message})`);
  });
  const read = readConfiguration(text);
  if (!read.ok) throw new Mistake(`${options.config}: ${read.says}`);
  const ids = read.configuration.clusters.map((cluster) => cluster.id);
  const wanted = options.cluster ?? ids[0];
  const entry = read.configuration.clusters.find((cluster) => cluster.id === wanted);
  if (!entry) throw new Mistake(`--cluster ${wanted}: not in ${options.config}; one of ${ids.join(', ')}`);
  return entry;
};

const tagOf = ({ environment, random }: Surroundings): string => {
  const tag = environment['DISPATCH_TAG'];
  if (tag !== undefined && !TAG.test(tag)) throw new Mistake('DISPATCH_TAG: must be 4 characters of 0-9 and a-z without i, l, o, u');
  return tag ?? newTag(random);
};

/** `args`: without the program's own name. */
export const runDemo = async (args: readonly string[], around: Surroundings): Promise<number> => {
  const command = commandOf(around);
  try {
    command.parse(args, { from: 'user' });
    return await demo(command.opts<Options>(), around);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Mistake)) throw error;
    around.warn(`${error.message}\n`);
    return 2;
  }
};

const demo = async (options: Options, around: Surroundings): Promise<number> => {
  const { clock, random, environment, warn } = around;
  const entry = await entryOf(options);
  const tag = tagOf(around);
  const cluster = await openCluster(entry, { tag, now: clock.now, random });
  const store = await openStore(environment, [cluster]);
  const log = (level: string, message: string, fields: object): void => {
    if (options.verbose || level === 'error') warn(`${JSON.stringify({ level, message, ...fields })}\n`);
  };
  const system = createSystem({ store, clusters: [cluster], tag, clock, random, log });
  try {
    return await run(system, entry, options, around);
  } finally {
    system.stop();
  }
};

const run = async (system: System, entry: ClusterEntry, options: Options, around: Surroundings): Promise<number> => {
  const { login, partition, steps } = options;
  const { out, warn, random } = around;
  const input = storySpec({ cluster: entry.id, kind: entry.kind, steps, ...(login ? { login } : {}), ...(partition ? { partition } : {}) });
  const planned = await planJob(system.ports, input);
  if (planned.kind === 'refused') {
    for (const refusal of planned.refusals) warn(`refused: ${refusal.path}: ${refusal.says}\n`);
    return 1;
  }
  const { spec, plan } = planned;
  if (!options.json) for (const line of planText(plan)) out(`${line}\n`);
  if (plan.refusals.length > 0) {
    if (options.json) for (const refusal of plan.refusals) warn(`refused: ${refusal.path}: ${refusal.says}\n`);
    return 1;
  }
  await system.start();
  const key = options.key ?? `demo-${sha256(String(random())).slice(0, 16)}`;
  const born = await submitJob(system.ports, {
    spec,
    plan,
    principal: PRINCIPAL,
    project: 'demo',
    login: planned.login,
    key,
    payloadHash: plan.specDigest,
  });
  if (born.kind === 'key_reused') throw new Mistake(`--key ${key}: was used for another job (${born.job}) within a day`);
  const { view, commits } = await follow(system, born.view.job, options.json, around);
  if (options.json) out(`${JSON.stringify({ plan, events: commits, job: statusOf(view) }, null, 2)}\n`);
  // Last, the one sentence that the user of a restarted job needs: why, by which rule, from where.
  else for (const line of ['', why(view), restartSentence(view)].filter((text, i) => i === 0 || text !== '')) out(`${printable(line)}\n`);
  return view.ended?.outcome.state === 'succeeded' ? 0 : 1;
};

interface Followed {
  readonly view: View;
  readonly commits: readonly Commit[];
}

/** Shows every commit as it appears, until the job has ended. */
const follow = async (system: System, job: string, quiet: boolean, { clock, out, dim, live: open }: Surroundings): Promise<Followed> => {
  const commits: Commit[] = [];
  const live = quiet ? undefined : open?.();
  let view: View | undefined;
  for (;;) {
    for (const commit of await system.ports.store.read(job, commits.length)) {
      commits.push(commit);
      view = fold([commit], view);
      for (const event of commit.events) {
        const line = tell(event, view as View);
        if (line === undefined || quiet) continue;
        live?.clear();
        out(`${dim(`+${((commit.at - commits[0]!.at) / 1000).toFixed(1).padStart(5)} s`)}  ${line}\n`);
      }
    }
    if (view?.ended) break;
    if (live && view) live.text = printable(why(view));
    await new Promise<void>((resolve) => clock.after(FOLLOW_MS, resolve));
  }
  live?.stop();
  return { view, commits };
};
