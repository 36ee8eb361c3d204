/**
 * The recordings of a real Slurm (test/fixtures/slurm-22.05), replayed: after every recorded command, what was known of each job by
 * then, in the form that the adapter would have had it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Classified, classify } from '../../../lib/cluster/slurm/classify.ts';
import { type Accounting, parseSacct } from '../../../lib/cluster/slurm/sacct.ts';
import { type ControllerRow, FIELD, parseSqueue } from '../../../lib/cluster/slurm/squeue.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/slurm-22.05');

export interface Command {
  readonly argv: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly atEpoch: number;
  readonly as?: string;
}

export interface Recording {
  readonly case: string;
  readonly truth: Readonly<Record<string, unknown>> & { readonly happened: string };
  readonly jobs: readonly string[];
  readonly commands: readonly Command[];
}

export const recordings = (): Recording[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Recording);

export const recording = (name: string): Recording => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Recording;

export interface Moment {
  readonly id: string;
  readonly row: ControllerRow | undefined;
  readonly said: Classified;
}

/** alice, who submits. */
const UID = 2001;

/** Every moment of every job of a recording, in order. `released`: what the record would know. */
export const moments = (of: Recording, released: (id: string) => boolean): Moment[] => {
  const all: Moment[] = [];
  const first = new Map<string, ControllerRow>();
  // The adapter asks for both at once: allocations without the steps that were asked for next are not yet its answer.
  const hasSteps = new Set(
    of.commands.filter(({ argv }) => argv[0] === 'sacct' && argv.includes('-nP')).flatMap(({ argv }) => idsOf(argv)),
  );
  const state: Known = { queue: undefined, accounting: new Map(), stderr: '', none: false };
  for (const command of of.commands) {
    learn(state, command);
    for (const id of of.jobs) {
      const row = state.queue?.get(id);
      if (row && !first.has(id)) first.set(id, row);
      const seen = first.get(id);
      if (!seen || !state.queue) continue;
      const said = classify({
        object: { schedulerId: id, identity: seen.name, submittedAt: seen.submit * 1000 },
        released: released(id),
        uid: UID,
        accounting: accountingOf(state, id, hasSteps.has(id)),
        stderr: state.stderr,
        observedAt: command.atEpoch * 1000,
        ...(row ? { controller: row } : {}),
      });
      all.push({ id, row, said });
    }
  }
  return all;
};

interface Known {
  queue: Map<string, ControllerRow> | undefined;
  /** The two recorded forms per id: allocations, and allocations with steps. */
  readonly accounting: Map<string, { allocations?: string; steps?: string }>;
  stderr: string;
  none: boolean;
}

const learn = (state: Known, { argv, stdout, stderr, exitCode }: Command): void => {
  const [tool] = argv;
  if (tool === 'squeue' && argv.includes('all') && argv.includes('-O') && exitCode === 0) {
    state.queue = new Map(parseSqueue(stdout).rows.map((row) => [row.id, row]));
  }
  if (tool === 'sacct' && stderr.includes('accounting storage is disabled')) state.none = true;
  if (tool === 'sacct' && argv.includes('-j') && argv.includes('-o') && exitCode === 0) {
    const isWithSteps = argv.includes('-nP');
    for (const id of idsOf(argv)) {
      const mine = stdout.split('\n').filter((line) => line.split(FIELD)[0]!.split('.')[0] === id);
      const known = state.accounting.get(id) ?? {};
      state.accounting.set(id, isWithSteps ? { ...known, steps: mine.join('\n') } : { ...known, allocations: mine.join('\n') });
    }
  }
  if (tool === 'tail' && argv.at(-1)?.endsWith('err')) state.stderr = stdout;
};

const idsOf = (argv: readonly string[]): string[] => (argv.includes('-j') ? argv[argv.indexOf('-j') + 1]!.split(',') : []);

const accountingOf = (state: Known, id: string, withSteps: boolean): Accounting => {
  if (state.none) return { kind: 'none' };
  const known = state.accounting.get(id);
  if (known?.allocations === undefined || (withSteps && known.steps === undefined)) return { kind: 'failed', says: 'not asked yet' };
  return parseSacct({ exitCode: 0, stderr: '', stdout: merged(known.allocations, known.steps ?? '') });
};

/** The adapter asks for allocations and steps at once: the k-th allocation is followed by the steps of its run. */
const merged = (allocations: string, steps: string): string => {
  const groups: string[][] = [];
  for (const line of steps.split('\n').filter((one) => one !== '')) {
    const [id, name, state, exit, derived, start, end, elapsed] = line.split(FIELD);
    if (!id!.includes('.')) groups.push([]);
    else groups.at(-1)?.push([id, '', name, state, exit, derived, '', '', start, end, elapsed, '', ''].join(FIELD));
  }
  const lines = allocations
    .split('\n')
    .filter((one) => one !== '')
    .flatMap((line, i) => [line, ...(groups[i] ?? [])]);
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
};
