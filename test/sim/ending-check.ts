/**
 * Endings: what an attempt may be said to have ended by (contract §3), judged on how that very run of its object ended, on who cancelled
 * it, and on what the sources could show: S8.
 */
import { type ClusterObject, isKnown, jobKey, type State } from '../../lib/cluster/memory/state.ts';
import type { Cause } from '../../lib/job/cause.ts';
import type { CancelWhy, EventOf } from '../../lib/job/event.ts';
import { CLOCK_JUMPS_MS } from './climate.ts';
import type { Kernel } from './kernel.ts';
import type { LedgerAttempt } from './ledger.ts';
import { holds } from './verdict.ts';

interface Ended {
  readonly cause: Cause;
  readonly signal?: unknown;
  readonly stage?: unknown;
  /** Our own cancel did it. */
  readonly byUs: boolean;
}

export interface EndingCheck {
  /** Looks at what has ended, or is hidden, since the last time. */
  remember(): void;
  /** `attempt`: with this end entered. `released`: its release was done, as far as the record knows. */
  ends(job: string, object: ClusterObject, attempt: LedgerAttempt, event: EventOf<'attempt_ended'>, released: boolean, where: string): void;
}

/** What an end after our own cancel may be called, by why we cancelled. */
const CALLED: Readonly<Record<CancelWhy, readonly Cause[]>> = {
  request: ['cancelled_by_dispatch'],
  patience: ['no_capacity', 'budget'],
  stall: ['stalled'],
  deadline: ['deadline'],
  wall_clock: ['deadline'],
  // Or what used the rule up.
  limit: ['cancelled_by_dispatch'],
  never: ['unsatisfiable', 'dependency_failed', 'launch_failed'],
};

/** Whoever cancelled, a scheduler may not tell; nor a cancel's signals from the program's own; nor what a gate or a guard ended for us. */
const mayBeOurs = ({ cause, signal, stage }: Ended): boolean =>
  cause === 'cancelled_by_dispatch' ||
  cause === 'cancelled_by_user' ||
  cause === 'cancelled_by_unknown' ||
  cause === 'gate_expired' ||
  (cause === 'launch_failed' && stage === 'guard') ||
  (cause === 'signalled' && [2, 9, 15].includes(signal as number));

/** So long may a lie have kept an object from the looks that an absence was concluded from: the grace, its polls, and a stall. */
const HIDDEN_MS = 30 * 60_000;

export const createEndingCheck = (kernel: Kernel, cluster: State, tag: string): EndingCheck => {
  const endings = new Map<ClusterObject, Map<number, Ended>>();
  const hiddenAt = new Map<ClusterObject, number>();
  let frozenAt = Number.NEGATIVE_INFINITY;

  const of = (object: ClusterObject): Map<number, Ended> => {
    const known = endings.get(object) ?? new Map<number, Ended>();
    endings.set(object, known);
    return known;
  };

  const cancelledByUs = (object: ClusterObject): boolean =>
    object.ending?.cause === 'cancelled_by_user' &&
    cluster.acts
      .slice(-20)
      .some((act) => act.verb === 'cancel' && act.schedulerId === object.id && act.result === 'done' && act.atMs === cluster.agenda.nowMs);

  const remember = (): void => {
    const { lie, frozen } = cluster.faults;
    if (frozen) frozenAt = kernel.nowMs;
    for (const object of cluster.objects) {
      if (object.tag !== undefined && object.tag !== tag) continue;
      // What others made is known by its id alone, which may have come round again.
      const isReplaced = object.tag === undefined && cluster.byId.get(object.id) !== object;
      if (isReplaced || !isKnown(cluster, object) || lie?.hides(object)) hiddenAt.set(object, kernel.nowMs);
      const { ending, lastRunCause, run } = object;
      if (!ending && !lastRunCause) continue;
      const known = of(object);
      if (lastRunCause && run > 0 && !known.has(run - 1)) known.set(run - 1, { cause: lastRunCause, byUs: false });
      if (ending && !known.has(run))
        known.set(run, {
          cause: ending.cause,
          ...{ signal: ending.detail['signal'], stage: ending.detail['stage'] },
          byUs: cancelledByUs(object),
        });
    }
  };

  const isHidden = (object: ClusterObject): boolean =>
    kernel.nowMs - Math.max(frozenAt, hiddenAt.get(object) ?? Number.NEGATIVE_INFINITY) < HIDDEN_MS;

  const beganBy = (job: string, object: ClusterObject, n: number, untilMs: number): boolean =>
    (cluster.executionsByJob.get(jobKey(tag, job)) ?? []).some(
      (one) => one.n === n && one.schedulerId === object.id && one.startedAtMs < untilMs,
    );

  return {
    remember,
    ends(job, object, attempt, { n, outcome, look }, released, where) {
      const { cause, ran } = outcome;
      const ended = endings.get(object)?.get(attempt.run);
      const says = (): string =>
        `${where} as ${cause}: run ${attempt.run} of object ${object.id}, now ${object.state}, ended by ${ended?.cause ?? 'nothing'}`;
      const why = attempt.cancel?.why;
      // Of several runs that began between two looks only one cause is told.
      const usedUpBy = attempt.requeues.findLast((one) => one !== undefined);
      const called = why !== undefined && (CALLED[why].includes(cause) || (why === 'limit' && usedUpBy === cause));
      const gone = isHidden(object);
      const unasked = ended?.cause === 'no_capacity' && (cause === 'budget' || (cause === 'gate_expired' && !released));
      const own = ended?.cause === cause || (ended && called && mayBeOurs(ended)) || (why === undefined && unasked);
      holds(own || (gone && (cause === 'vanished' || called)), 'S8', says);
      const told = (kernel.met.get('cluster_clock_jump') ?? 0) > 0 || !ended?.byUs || called || gone;
      holds(told, 'S8', () => `${says()}, and by our own cancel (${why})`);
      // What began after the look that taught it, a stale one perhaps, is another run.
      const lookedMs = (look?.clusterStartedAt ?? Number.POSITIVE_INFINITY) - cluster.clockOffsetMs - CLOCK_JUMPS_MS;
      holds(ran !== 'no' || !beganBy(job, object, n, lookedMs), 'S8', () => `${where} as ${cause} with ran: no, and its program began`);
      const began = object.submission ? beganBy(job, object, n, Number.POSITIVE_INFINITY) : object.everRan;
      holds(ran !== 'yes' || began || attempt.seenBegun, 'S8', () => `${where} as ${cause} with ran: yes, and its program never began`);
    },
  };
};
