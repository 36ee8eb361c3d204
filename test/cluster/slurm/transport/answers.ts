/** What both transports must do alike, as one table: a script, and the answer or the failure. */

import type { ClusterFailure } from '../../../../lib/cluster/failure.ts';
import type { RemoteCommand, Sources } from '../../../../lib/cluster/slurm/transport/port.ts';

/** Counts instead of drawing, and a clock that stands still: the same frame in every run. */
export function fixedSources(): Sources {
  let drawn = 0;
  const random = (bytes: number): Uint8Array => {
    drawn += 1;
    return new Uint8Array(bytes).fill(drawn);
  };
  return { random, nowMs: () => 0 };
}

export const command = (script: string, limits: Partial<RemoteCommand> = {}): RemoteCommand => ({
  script,
  timeoutSeconds: 10,
  maxBytes: 100_000,
  ...limits,
});

/** The facts of a failure that a caller decides by; fails the test when there was none. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<Pick<ClusterFailure, 'name' | 'code' | 'reason' | 'retryable' | 'sent' | 'message'>> {
  const error = await work.then(
    () => new Error('there was no failure'),
    (thrown: unknown) => thrown as ClusterFailure,
  );
  if (!('code' in error)) throw error;
  const { name, code, reason, retryable, sent, message } = error;
  return { name, code, reason, retryable, sent, message };
}

const answered = (stdout: string, exitCode = 0, stderr = '') => ({ exitCode, stdout, stderr, tookMs: 0 });

export const ANSWERS = [
  { name: 'ok', script: 'echo 1; echo 2', answer: answered('1\n2\n') },
  { name: 'a non-zero exit is an answer', script: 'echo row; exit 3', answer: answered('row\n', 3) },
  { name: 'stderr is kept apart', script: 'echo out; echo bad >&2; exit 1', answer: answered('out\n', 1, 'bad\n') },
  { name: 'no output at all', script: ':', answer: answered('') },
  {
    name: 'more output than one packet',
    script: 'i=0; while [ $i -lt 9000 ]; do echo 123456789; i=$((i+1)); done',
    answer: answered('123456789\n'.repeat(9000)),
  },
  { name: 'text beyond ASCII', script: "printf '%s' 'ä→𝄞'", answer: answered('ä→𝄞') },
  { name: 'a background process that keeps the streams open', script: 'sleep 5 & echo $?', answer: answered('0\n') },
  { name: 'a program that reads stdin finds it empty', script: 'cat; echo end', answer: answered('end\n') },
];

export const FAILURES = [
  {
    name: 'C049 half a row, then silence',
    command: command("printf '700145|COMP'; sleep 20", { timeoutSeconds: 2 }),
    failure: { code: 'cluster/unreachable', reason: 'command_timed_out', sent: 'maybe', retryable: true },
  },
  {
    name: 'too much output',
    command: command('while :; do echo 123456789; done', { maxBytes: 1000 }),
    failure: { code: 'cluster/output_truncated', reason: 'too_long', sent: 'maybe', retryable: false },
  },
  {
    name: 'too much on stderr',
    command: command('while :; do echo 123456789 >&2; done', { maxBytes: 1000 }),
    failure: { code: 'cluster/output_truncated', reason: 'too_long', sent: 'maybe', retryable: false },
  },
  {
    name: 'the shell is killed in the middle',
    command: command('echo row; kill -9 $$'),
    failure: { code: 'cluster/output_truncated', reason: 'no_end_mark', sent: 'maybe', retryable: true },
  },
];
