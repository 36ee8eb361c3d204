/**
 * One authenticated SSH connection to one host, directly or through another one, with its key read, its host key checked and a limit on
 * the whole. ssh.ts chains hops; ssh-session.ts runs commands on the last.
 *
 * Invariants: nothing is accepted that is not pinned; a key is tried at most twice, and the second time only if it was changed in
 * between (repeated refusals get an address banned); no text of a key or of a secret store reaches a message.
 */
import type { Duplex } from 'node:stream';
import type { AuthHandlerMiddleware, Client, ConnectConfig } from 'ssh2';
import { ClusterFailure } from '../../failure.ts';
import { type HostKey, offeredAlgorithms, parseHostKey, presentedHostKey } from './host-key.ts';
import { classify, hopFailure, hopName, hostKeyChanged, type SshError, STAGE_WORDS, type Stage } from './ssh-failure.ts';

export type Ssh2 = typeof import('ssh2');

/** One host on the way to the login node, or the login node itself. */
export interface Hop {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Public key lines, `ssh-ed25519 AAAA…`; any may match. */
  readonly hostKeys: readonly string[];
  /** The private key's text (OpenSSH or PEM, no passphrase), read at each connect. `fresh`: the one read before was refused. */
  privateKey(fresh?: boolean): Promise<string>;
}

export interface HopLimits {
  readonly readyTimeoutSeconds: number;
  readonly keepaliveSeconds: number;
  readonly keepaliveCount: number;
}

/** Connects and authenticates; reads the key again once when it is refused, so that a key is rotated without a deploy. */
export async function connectHop(ssh2: Ssh2, hop: Hop, via: () => Promise<Duplex | undefined>, limits: HopLimits): Promise<Client> {
  const key = await readKey(ssh2, hop, limits);
  try {
    return await handshake(ssh2, hop, key, await via(), limits);
  } catch (failure) {
    if (!(failure instanceof ClusterFailure) || failure.code !== 'cluster/auth_refused') throw failure;
    const fresh = await readKey(ssh2, hop, limits, true);
    if (fresh === key) throw failure;
    return await handshake(ssh2, hop, fresh, await via(), limits);
  }
}

/** Settles like `work`, or fails with `late()` when that takes longer. */
export async function within<T>(seconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), seconds * 1000);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

async function readKey(ssh2: Ssh2, hop: Hop, limits: HopLimits, isRefused = false): Promise<string> {
  const unreadable = (cause?: unknown): ClusterFailure =>
    // Not a refused login: a secret store that is away for a minute must not block the cluster.
    hopFailure('cluster/unreachable', 'key_unreadable', `the private key for ${hopName(hop)} could not be read`, cause);
  let text: string;
  try {
    text = await within(limits.readyTimeoutSeconds, hop.privateKey(isRefused), () => unreadable());
  } catch (error) {
    throw error instanceof ClusterFailure ? error : unreadable(error);
  }
  const parsed = ssh2.utils.parseKey(text);
  const unusable = (what: string): ClusterFailure =>
    hopFailure('cluster/auth_refused', 'key_unusable', `the private key for ${hopName(hop)} ${what}`);
  if (parsed instanceof Error) {
    const locked = /encrypted/i.test(parsed.message);
    throw unusable(locked ? 'is protected by a passphrase; give it one without' : 'is not in a format that can be read (OpenSSH or PEM)');
  }
  if (!parsed.isPrivateKey()) throw unusable('is a public key');
  return text;
}

function handshake(ssh2: Ssh2, hop: Hop, privateKey: string, sock: Duplex | undefined, limits: HopLimits): Promise<Client> {
  const pinned = hop.hostKeys.map(parseHostKey);
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    let stage: Stage = sock === undefined ? 'connect' : 'handshake';
    let presented: HostKey | undefined;
    let asksMore: readonly string[] = [];
    let settled = false;

    const refuse = (failure: ClusterFailure): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      client.destroy();
      sock?.destroy();
      reject(failure);
    };
    const timer = setTimeout(() => {
      const message = `${hopName(hop)} was not ready within ${limits.readyTimeoutSeconds} s (${STAGE_WORDS[stage]})`;
      refuse(hopFailure('cluster/unreachable', `${stage}_timed_out`, message));
    }, limits.readyTimeoutSeconds * 1000);

    client.on('connect', () => {
      stage = 'handshake';
    });
    client.on('handshake', () => {
      stage = 'auth';
    });
    client.on('ready', () => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      resolve(client);
    });
    // Stays for the life of the connection, since an error without a listener would end the process; after `ready` the close that
    // always follows is what ssh.ts acts on.
    client.on('error', (error: SshError) => {
      if (presented !== undefined) refuse(hostKeyChanged(hop, pinned, presented));
      else refuse(classify(hop, stage, error, asksMore));
    });
    client.on('close', () =>
      refuse(hopFailure('cluster/unreachable', 'dropped', `${hopName(hop)} closed the connection (${STAGE_WORDS[stage]})`)),
    );

    let tried = false;
    const authHandler: AuthHandlerMiddleware = (left, partial, next) => {
      if (partial) asksMore = left;
      // The key and nothing else, not even a first try without one, which servers count as a failure.
      if (tried) return next(false as never);
      tried = true;
      return next({ type: 'publickey', username: hop.user, key: privateKey });
    };
    const settings: ConnectConfig = {
      ...(sock === undefined ? { host: hop.host, port: hop.port } : { sock }),
      username: hop.user,
      authHandler,
      algorithms: { serverHostKey: offeredAlgorithms(pinned) },
      hostVerifier: (blob: Buffer) => {
        if (pinned.some((key) => key.blob.equals(blob))) return true;
        presented = presentedHostKey(blob);
        return false;
      },
      // The limit above covers the name look-up too, and knows how far we got.
      readyTimeout: 0,
      keepaliveInterval: limits.keepaliveSeconds * 1000,
      keepaliveCountMax: limits.keepaliveCount,
    };
    try {
      client.connect(settings);
    } catch (error) {
      refuse(classify(hop, stage, error as Error, asksMore));
      return;
    }
    // Many small packets that wait for each other: with Nagle's algorithm each step costs a delayed acknowledgement of 40 ms.
    client.setNoDelay(true);
  });
}
