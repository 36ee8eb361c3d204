/**
 * How the Slurm adapter runs a program on a login node, whatever carries it there. Commands and parsers know only these types; ssh.ts
 * and shell.ts make them real.
 *
 * Invariant: an answer is returned only when it arrived whole, with the program's own exit code; anything less is a ClusterFailure.
 */

/** One remote program: the text of a POSIX sh program, run with an empty stdin. */
export interface RemoteCommand {
  readonly script: string;
  /** From the call of `run` to the whole answer; fractions are allowed. */
  readonly timeoutSeconds: number;
  /** For stdout and for stderr, each. */
  readonly maxBytes: number;
}

/** What the program itself wrote and how it ended. A non-zero exit code is an answer, not a failure. */
export interface RemoteAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

/** One connection, any number of commands, also at the same time: over SSH at most eight are under way, and others wait in their own time. */
export interface Session {
  /** Throws ClusterFailure only. */
  run(command: RemoteCommand): Promise<RemoteAnswer>;
  /** Ends the connection and whatever still runs on it; safe to repeat, never throws. */
  close(): Promise<void>;
}

export interface Transport {
  /** Throws ClusterFailure only, always with `sent: 'no'`. */
  connect(): Promise<Session>;
}

/** Randomness and a clock, handed in so that a test can decide both. */
export interface Sources {
  /** `bytes` unpredictable bytes: what a banner or a job's output must not be able to guess. */
  random(bytes: number): Uint8Array;
  /** Any steady clock in milliseconds; only differences are used. */
  nowMs(): number;
}
