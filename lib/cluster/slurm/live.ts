/**
 * What one row of the controller says of an object that has not ended: its coarse state, why it waits, what others did to it.
 *
 * Invariant: `gated` is read from the object itself (held by its owner, or not yet eligible, in its first run) and never from what
 * we believe we did, because a release that was reported done may not have been applied and one reported failed may have been.
 */
import type { Finding, LiveState, PendingGroup } from '../../job/event.ts';
import { cut } from './cut.ts';
import { groupOf } from './reasons.ts';
import type { LivePhase } from './words.ts';

export interface Seen {
  readonly state: LiveState;
  readonly group?: PendingGroup;
}

/** What the record knows of the object; all false and empty for one that no target explains. */
export interface Known {
  readonly released: boolean;
  readonly requeueable: boolean;
  readonly run: number;
  readonly seen: string;
}
export const UNKNOWN: Known = { released: false, requeueable: false, run: 0, seen: '' };

/** `eligible` and `now` in seconds of the cluster's clock. Cheap: a poll asks it of every row. */
export const liveState = (phase: LivePhase, reason: string, run: number, eligible: number | undefined, now: number, seen: string): Seen => {
  switch (phase) {
    case 'running':
      return reason === 'Prolog' ? STARTING : RUNNING;
    case 'ending':
      return ENDING;
    case 'starting':
      return STARTING;
    case 'suspended':
      return SUSPENDED;
    case 'held': {
      const group = groupOf(reason);
      return QUEUED[group === 'waiting' ? 'held' : group];
    }
    case 'pending':
      return isGated(reason, run, eligible, now, seen) ? GATED : QUEUED[groupOf(reason)];
  }
};

const isGated = (reason: string, run: number, eligible: number | undefined, now: number, seen: string): boolean =>
  run === 0 && reason !== 'JobHeldAdmin' && !leftGate(seen) && (eligible === undefined || eligible > now || reason === 'JobHeldUser');

/** Once it was seen beyond its gate, a hold or a later begin time is the work of others (protocols §4.3). */
const leftGate = (seen: string): boolean => seen !== '' && !seen.startsWith('gated') && !seen.startsWith('ended');

const GATED: Seen = { state: 'gated' };
const RUNNING: Seen = { state: 'running' };
const STARTING: Seen = { state: 'starting' };
const SUSPENDED: Seen = { state: 'suspended' };
const ENDING: Seen = { state: 'ending' };
const queued = (group: PendingGroup): Seen => ({ state: 'queued', group });
const QUEUED: Readonly<Record<PendingGroup, Seen>> = {
  waiting: queued('waiting'),
  concurrency: queued('concurrency'),
  budget: queued('budget'),
  blocked: queued('blocked'),
  held: queued('held'),
  launch_failed: queued('launch_failed'),
  admitted: queued('admitted'),
  never: queued('never'),
};

/**
 * The run that a row speaks of. While COMPLETING the controller may already have counted the next run although the old one is
 * still being cleaned up, so an ending row never moves the run.
 */
export const runOf = (phase: LivePhase, run: number, known: Known): number => (phase === 'ending' ? known.run : run);

/** What somebody else did to the object, told when its state changes. `since` in milliseconds of the cluster's clock. */
export const findingOf = (seen: Seen, run: number, known: Known, words: string, since: number): Finding | undefined => {
  const found = (kind: Finding['kind']): Finding => ({ kind, since, said: cut(words, 1024) });
  if (run > known.run && !known.requeueable) return found('requeued');
  if (seen.group === 'held') return found('held');
  if (!known.released && seen.state !== 'gated' && known.seen.startsWith('gated')) return found('released');
  return undefined;
};
