/**
 * The SSH transport: one connection to a login node, through jump hosts where there are any, and one exec channel per command.
 *
 * Invariants: the program travels on stdin, so no login shell ever parses it; it is written only after the far side has started the
 * shell, so a failure before that has sent nothing; every wait has a limit, and the session as a whole has one.
 */
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { ClusterFailure, type Sent } from '../../failure.ts';
import { type Ending, exchange, type Listener } from './exchange.ts';
import { parseHostKey } from './host-key.ts';
import type { Session, Sources, Transport } from './port.ts';
import { connectHop, type Hop, type HopLimits, hopFailure, hopName, type Ssh2, within } from './ssh-hop.ts';

/**
 * All that a login shell gets to parse. No `exec` and no slash, both of which a restricted bash refuses; tcsh and fish read two plain
 * words as any other shell does.
 */
export const REMOTE_SHELL = 'sh -s';

export interface SshOptions extends Hop {
  /** In the order of travel: the first is connected to directly. */
  readonly jump?: readonly Hop[];
  /** For each hop: look-up, connect, handshake and authentication together. */
  readonly readyTimeoutSeconds?: number;
  /** A silent far side is asked this often, and given up after `keepaliveCount` unanswered questions. */
  readonly keepaliveSeconds?: number;
  readonly keepaliveCount?: number;
  /** From the call of `connect` to the end of the session, whatever happens: less than the caller's own limit. */
  readonly totalSeconds: number;
}

export function sshTransport(options: SshOptions, sources: Sources): Transport {
  const route: readonly Hop[] = [...(options.jump ?? []), options];
  for (const hop of route) {
    assert(hop.hostKeys.length > 0, `${hopName(hop)} has no pinned host key`);
    hop.hostKeys.forEach(parseHostKey);
  }
  assert(options.totalSeconds > 0, 'an SSH session needs a limit');
  const limits: HopLimits = {
    readyTimeoutSeconds: options.readyTimeoutSeconds ?? 10,
    keepaliveSeconds: options.keepaliveSeconds ?? 5,
    keepaliveCount: options.keepaliveCount ?? 3,
  };
  return {
    async connect() {
      const began = sources.nowMs();
      // Loaded on first use: no function pays for it that never touches a cluster over SSH.
      const ssh2 = (await import('ssh2')).default;
      const clients: Client[] = [];
      let abandoned = false;
      const keep = (client: Client): void => {
        clients.push(client);
        // Became ready after the whole had been given up.
        if (abandoned) client.destroy();
      };
      const late = (): ClusterFailure =>
        hopFailure('cluster/unreachable', 'session_timed_out', `${hopName(options)} was not reached within ${options.totalSeconds} s`);
      try {
        const last = await within(options.totalSeconds, travel(ssh2, route, limits, keep), late);
        return openSession(last, clients, options, options.totalSeconds - (sources.nowMs() - began) / 1000, sources);
      } catch (failure) {
        abandoned = true;
        hangUp(clients);
        throw failure;
      }
    },
  };
}

async function travel(ssh2: Ssh2, route: readonly Hop[], limits: HopLimits, keep: (client: Client) => void): Promise<Client> {
  let here: Client | undefined;
  for (const hop of route) {
    const from = here;
    here = await connectHop(ssh2, hop, async () => (from === undefined ? undefined : await tunnel(from, hop, limits)), limits);
    keep(here);
  }
  assert(here !== undefined, 'a route has at least one hop');
  return here;
}

/** A channel through `from` to the next hop. */
async function tunnel(from: Client, to: Hop, limits: HopLimits): Promise<Duplex> {
  const refused = (reason: string, cause?: unknown): ClusterFailure =>
    hopFailure('cluster/unreachable', reason, `the jump host before ${hopName(to)} did not connect us to it`, cause);
  const opening = new Promise<Duplex>((resolve, reject) => {
    // The origin is for the jump host's log alone.
    from.forwardOut('127.0.0.1', 0, to.host, to.port, (error, channel) =>
      error ? reject(refused('jump_refused', error)) : resolve(channel),
    );
  });
  return await within(limits.readyTimeoutSeconds, opening, () => refused('jump_timed_out'));
}

/** From the last hop back to the first: each travels through the one before. */
function hangUp(clients: readonly Client[]): void {
  for (const client of clients.toReversed()) client.destroy();
}

function openSession(client: Client, clients: readonly Client[], options: SshOptions, secondsLeft: number, sources: Sources): Session {
  const where = hopName(options);
  const running = new Set<Listener>();
  let over: ((sent: Sent) => ClusterFailure) | undefined;
  let lastError: Error | undefined;

  const end = (reason: string, message: string): void => {
    if (over !== undefined) return;
    clearTimeout(timer);
    const cause = lastError === undefined ? {} : { cause: lastError };
    over = (sent) => new ClusterFailure('cluster/unreachable', message, { reason, sent, ...cause });
    for (const listener of [...running]) listener.failed(over);
    hangUp(clients);
  };
  const timer = setTimeout(
    () => end('session_timed_out', `the session with ${where} used up its ${options.totalSeconds} s`),
    Math.max(1, secondsLeft * 1000),
  );
  client.on('error', (error) => {
    lastError = error;
  });
  client.on('close', () => end('dropped', `the connection to ${where} was lost`));

  return {
    async run(command) {
      let mine: Listener | undefined;
      try {
        return await exchange(command, where, sources, (listener) => {
          mine = listener;
          running.add(listener);
          if (over !== undefined) listener.failed(over);
          else startShell(client, where, listener);
        });
      } finally {
        if (mine !== undefined) running.delete(mine);
      }
    },
    async close() {
      end('closed', `the session with ${where} was closed`);
    },
  };
}

/** Listeners are set in the very callback: what the server sends behind its consent may already be in the buffer. */
function startShell(client: Client, where: string, listener: Listener): void {
  const refused = (cause: Error) => (sent: Sent) =>
    new ClusterFailure('cluster/unreachable', `${where} opened no channel for a command`, { reason: 'channel_refused', sent, cause });
  const started = (error: Error | undefined, channel: ClientChannel): void => {
    if (error) return listener.failed(refused(error));
    let ending: Ending = { how: 'closed' };
    channel.on('data', (chunk: Buffer) => listener.output('stdout', chunk));
    channel.stderr.on('data', (chunk: Buffer) => listener.output('stderr', chunk));
    channel.on('exit', (code: number | null, signal?: string) => {
      ending = code === null ? { how: 'signal', signal: signal ?? 'unknown' } : { how: 'exit', code };
    });
    channel.on('close', () => listener.ended(ending));
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
    listener.failed(refused(error as Error));
  }
}
