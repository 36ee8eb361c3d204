/**
 * One command and its answer over any pair of streams: the frame, the time limit, the byte limits, and what each way of ending means.
 * Both transports go through here, so that a failure means the same on each.
 *
 * Invariants: the promise settles once, within the command's time; `sent` becomes 'maybe' before the first byte is written.
 */
import assert from 'node:assert/strict';
import { ClusterFailure, type ClusterFailureCode, type Sent } from '../../failure.ts';
import { type FrameReader, frame, frameReader } from './frame.ts';
import type { RemoteAnswer, RemoteCommand, Sources } from './port.ts';

/** A program longer than this was built wrongly; lists are sent in pieces. */
const MAX_SCRIPT_BYTES = 2 * 1024 * 1024;

/** What a transport offers once a shell is ready to be written to. */
export interface Wire {
  write(program: string): void;
  /** The answer is whole: let go, and leave alone what the program put in the background. */
  release(): void;
  /** Given up: end the program and what it started. */
  kill(): void;
}

export type Ending =
  | { readonly how: 'exit'; readonly code: number }
  | { readonly how: 'signal'; readonly signal: string }
  | { readonly how: 'closed' };

/** What a transport tells. After `failed` or `ended` nothing more is expected. */
export interface Listener {
  opened(wire: Wire): void;
  output(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  ended(ending: Ending): void;
  /** The carrier failed; it learns here whether the program may already have run. */
  failed(failure: (sent: Sent) => ClusterFailure): void;
}

/** `where` names the far side in messages. `open` must call the listener at once or later, and must not throw. */
export function exchange(
  command: RemoteCommand,
  where: string,
  sources: Sources,
  open: (listener: Listener) => void,
): Promise<RemoteAnswer> {
  assert(command.timeoutSeconds > 0 && command.timeoutSeconds <= 86_400, 'a command needs a time limit of at most a day');
  assert(command.maxBytes >= 0, 'a command needs a byte limit');
  assert(Buffer.byteLength(command.script) <= MAX_SCRIPT_BYTES, 'a program is at most 2 MiB long');
  const nonce = Buffer.from(sources.random(16)).toString('hex');
  const began = sources.nowMs();
  const stdout = frameReader(nonce, command.maxBytes);
  const stderr = frameReader(nonce, command.maxBytes);

  return new Promise((resolve, reject) => {
    let sent: Sent = 'no';
    let wire: Wire | undefined;
    let settled = false;

    const giveUp = (failure: ClusterFailure): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      wire?.kill();
      reject(failure);
    };
    const answer = (): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      // Not waiting for the close: a background process that holds the pipe would keep it open for as long as it lives.
      wire?.release();
      const { body, exitCode } = stdout.read();
      resolve({ exitCode, stdout: body, stderr: stderr.read().body, tookMs: sources.nowMs() - began });
    };
    const timer = setTimeout(() => {
      const message = `${where} gave no whole answer within ${command.timeoutSeconds} s; what arrived was discarded`;
      giveUp(new ClusterFailure('cluster/unreachable', message, { reason: 'command_timed_out', sent }));
    }, command.timeoutSeconds * 1000);

    open({
      opened(fresh) {
        // The time may have run out while the channel was being opened.
        if (settled) return fresh.kill();
        wire = fresh;
        sent = 'maybe';
        fresh.write(frame(command.script, nonce));
      },
      output(stream, chunk) {
        const state = (stream === 'stdout' ? stdout : stderr).push(chunk);
        if (state === 'too_long') {
          const message = `${where} wrote too much to ${stream} (the limit is ${command.maxBytes} bytes); the answer was discarded`;
          giveUp(new ClusterFailure('cluster/output_truncated', message, { reason: 'too_long', sent, retryable: false }));
        } else if (stdout.state() === 'whole' && stderr.state() === 'whole') answer();
      },
      ended: (ending) => giveUp(unfinished(ending, where, sent, stdout, stderr)),
      failed: (failure) => giveUp(failure(sent)),
    });
  });
}

/** The stream ended and a mark is missing. Without a begin mark no shell of ours ran: a refusal by the login, shown in its own words. */
function unfinished(ending: Ending, where: string, sent: Sent, stdout: FrameReader, stderr: FrameReader): ClusterFailure {
  const how = ending.how === 'exit' ? `exit code ${ending.code}` : ending.how === 'signal' ? `signal ${ending.signal}` : 'no exit code';
  const fail = (code: ClusterFailureCode, reason: string, text: string): ClusterFailure =>
    new ClusterFailure(code, `${where} ${text} (${how})`, { reason, sent, retryable: true });
  if (stdout.begun()) return fail('cluster/output_truncated', 'no_end_mark', 'ended the channel before the answer was whole');
  // Still 'maybe': a forced command may run the program and keep its output to itself.
  const said = excerpt(`${stderr.noise()} ${stdout.noise()}`);
  return fail('cluster/command_failed', 'no_shell', `did not start a shell for us${said === '' ? '' : `, saying "${said}"`}`);
}

/** One printable line of at most 200 characters. */
function excerpt(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
