/**
 * Pinned host keys: what the configuration says a host's key is, and how a key is shown to people.
 *
 * Invariant: a host is accepted only when the key it proves to hold equals a pinned one, byte for byte; there is no first use.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

export interface HostKey {
  readonly type: string;
  readonly blob: Buffer;
}

/** Signature algorithms by key type, best first. SHA-1 (`ssh-rsa` as a signature) is not offered. */
const ALGORITHMS = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
} as const;
export type HostKeyType = keyof typeof ALGORITHMS;
export type HostKeyAlgorithm = (typeof ALGORITHMS)[HostKeyType][number];

const isHostKeyType = (type: string): type is HostKeyType => Object.hasOwn(ALGORITHMS, type);

/** Reads `ssh-ed25519 AAAA… [comment]`, the form of a public key file. A malformed one is a mistake of the configuration. */
export function parseHostKey(line: string): HostKey & { readonly type: HostKeyType } {
  const [type = '', base64 = ''] = line.trim().split(/\s+/);
  assert(isHostKeyType(type), `host key type '${type}' is not one of ${Object.keys(ALGORITHMS).join(', ')}`);
  const blob = Buffer.from(base64, 'base64');
  assert(typeOf(blob) === type, `the host key after '${type}' is not a key of that type`);
  return { type, blob };
}

/** A key as the server presented it. */
export const presentedHostKey = (blob: Buffer): HostKey => ({ type: typeOf(blob), blob });

/** As OpenSSH prints it: `SHA256:` and unpadded base64. */
export function fingerprint(key: HostKey): string {
  return `SHA256:${createHash('sha256').update(key.blob).digest('base64').replace(/=+$/, '')}`;
}

/**
 * What to offer: the pinned types first, so that a host with several keys shows the one that we know. The other types follow, only so
 * that a host whose key was replaced by one of another type is told apart from a host that cannot be talked to: its key is refused all the same.
 */
export function offeredAlgorithms(pinned: readonly { readonly type: HostKeyType }[]): HostKeyAlgorithm[] {
  const known = pinned.map((key) => key.type);
  const rest = (Object.keys(ALGORITHMS) as HostKeyType[]).filter((type) => !known.includes(type));
  return [...new Set([...known, ...rest].flatMap((type) => ALGORITHMS[type]))];
}

/** A blob begins with the length and the name of its type (RFC 4253 §6.6). */
function typeOf(blob: Buffer): string {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0);
  return length > 0 && length <= 64 && blob.length > 4 + length ? blob.toString('latin1', 4, 4 + length) : 'unknown';
}
