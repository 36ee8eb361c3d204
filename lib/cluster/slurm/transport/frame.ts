/**
 * The frame around a remote program: marks before and after what it writes, with a number that nobody could know beforehand, and its
 * exit code in the last one. Start-up files, banners and messages of the day print to the same streams; some look just like rows.
 *
 * Invariant: `body` is returned only between both marks, so a banner is never read as data and half an answer never as an answer.
 */
import { quote } from './quote.ts';

/** What may come before the begin mark. A message of the day is a few KiB; more than this is not a shell that we can talk to. */
const MAX_NOISE_BYTES = 64 * 1024;
/** `dispatch-end:` + nonce + exit code + newline, generously. */
const MAX_MARK_BYTES = 128;
const NEWLINE = 0x0a;

/**
 * The text to send to `sh -s`: `script` between marks on both streams. Two traps decide its form:
 * - A dropped connection cuts stdin short, and sh runs what it has read. The whole is one compound command and the script one quoted
 *   word, so any shorter text is a syntax error and runs nothing.
 * - A shell told to echo what it reads must not produce a mark, so no mark appears literally: printf joins word and nonce.
 */
export function frame(script: string, nonce: string): string {
  const begin = `printf 'dispatch-begin:%s\\n' ${nonce}`;
  const end = `printf 'dispatch-end:%s %d\\n' ${nonce} "$1"`;
  // A subshell contains `exit`, `set -e`, traps and redirections. Its stdin is empty: else its commands would eat our last lines.
  // The mark on stdout comes last. `exit`, because stdin is left open (see ssh.ts).
  return `{ ${begin} >&2; ${begin}; (eval ${quote(script)}) </dev/null; set -- "$?"; ${end} >&2; ${end}; exit 0; }\n`;
}

export type FrameState = 'open' | 'whole' | 'too_long';

export interface FrameReader {
  push(chunk: Uint8Array): FrameState;
  state(): FrameState;
  /** The begin mark was seen: the shell read the program to its end and began it. */
  begun(): boolean;
  /** Only when whole. */
  read(): { readonly body: string; readonly exitCode: number };
  /** The first bytes that came before the begin mark. */
  noise(): string;
}

/** Reads one stream. Holds at most `maxBytes` and a little; what follows the end mark is ignored. */
export function frameReader(nonce: string, maxBytes: number): FrameReader {
  const beginMark = Buffer.from(`dispatch-begin:${nonce}\n`);
  const endMark = Buffer.from(`dispatch-end:${nonce} `);
  let held = Buffer.alloc(4096);
  let length = 0;
  let start = -1;
  let searched = 0;
  let state: FrameState = 'open';
  let answer = { body: '', exitCode: 0 };

  const append = (chunk: Uint8Array): void => {
    if (length + chunk.length > held.length) {
      // Doubling keeps the copying linear in what was read.
      const larger = Buffer.alloc(Math.max(held.length * 2, length + chunk.length));
      held.copy(larger, 0, 0, length);
      held = larger;
    }
    held.set(chunk, length);
    length += chunk.length;
  };
  // A mark may be cut by chunks, so each search begins a mark's length before the end of the last one.
  const find = (mark: Buffer, from: number): number => held.subarray(0, length).indexOf(mark, Math.max(from, searched - MAX_MARK_BYTES));

  const scan = (): FrameState => {
    if (start < 0) {
      const at = find(beginMark, 0);
      if (at < 0) return length > MAX_NOISE_BYTES ? 'too_long' : 'open';
      start = at + beginMark.length;
      searched = start;
    }
    const at = find(endMark, start);
    const stop = at < 0 ? -1 : held.subarray(0, length).indexOf(NEWLINE, at);
    if (stop < 0) return length - start > maxBytes + MAX_MARK_BYTES ? 'too_long' : 'open';
    if (at - start > maxBytes) return 'too_long';
    answer = { body: held.toString('utf8', start, at), exitCode: Number(held.toString('latin1', at + endMark.length, stop)) };
    return 'whole';
  };

  return {
    push(chunk) {
      if (state !== 'open') return state;
      append(chunk);
      state = scan();
      searched = length;
      return state;
    },
    state: () => state,
    begun: () => start >= 0,
    read: () => answer,
    noise: () => (start >= 0 ? '' : held.toString('utf8', 0, Math.min(length, 400))),
  };
}
