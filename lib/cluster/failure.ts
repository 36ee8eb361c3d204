/**
 * What can go wrong between dispatch and a cluster, thrown by adapters and their transports. A failure says that we could not look
 * or could not be heard; it is never an outcome of a job.
 *
 * Invariant guarded here: `sent` is 'no' only where it is certain that no byte of the program reached the far side. A submission
 * may be planned again after 'no'; after 'maybe' it is uncertain and must be settled.
 */

export type ClusterFailureCode =
  | 'cluster/unreachable'
  | 'cluster/auth_refused'
  | 'cluster/host_key_changed'
  | 'cluster/command_failed'
  | 'cluster/output_unparseable'
  | 'cluster/output_truncated'
  | 'cluster/no_login';

/** Whether the remote program may have been carried out. */
export type Sent = 'no' | 'maybe';

export interface ClusterFailureFacts {
  /** A stable finer word for logs and preflight ('dns', 'refused', 'dropped', …); no decision hangs on it. */
  readonly reason: string;
  readonly sent: Sent;
  /** Given only where it differs from what the code usually means. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
  /** Of a changed host key: fingerprints, as people compare them. */
  readonly hostKey?: { readonly presented: string; readonly pinned: readonly string[] };
}

/** Whether the same call may succeed later without anyone changing anything. */
const USUALLY_RETRYABLE: Readonly<Record<ClusterFailureCode, boolean>> = {
  'cluster/unreachable': true,
  'cluster/auth_refused': false,
  'cluster/host_key_changed': false,
  'cluster/command_failed': false,
  'cluster/output_unparseable': false,
  'cluster/output_truncated': true,
  'cluster/no_login': false,
};

export class ClusterFailure extends Error {
  // Set by hand: a minifier renames classes, and logs and state machines match on `name`.
  override readonly name = 'ClusterFailure';
  readonly code: ClusterFailureCode;
  readonly reason: string;
  readonly retryable: boolean;
  readonly sent: Sent;
  readonly hostKey?: NonNullable<ClusterFailureFacts['hostKey']>;

  /** `message` is shown to callers: it must hold no secret, no key material and no text of a secret store. */
  constructor(code: ClusterFailureCode, message: string, facts: ClusterFailureFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.reason = facts.reason;
    this.retryable = facts.retryable ?? USUALLY_RETRYABLE[code];
    this.sent = facts.sent;
    if (facts.hostKey) this.hostKey = facts.hostKey;
  }
}
