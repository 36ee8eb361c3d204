/**
 * Read output: a piece of what a run of an attempt wrote, where its cluster keeps it (contract §11: chunks of at most 1 MiB).
 * Guards: a piece ends between two characters, so that pieces put together are the text; and its connection has a slot of its own, so
 * that a reader never keeps the supervision waiting.
 */
import { JOB_ID } from '../job/identity.ts';
import type { View } from '../job/view.ts';
import { isUnreachable, withSession } from './cluster/session.ts';
import type { Ports } from './ports.ts';

export const OUTPUT_BYTES = 1024 * 1024;

export interface OutputAsked {
  readonly n: number;
  /** Undefined: the newest. */
  readonly run?: number | undefined;
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly limit: number;
}

export type Output =
  | {
      readonly kind: 'piece';
      readonly run: number;
      readonly text: string;
      /** Where the next piece begins. */
      readonly nextOffset: number;
      /** What there was when it was read. */
      readonly totalBytes: number;
    }
  | { readonly kind: 'unknown_attempt' | 'unsupported' | 'none' }
  | { readonly kind: 'unreachable'; readonly says: string };

export const readOutput = async (ports: Ports, view: View, asked: OutputAsked): Promise<Output> => {
  const attempt = view.attempts[asked.n - 1];
  if (!attempt || !JOB_ID.test(view.job)) return { kind: 'unknown_attempt' };
  const run = asked.run ?? attempt.run;
  const { stream, offset, limit } = asked;
  const answer = await withSession(
    ports,
    attempt.cluster,
    attempt.login,
    async (session) => (session.output ? session.output({ job: view.job, n: attempt.n, run, stream, offset, limit }) : 'unsupported'),
    'output',
  );
  if (isUnreachable(answer)) return { kind: 'unreachable', says: answer.unreachable };
  if (answer === 'unsupported') return { kind: 'unsupported' };
  if (answer.kind !== 'piece') return answer;
  const whole = wholeCharacters(answer.bytes, offset + answer.bytes.length >= answer.totalBytes);
  return { kind: 'piece', run, text: new TextDecoder().decode(whole), nextOffset: offset + whole.length, totalBytes: answer.totalBytes };
};

/** Without the beginning of a character that is cut at the end; at the end of everything, and where it is no UTF-8, all of it. */
const wholeCharacters = (bytes: Uint8Array, last: boolean): Uint8Array => {
  if (last) return bytes;
  for (let back = 1; back <= Math.min(3, bytes.length - 1); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
};
