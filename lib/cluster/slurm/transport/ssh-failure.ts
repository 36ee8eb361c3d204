/**
 * What went wrong between us and one SSH host: every way in which a connection can fail to come about, as a ClusterFailure in our own
 * words. The words of the library and of the far side are kept as the cause only.
 */
import { ClusterFailure, type ClusterFailureCode } from '../../failure.ts';
import { fingerprint, type HostKey } from './host-key.ts';

/** How far a connection had come. */
export type Stage = 'connect' | 'handshake' | 'auth';

interface Place {
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

export const hopName = (place: Place): string => `${place.user}@${place.host}:${place.port}`;

/** Every failure of connecting comes before any program: nothing was sent. */
export function hopFailure(code: ClusterFailureCode, reason: string, message: string, cause?: unknown): ClusterFailure {
  return new ClusterFailure(code, message, { reason, sent: 'no', ...(cause === undefined ? {} : { cause }) });
}

export const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  connect: 'while connecting',
  handshake: 'during the SSH handshake',
  auth: 'during authentication',
};

export type SshError = Error & { level?: string; code?: string | number };

export function classify(hop: Place, stage: Stage, error: SshError, asksMore: readonly string[]): ClusterFailure {
  const name = hopName(hop);
  if (asksMore.length > 0) {
    const message = `${name} wants more than the key (${asksMore.join(', ')}): interactive MFA is not supported`;
    return hopFailure('cluster/auth_refused', 'second_factor', message, error);
  }
  // A server that has had enough may hang up with a reason instead of answering the last try.
  const refused = error.level === 'client-authentication' || (stage === 'auth' && /authentication/i.test(error.message));
  if (refused) return hopFailure('cluster/auth_refused', 'key_refused', `${name} refused the key`, error);
  const code = typeof error.code === 'string' ? error.code : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return hopFailure('cluster/unreachable', 'dns', `the name ${hop.host} could not be looked up (${code})`, error);
  }
  if (stage === 'connect') {
    const reason = code === 'ECONNREFUSED' ? 'refused' : 'connect';
    return hopFailure('cluster/unreachable', reason, `${name} could not be connected to (${code || 'no reason given'})`, error);
  }
  const reason = code === 'ECONNRESET' || code === 'EPIPE' ? 'dropped' : stage;
  return hopFailure('cluster/unreachable', reason, `${name} failed ${STAGE_WORDS[stage]}${code ? ` (${code})` : ''}`, error);
}

export function hostKeyChanged(hop: Place, pinned: readonly HostKey[], presented: HostKey): ClusterFailure {
  const show = (key: HostKey): string => `${fingerprint(key)} (${key.type})`;
  const message = `the host key of ${hop.host}:${hop.port} is ${show(presented)}, but pinned is ${pinned.map(show).join(' or ')}; nothing was sent`;
  const hostKey = { presented: show(presented), pinned: pinned.map(show) };
  return new ClusterFailure('cluster/host_key_changed', message, { reason: 'host_key', sent: 'no', hostKey });
}
