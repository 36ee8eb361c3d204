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

/** How the wrapper words its refusal of a run that is claimed already. */
export const claimedBy = (run: number | string, owner: string): string => `run ${run} is claimed by ${owner}`;

/** How it words that it was told to end while nobody had claimed its run yet. */
export const toldUnclaimed = (run: number): string => `to end before run ${run} was claimed`;

/** Waits of the wrapper, seconds. Tests shorten them; nothing else may. */
export const WRAPPER_TIMING = {
  /** A shared file system may show a mark late. */
  lateViewSeconds: 60,
  lookAgainSeconds: 2,
  /** How often a running program's right to run is looked at again; a fence counts with a late view and two of these. */
  watchSeconds: 60,
  /** From TERM to KILL when the wrapper ends its program. */
  graceSeconds: 30,
};

export type Program =
  /** `interpreter`: what the script's first line names; bash without one. */
  | { readonly kind: 'script'; readonly path: string; readonly interpreter?: readonly string[] }
  | { readonly kind: 'command'; readonly words: readonly string[] };

/** As the kernel reads it: a program and at most one argument. The file itself need not be executable, nor its file system. */
export const interpreterOf = (script: string): { readonly interpreter?: readonly string[] } => {
  const line = /^#![ \t]*([^\s]+)(?:[ \t]+([^\n]*?))?[ \t]*(?:\n|$)/.exec(script);
  return line ? { interpreter: [line[1]!, ...(line[2] ? [line[2]] : [])] } : {};
};

export interface WrapperFacts {
  readonly job: string;
  readonly cluster: string;
  /** A number and a point; in a rendering their placeholders. */
  readonly n: number | string;
  /** Absolute paths, or `s3://bucket/prefix` for the latter. `checkpoints` is the job's own root, `<checkpoint root>/<job>`. */
  readonly control: string;
  readonly checkpoints: string;
  /** Where the bucket of an `s3://` root is, for the node. */
  readonly bucket?: { readonly region: string; readonly endpoint?: string | undefined };
  readonly completionMarker?: string | undefined;
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
  readonly program: Program;
  /** Words before the program that enter a container (`srun` there is the cluster's); and further options of srun. */
  readonly within: readonly string[];
  readonly srunOptions: readonly string[];
  /** Allow, when the program has ended by itself, that the supervisor puts the job back: an ended job can no longer be changed. */
  readonly allowRequeue: boolean;
  /** Exit codes that make this cluster requeue whatever was asked for: never given to Slurm. */
  readonly requeueExitCodes: readonly number[];
  readonly timing?: Partial<typeof WRAPPER_TIMING>;
}

/** Names that a shell will not let a program set, changes on the way, or that would change what it runs before the program. */
const UNSETTABLE = new Set(
  `SHELLOPTS BASHOPTS BASH_VERSINFO EUID UID PPID IFS PS4 OPTIND RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASHPID FUNCNAME
  GROUPS DIRSTACK HISTCMD BASH_COMMAND BASH_SUBSHELL BASH_LINENO BASH_SOURCE BASH_ARGC BASH_ARGV BASH_ARGV0 PIPESTATUS SHLVL _`.split(
    /\s+/,
  ),
);

/** Why a name or value cannot be given to a program, or undefined. */
export const unsettable = (name: string, value: string): string | undefined => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'is not a name that a shell can set';
  if (UNSETTABLE.has(name)) return 'cannot be set under Slurm: the shell keeps it to itself';
  if (value.includes('\0') || !value.isWellFormed()) return 'holds a character that no environment can hold';
  return undefined;
};

/** The whole file. Begins with the brace directly after the interpreter: what is cut after the first line never parses. */
export const wrapperText = (facts: WrapperFacts): string => `#!/bin/sh\n{\n${header(facts)}\n${WRAPPER_BODY}}\n`;

/**
 * A word of the file. Ends of lines are made by the shell, not written: sbatch obeys every line that begins with `#PBS` or `#BSUB`, wherever
 * it stands (seen live: an environment value chose the account), and refuses a file that holds DOS line ends anywhere.
 */
const quoteIn = (text: string, [cr, lf] = ['"$d_cr"', '"$d_lf"']): string =>
  quote(text).replaceAll('\r', `'${cr}'`).replaceAll('\n', `'${lf}'`);

const header = (facts: WrapperFacts): string => {
  const timing = { ...WRAPPER_TIMING, ...facts.timing };
  const execution = executionOf(facts);
  const words = execution
    .slice(1)
    .map((one) => quoteIn(one))
    .join(' ');
  const word = (name: string, value: string | number): string => `d_${name}=${typeof value === 'number' ? value : quoteIn(value)}`;
  return [
    '# dispatch: runs one attempt of a job, and only if the release mark names this very object.',
    `d_cr=$(printf '\\r') d_lf=$(printf '\\n:')`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell on the node fills it in
    'd_lf=${d_lf%:}',
    word('job', facts.job),
    word('cluster', facts.cluster),
    word('n', facts.n),
    word('control', facts.control),
    word('root', facts.checkpoints),
    ...(facts.bucket ? [word('bucket', `${facts.bucket.region}\n${facts.bucket.endpoint ?? ''}\n`)] : []),
    word('completion', facts.completionMarker ?? ''),
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
    word('tool', execution[0]!),
    `d_user_environment() {\n${Object.entries(facts.env)
      .map(([name, value]) => `export ${name}=${quoteIn(value, ['"$1"', '"$2"'])}\n`)
      .join('')}:\n}`,
    `d_program() {\nset -- "$d_cr" "$d_lf" "$d_control/bin" "$d_secrets" "$d_keep_secrets" "$d_rm" $d_setsid "$d_tool" ${words}\n${EXECUTE}}`,
  ].join('\n');
};

/**
 * In the program's own process. What the user sets, PATH above all, must not reach the wrapper, nor may it change what is executed:
 * from the first of the user's names on, nothing but the positional words is relied upon.
 */
const EXECUTE = `cd -- "$d_workdir" || exit 71
d_environment
d_user_environment "$1" "$2"
if [ -n "$4" ]; then
. "$4"
[ "$5" = yes ] || "$6" -f "$4"
fi
export PATH="$3:\${PATH:-/usr/local/bin:/usr/bin:/bin}"
shift 6
exec "$@"
`;

/** What is executed in place of the program's shell; the first word is looked up before the user's PATH is set. */
const executionOf = ({ program, within, nodes, tasksPerNode, cpusPerTask, srunOptions }: WrapperFacts): readonly string[] => {
  if (program.kind === 'script') return [...within, ...(program.interpreter ?? ['bash']), program.path];
  const options = [
    '--kill-on-bad-exit=1',
    `--ntasks=${nodes * tasksPerNode}`,
    `--ntasks-per-node=${tasksPerNode}`,
    // Since 22.05 srun no longer takes this one over from the job.
    ...(cpusPerTask === undefined ? [] : [`--cpus-per-task=${cpusPerTask}`]),
    ...srunOptions,
  ];
  // Only srun's own tasks know which node they are on.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell on the node that fills it in
  const perNode = 'DISPATCH_NODE_RANK=${SLURM_NODEID:-0}; export DISPATCH_NODE_RANK; exec "$@"';
  return ['srun', ...options, '/bin/sh', '-c', perNode, 'dispatch', ...within, ...program.words];
};
