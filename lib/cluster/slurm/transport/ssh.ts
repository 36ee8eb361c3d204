/**
 * The SSH transport: one connection to a login node, through jump hosts where there are any. What then runs over it is ssh-session.ts.
 *
 * Invariants: every host on the way is checked against its own pinned keys; every wait has a limit, and connection and session
 * together have one.
 */
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import type { ClusterFailure } from '../../failure.ts';
import { parseHostKey } from './host-key.ts';
import type { Sources, Transport } from './port.ts';
import { hopFailure, hopName } from './ssh-failure.ts';
import { connectHop, type Hop, type HopLimits, type Ssh2, within } from './ssh-hop.ts';
import { openSession } from './ssh-session.ts';

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
        return openSession(
          { last, clients, where: hopName(options), secondsLeft: options.totalSeconds - (sources.nowMs() - began) / 1000 },
          sources,
        );
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
