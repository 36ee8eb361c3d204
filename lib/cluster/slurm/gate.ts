/**
 * The gate: what keeps a submitted job from starting until it is released, by the recipe of the controller's version. A deadline
 * with a far begin time, the obvious form, is refused everywhere.
 *
 * Invariant guarded (protocols §4.1): an unreleased attempt cannot start; where Slurm allows it, it dies by itself at about the end
 * of its patience. Both need a finite time limit, which every submission therefore carries.
 */
import type { Gate } from '../../job/event.ts';
import type { RenderOptions } from '../port.ts';

export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** `22.05.8`, `slurm 22.05.8`, `slurm-wlm 23.11.4`. */
export const parseVersion = (text: string): Version | undefined => {
  const parts = /(?:^|[\s-])(\d{2})\.(\d{2})(?:\.|$|\s)/.exec(text);
  return parts ? { major: Number(parts[1]), minor: Number(parts[2]) } : undefined;
};

const isBefore = (version: Version, major: number, minor: number): boolean =>
  version.major < major || (version.major === major && version.minor < minor);

/** Undefined: older than 21.08, or unknown; no recipe was ever checked there. */
export const mechanismFor = (version: Version | undefined, requeue: RenderOptions['requeue']): Gate['mechanism'] | undefined => {
  if (!version || isBefore(version, 21, 8)) return undefined;
  // A requeue must find no deadline, and a begin time would be replaced by it: a hold stays what it is.
  if (requeue !== 'never') return 'hold';
  if (isBefore(version, 23, 2)) return 'begin';
  return isBefore(version, 24, 5) ? 'begin_push' : 'hold_deadline';
};

/** Slurm counts limits in whole minutes. */
export const limitMinutes = (timeLimitSeconds: number): number => Math.ceil(timeLimitSeconds / 60);

/** The gate of a submission planned at `clusterNow`: its patience, gated time included, ends at `clusterExpiresAt`. */
export const gateFor = (mechanism: Gate['mechanism'], patienceSeconds: number, clusterNow: number): Gate => {
  if (mechanism === 'hold') return { mechanism, selfDestructs: false };
  const expires = Math.floor(clusterNow / 1000) + patienceSeconds;
  return { mechanism, selfDestructs: true, clusterExpiresAt: expires * 1000 };
};

/** Seconds since 1970 by the cluster's clock. */
export interface GateTimes {
  readonly hold: boolean;
  readonly begin?: number;
  readonly deadline?: number;
  /** 23.02 to 23.11: the begin time to which the job is pushed right after it was accepted. */
  readonly pushTo?: number;
}

/** How far past its last possible start a job of the begin recipe may not be looked at: then the first evaluation kills it. */
const PAST_EDGE_SECONDS = 60;
const PUSH_SECONDS = 120;

/** The moments that `sbatch` is given. With D = expiry + limit, the last second in which a job may start is the expiry. */
export const gateTimes = (gate: Gate, timeLimitSeconds: number): GateTimes => {
  if (gate.mechanism === 'hold' || gate.clusterExpiresAt === undefined) return { hold: true };
  const expires = Math.floor(gate.clusterExpiresAt / 1000);
  const deadline = expires + limitMinutes(timeLimitSeconds) * 60;
  switch (gate.mechanism) {
    case 'hold_deadline':
      return { hold: true, deadline };
    case 'begin_push':
      // The smallest deadline that 23.02 accepts for this begin time; startable in the one second of `expires` until it is pushed.
      return { hold: false, begin: expires, deadline, pushTo: expires + PUSH_SECONDS };
    default:
      // A limit of one minute makes this equal to the deadline, which sbatch still accepts.
      return { hold: false, begin: expires + PAST_EDGE_SECONDS, deadline };
  }
};

export const GATE_SAYS: Readonly<Record<Gate['mechanism'], string>> = {
  begin: 'a begin time just past deadline minus time limit: unreleased, the job is ended by its deadline at its first evaluation',
  begin_push: 'a begin time that is pushed past deadline minus time limit and read back; until then the wrapper’s guard alone protects',
  hold_deadline: 'held by its owner, with a deadline at which Slurm ends held jobs too',
  hold: 'held by its owner, without a deadline, because a requeue must survive it: patience is the supervisor’s, and an unreleased job is discarded by the sweep',
  suspend: 'not a mechanism of Slurm',
};
