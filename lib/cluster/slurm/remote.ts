/**
 * One remote program with several named answers: how every verb asks the cluster, so that a verb is one round trip.
 *
 * Invariants: every command within has a time limit of its own; its exit code, output and errors are told apart; a section's mark
 * holds a nonce, so that no output of a job can pretend to be another answer; what broke on the way is `unreachable`, a value.
 */
import { ClusterFailure, type Sent } from '../failure.ts';
import type { Session } from './transport/port.ts';
import { quote } from './transport/quote.ts';

export interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The answers by name, in the order in which they came. */
export type Answers = ReadonlyMap<string, Answer>;

export type Asked =
  | { readonly kind: 'answered'; readonly answers: Answers }
  | { readonly kind: 'unreachable'; readonly says: string; readonly sent: Sent; readonly tooLong?: true };

const MARK = '\x1c';

/**
 * Shell functions of every program. `slurm LIMIT WORDS…` runs a client with nothing of the login's environment but what it needs:
 * SQUEUE_*, SACCT_* and SLURM_* variables change what the clients print. `ask NAME COMMAND…` makes its answer a section
 * and leaves the exit code in `d_rc`.
 */
export const prelude = (nonce: string): string => `set -u
PATH="\${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/opt/slurm/bin:/usr/local/slurm/bin"
d_me=$(id -un)
slurm() {
  d_limit=$1
  shift
  timeout -k 2 "$d_limit" env -i HOME="\${HOME:-/}" USER="$d_me" LOGNAME="$d_me" PATH="$PATH" \${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} LC_ALL=C SLURM_TIME_FORMAT=%s "$@"
}
ask() {
  d_name=$1
  shift
  printf '\\n${MARK}${nonce} %s\\n' "$d_name"
  { d_err=$("$@" 2>&1 >&3 3>&-); } 3>&1
  d_rc=$?
  printf '\\n${MARK}${nonce} %s %s\\n' "$d_rc" "$d_name"
  printf '%s' "$d_err" | tail -c 4096
}
tell() { ask "$1" printf '%s' "$2"; }
`;

/** A command of words as shell text. */
export const shell = (words: readonly string[]): string => words.map(quote).join(' ');

/** Reads the sections. A section that was begun and never ended is left out: it proves nothing. */
export const readAnswers = (text: string, nonce: string): Answers => {
  const answers = new Map<string, Answer>();
  const open = new Map<string, string>();
  for (const part of text.split(`\n${MARK}${nonce} `).slice(1)) {
    const cut = part.indexOf('\n');
    const head = cut < 0 ? part : part.slice(0, cut);
    const body = cut < 0 ? '' : part.slice(cut + 1);
    const ended = /^(\d+) (.+)$/.exec(head);
    const name = ended?.[2];
    if (name === undefined) open.set(head, body);
    else if (open.has(name)) answers.set(name, { exitCode: Number(ended![1]), stdout: open.get(name)!, stderr: body });
  }
  return answers;
};

export interface Limits {
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
}

/** Runs the program that `body` makes for a fresh nonce. Never throws for what happened on the way. */
export const askCluster = async (session: Session, random: () => number, body: string, limits: Limits): Promise<Asked> => {
  const nonce = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16)).join('');
  try {
    const answer = await session.run({ script: prelude(nonce) + body, ...limits });
    const answers = readAnswers(answer.stdout, nonce);
    // Even an empty look says something; a program that said nothing did not run.
    if (answers.size > 0) return { kind: 'answered', answers };
    return {
      kind: 'unreachable',
      says: `the program ended with ${answer.exitCode} and said nothing: ${answer.stderr.slice(-256)}`,
      sent: 'maybe',
    };
  } catch (error) {
    if (!(error instanceof ClusterFailure)) throw error;
    const { reason } = error;
    return { kind: 'unreachable', says: error.message, sent: error.sent, ...(reason === 'too_long' ? { tooLong: true as const } : {}) };
  }
};

/** The cluster's clock as `tell`s and `ask`s give it, in milliseconds. */
export const clockOf = (answers: Answers): number | undefined => {
  const text = answers.get('clock')?.stdout.trim() ?? '';
  return /^\d{9,11}$/.test(text) ? Number(text) * 1000 : undefined;
};
export const ASK_CLOCK = 'ask clock date +%s\n';
