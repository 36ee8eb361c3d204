/**
 * The batch wrapper: what Slurm runs in place of the user's program. This module writes its header, the few facts of one attempt;
 * wrapper-body.ts holds the program, the same for every job. Both are parts of one brace group, so that a file that was cut
 * anywhere is a syntax error and runs nothing.
 *
 * Invariant guarded (protocols §4.2): every value that others chose enters as one quoted word; the user's own environment is set
 * only in the program's process, never in the wrapper's.
 */
import type { Point } from '../../job/event.ts';
import { formatPoint } from './control-files.ts';
import { quote } from './transport/quote.ts';
import { WRAPPER_BODY } from './wrapper-body.ts';

/** The wrapper's exit code when it refuses; it counts as a refusal only beside a file in `refused/`. */
export const GUARD_EXIT = 79;

/** Waits of the wrapper, seconds. Tests shorten them; nothing else may. */
export const WRAPPER_TIMING = {
  /** A shared file system may show a mark late. */
  lateViewSeconds: 60,
  lookAgainSeconds: 2,
  /** How often a running program's right to run is looked at again: half of the late view that a fence counts with. */
  watchSeconds: 60,
  /** From TERM to KILL when the wrapper ends its program. */
  graceSeconds: 30,
};

export interface WrapperFacts {
  readonly job: string;
  readonly cluster: string;
  /** A number and a point; in a rendering their placeholders. */
  readonly n: number | string;
  /** Absolute paths. `checkpoints` is the job's own root, `<checkpoint root>/<job>`. */
  readonly control: string;
  readonly checkpoints: string;
  readonly workdir?: string;
  readonly resume: Point | string;
  readonly nodes: number;
  readonly tasksPerNode: number;
  readonly cpusPerTask?: number;
  readonly timeLimitSeconds: number;
  readonly apiUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** A file of `export` lines that exists when the job starts. */
  readonly secrets?: { readonly path: string; readonly keep: boolean };
  readonly program: { readonly kind: 'script'; readonly path: string } | { readonly kind: 'command'; readonly words: readonly string[] };
  /** Words before the program that enter a container (`srun` there is the cluster's); and further options of srun. */
  readonly within: readonly string[];
  readonly srunOptions: readonly string[];
  /** Allow, when the program has ended by itself, that the supervisor puts the job back: an ended job can no longer be changed. */
  readonly allowRequeue: boolean;
  /** Exit codes that make this cluster requeue whatever was asked for: never given to Slurm. */
  readonly requeueExitCodes: readonly number[];
  readonly timing?: Partial<typeof WRAPPER_TIMING>;
}

/** Names that a shell will not let a program set, or that would change what the shell itself runs before the program. */
const UNSETTABLE = new Set(['SHELLOPTS', 'BASHOPTS', 'BASH_VERSINFO', 'EUID', 'UID', 'PPID', 'IFS', 'PS4']);

/** Why a name or value cannot be given to a program, or undefined. */
export const unsettable = (name: string, value: string): string | undefined => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'is not a name that a shell can set';
  if (UNSETTABLE.has(name)) return 'cannot be set under Slurm: the shell keeps it to itself';
  if (value.includes('\0') || !value.isWellFormed()) return 'holds a character that no environment can hold';
  return undefined;
};

/** The whole file. Begins with the brace directly after the interpreter: what is cut after the first line never parses. */
export const wrapperText = (facts: WrapperFacts): string => `#!/bin/sh\n{\n${header(facts)}\n${WRAPPER_BODY}}\n`;

const header = (facts: WrapperFacts): string => {
  const timing = { ...WRAPPER_TIMING, ...facts.timing };
  const { program } = facts;
  const word = (name: string, value: string | number): string => `d_${name}=${typeof value === 'number' ? value : quote(value)}`;
  return [
    '# dispatch: runs one attempt of a job, and only if the release mark names this very object.',
    word('job', facts.job),
    word('cluster', facts.cluster),
    word('n', facts.n),
    word('control', facts.control),
    word('root', facts.checkpoints),
    word('workdir', facts.workdir ?? ''),
    word('resume', typeof facts.resume === 'string' ? facts.resume : formatPoint(facts.resume)),
    word('nodes', facts.nodes),
    word('tasks', facts.tasksPerNode),
    word('limit', facts.timeLimitSeconds),
    word('api', facts.apiUrl),
    word('secrets', facts.secrets?.path ?? ''),
    word('keep_secrets', facts.secrets?.keep ? 'yes' : 'no'),
    word('late', timing.lateViewSeconds),
    word('again', timing.lookAgainSeconds),
    word('every', timing.watchSeconds),
    word('grace', timing.graceSeconds),
    word('allow_requeue', facts.allowRequeue ? 'yes' : 'no'),
    word('bad_codes', ` ${facts.requeueExitCodes.join(' ')} `),
    word('other_code', [1, 2, 3, 4].find((code) => !facts.requeueExitCodes.includes(code)) ?? 5),
    word('kind', program.kind),
    word('script', program.kind === 'script' ? program.path : ''),
    `d_user_environment() {\n${Object.entries(facts.env)
      .map(([name, value]) => `export ${name}=${quote(value)}\n`)
      .join('')}:\n}`,
    `d_exec_program() { exec $d_setsid ${programWords(facts)}; }`,
  ].join('\n');
};

const words = (list: readonly string[]): string => list.map((word) => (word === 'srun' ? '"$d_srun"' : quote(word))).join(' ');

/** What is executed in place of the program's shell. Only srun's own tasks know which node they are on. */
const programWords = (facts: WrapperFacts): string => {
  const { program, within } = facts;
  if (program.kind === 'script') return `${words(within)} ${within.length > 0 ? 'bash' : '"$d_bash"'} "$d_script"`;
  const options = [
    '--kill-on-bad-exit=1',
    `--ntasks=${facts.nodes * facts.tasksPerNode}`,
    `--ntasks-per-node=${facts.tasksPerNode}`,
    // Since 22.05 srun no longer takes this one over from the job.
    ...(facts.cpusPerTask === undefined ? [] : [`--cpus-per-task=${facts.cpusPerTask}`]),
    ...facts.srunOptions,
  ];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell on the node that fills it in
  const perNode = 'DISPATCH_NODE_RANK=${SLURM_NODEID:-0}; export DISPATCH_NODE_RANK; exec "$@"';
  return `"$d_srun" ${options.map(quote).join(' ')} /bin/sh -c ${quote(perNode)} dispatch ${words(within)} ${program.words.map(quote).join(' ')}`;
};
