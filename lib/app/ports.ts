/**
 * The ports of the use cases: everything outside that dispatch's handlers touch. Owned here, made real elsewhere.
 * Nothing below lib/app reads a clock, a random number or the environment in any other way, so a simulator that provides
 * these ports controls the whole of a run.
 */
import type { Adapter } from '../cluster/port.ts';
import type { Probe } from '../job/capability.ts';
import type { RecordStore } from '../record/port.ts';
import type { Notice } from './notices.ts';

export interface Supervisors {
  /** Starts the execution `<job>-<generation>`. A name that is taken is done: idempotent by name. */
  start(job: string, generation: number): Promise<'started' | 'exists'>;
  /** Signals a waiting token with `{}`. `superseded`: the task is gone, which is normal. Throws SupervisorsFailure when the answer is unknown. */
  signal(token: string): Promise<'signalled' | 'superseded'>;
}

/** The service that runs supervisors could not be asked, or throttled us: the wake stays owed. */
export class SupervisorsFailure extends Error {
  override readonly name = 'SupervisorsFailure';
  readonly code = 'supervisors/unavailable';
  readonly retryable = true;
}

/** Where domain events go (contract §11). */
export interface Bus {
  /** Returns once all of them are kept; the same one may come again. Throws BusFailure when that is not known. */
  put(notices: readonly Notice[]): Promise<void>;
}

/** The bus did not say that it keeps what was put: it is put again by the next sweep. */
export class BusFailure extends Error {
  override readonly name = 'BusFailure';
  readonly code = 'bus/unavailable';
  readonly retryable = true;
}

export interface LoginConfiguration {
  readonly id: string;
  readonly user: string;
  /** The principals and groups that it is for; absent: everybody who may submit. */
  readonly allow?: readonly string[];
  /** What a job asks for where its spec's extension says nothing. */
  readonly defaults?: { readonly account?: string; readonly qos?: string; readonly partition?: string };
}

/** A secret that programs may be given: its name alone. Values go from their source to an adapter and nowhere else. */
export interface SecretConfiguration {
  readonly name: string;
  /** Principals and groups; absent: everybody who may submit. */
  readonly allow?: readonly string[];
  /** `cluster/login`: only for jobs under one of these; absent: under any. */
  readonly logins?: readonly string[];
}

export interface ClusterConfiguration {
  readonly id: string;
  readonly adapter: Adapter;
  readonly pollEverySeconds: number;
  readonly landingBoundSeconds: number;
  /** May be looked at but never written to. */
  readonly readOnly: boolean;
  readonly logins: readonly LoginConfiguration[];
  /** What other clusters that see the same files under their root declare, too. */
  readonly rootId?: string;
  /** Of everything that is configured for it: a change is worth another probe. Absent: never told apart. */
  readonly digest?: string;
  /** Of a login's secret as it is now: a change is worth another try of a refused key. Throws where it cannot be read. */
  readonly secretDigest?: (login: string) => Promise<string>;
}

export interface Ports {
  readonly store: RecordStore;
  readonly supervisors: Supervisors;
  /** Undefined: nobody is told, and what would be told waits unsent. */
  readonly bus?: Bus;
  /** Undefined: the configuration no longer names that cluster. */
  readonly clusters: ReadonlyMap<string, ClusterConfiguration>;
  /** Absent: programs are given none. */
  readonly secrets?: readonly SecretConfiguration[];
  /** The last probe of a cluster and login; planning and submitting need one. */
  readonly probeOf: (cluster: string, login: string) => Promise<Probe | undefined>;
  readonly tag: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** [0, 1). */
  readonly random: () => number;
  /** Waits that are part of a handler's own work (commit retries); bounded and short. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: (level: 'info' | 'warn' | 'error', message: string, fields: Readonly<Record<string, unknown>>) => void;
}
