/**
 * Commands over an authenticated SSH connection: one exec channel each, until the session is closed, lost or out of time.
 *
 * Invariants: the program travels on stdin, so no login shell ever parses it; it is written only after the far side has started the
 * shell, so a failure before that has sent nothing.
 */
import type { Client, ClientChannel } from 'ssh2';
import { ClusterFailure, type Sent } from '../../failure.ts';
import { type Ending, exchange, type Listener } from './exchange.ts';
import type { Session, Sources } from './port.ts';

/**
 * All that a login shell gets to parse. No `exec` and no slash, both of which a restricted bash refuses; tcsh and fish read two plain
 * words as any other shell does.
 */
export const REMOTE_SHELL = 'sh -s';

/** At a time. An OpenSSH server allows ten by default, and counts one until its shell is gone, after we have its answer. */
const CHANNELS = 8;

/** A far side that does not hang up in this time is cut off. */
const HANG_UP_MS = 2000;

export interface Connection {
  /** Where commands run. */
  readonly last: Client;
  /** All hops in the order of travel, the last one too. */
  readonly clients: readonly Client[];
  readonly where: string;
  readonly secondsLeft: number;
}

export function openSession({ last, clients, where, secondsLeft }: Connection, sources: Sources): Session {
  const running = new Set<Listener>();
  const waiting: Listener[] = [];
  let channels = 0;
  const hungUp = Promise.all(clients.map((client) => new Promise<void>((resolve) => client.once('close', () => resolve()))));
  let over: ((sent: Sent) => ClusterFailure) | undefined;
  let lastError: Error | undefined;

  const end = (reason: string, message: string): void => {
    if (over !== undefined) return;
    clearTimeout(timer);
    over = (sent) => unreachable(reason, message, sent, lastError);
    for (const listener of [...running]) listener.failed(over);
    // Politely, so that signals just written still arrive; a far side that is silent for good is cut off by the keepalive.
    for (const client of clients.toReversed()) client.end();
  };
  const timer = setTimeout(() => end('session_timed_out', `the session with ${where} used up its time`), Math.max(1, secondsLeft * 1000));
  const startNext = (): void => {
    while (channels < CHANNELS && waiting.length > 0) {
      const listener = waiting.shift()!;
      // Neither one that was given up while it waited, nor any after the end.
      if (!running.has(listener) || over !== undefined) continue;
      channels += 1;
      startShell(last, where, listener, () => {
        channels -= 1;
        startNext();
      });
    }
  };
  last.on('error', (error) => {
    lastError = error;
  });
  last.on('close', () => end('dropped', `the connection to ${where} was lost`));

  return {
    async run(command) {
      let mine: Listener | undefined;
      try {
        return await exchange(command, where, sources, (listener) => {
          mine = listener;
          running.add(listener);
          if (over !== undefined) return listener.failed(over);
          waiting.push(listener);
          startNext();
        });
      } finally {
        if (mine !== undefined) running.delete(mine);
      }
    },
    async close() {
      end('closed', `the session with ${where} was closed`);
      // Only then is it gone for the server, too: who counts connections counts this one until now.
      let cut: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        cut = setTimeout(resolve, HANG_UP_MS);
      });
      await Promise.race([hungUp, late]);
      clearTimeout(cut);
      for (const client of clients.toReversed()) cutOff(client);
    },
  };
}

/** ssh2's own `destroy` leaves a socket alone that was ended already: one whose far side is slow to hang up would stay open. */
function cutOff(client: Client): void {
  client.destroy();
  (client as Client & { readonly _sock?: { destroy(): void } })._sock?.destroy();
}

/**
 * Listeners are set in the very callback: what the server sends behind its consent may already be in the buffer. `closed` is called once,
 * when the channel is gone, or could not be opened.
 */
function startShell(client: Client, where: string, listener: Listener, closed: () => void): void {
  const refused = (cause: unknown) => (sent: Sent) =>
    unreachable('channel_refused', `${where} opened no channel for a command`, sent, cause);
  const started = (error: Error | undefined, channel: ClientChannel): void => {
    if (error) {
      listener.failed(refused(error));
      closed();
      return;
    }
    let ending: Ending = { how: 'closed' };
    channel.on('data', (chunk: Buffer) => listener.output('stdout', chunk));
    channel.stderr.on('data', (chunk: Buffer) => listener.output('stderr', chunk));
    channel.on('exit', (code: number | null, signal?: string) => {
      ending = code === null ? { how: 'signal', signal: signal ?? 'unknown' } : { how: 'exit', code };
    });
    channel.on('close', () => {
      listener.ended(ending);
      closed();
    });
    channel.on('error', (cause: Error) => listener.failed((sent) => lost(where, sent, cause)));
    listener.opened({
      // Not `end`: after the end of input ssh2 sends no signal any more. The program exits by itself.
      write: (program) => void channel.write(program),
      release: () => channel.close(),
      kill: () => {
        channel.signal('TERM');
        channel.close();
      },
    });
  };
  try {
    client.exec(REMOTE_SHELL, started);
  } catch (error) {
    // ssh2 throws when its socket is gone and the close is still on its way.
    listener.failed(refused(error));
    closed();
  }
}

function unreachable(reason: string, message: string, sent: Sent, cause: unknown): ClusterFailure {
  return new ClusterFailure('cluster/unreachable', message, { reason, sent, ...(cause === undefined ? {} : { cause }) });
}

const lost = (where: string, sent: Sent, cause: unknown): ClusterFailure =>
  unreachable('dropped', `the connection to ${where} was lost`, sent, cause);
