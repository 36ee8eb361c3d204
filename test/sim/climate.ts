/**
 * Climate: how likely each fault is in one world. Drawn from the seed, so every world is another climate: most faults are absent from
 * a given world, some are rare, a few are everywhere.
 */
import type { Random } from './random.ts';

export const FAULT_KINDS = [
  // Of any process.
  'stall',
  'stalled_before_effect',
  'crash',
  'duplicate_invocation',
  'invocation_failed',
  'late_answer',
  // Of the record.
  'record_request_lost',
  'record_reply_lost',
  'record_repeated',
  'record_stale_list',
  'record_outage',
  // Of the supervisors' service.
  'signal_request_lost',
  'signal_reply_lost',
  'signal_doubled',
  'start_request_lost',
  'start_reply_lost',
  'execution_killed',
  'spontaneous_generation',
  'local_restart',
  // Of the cluster.
  'cluster_unreachable',
  'cluster_request_lost',
  'cluster_reply_lost',
  'cluster_delayed',
  'cluster_outage',
  'controller_outage',
  'cluster_stale_view',
  'cluster_partial_view',
  'cluster_hidden_object',
  'cluster_pub_unreadable',
  'cluster_clock_jump',
  // Of strangers and of nature.
  'second_object',
  'foreign_cancel',
  'foreign_hold',
  'foreign_release',
  'foreign_requeue',
  'foreign_edit',
  'struck',
  'node_returns',
  'suspended',
  'purged',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Climate {
  readonly faults: Readonly<Record<FaultKind, number>>;
  readonly stallMs: number;
  readonly skewMs: number;
  /** Handlers are ended at their time limit, as Lambda does; else a stalled one goes on for as long as it likes. */
  readonly limits: boolean;
  /** How long faults go on, by virtual time. */
  readonly troubledMs: number;
}

/** Faults that are asked for at every call; the others are asked for at every tick of nature, some hundred times less often. */
const PER_CALL = new Set<FaultKind>([
  'stall',
  'stalled_before_effect',
  'crash',
  'record_request_lost',
  'record_reply_lost',
  'record_repeated',
  'cluster_unreachable',
  'cluster_request_lost',
  'cluster_reply_lost',
  'cluster_delayed',
]);

/** `without` switches kinds off: how a failing seed is shrunk. */
export const climateOf = (random: Random, without: ReadonlySet<string> = new Set()): Climate => {
  const fair = random.chance(0.05);
  const share = random.pick([0.2, 0.4, 0.7]);
  const perCall = random.pick([0.03, 0.06, 0.15]);
  const perTick = random.pick([0.1, 0.3, 0.5]);
  const faults = Object.fromEntries(
    FAULT_KINDS.map((kind) => {
      const most = PER_CALL.has(kind) ? perCall : perTick;
      const probability = most * random.next() ** 2;
      return [kind, random.chance(share) && !fair && !without.has(kind) ? probability : 0];
    }),
  ) as Record<FaultKind, number>;
  return {
    faults,
    stallMs: random.pick([20_000, 120_000, 600_000]),
    skewMs: random.pick([0, 0, 200, 2000]),
    limits: random.chance(0.6),
    troubledMs: random.between(600, 4000) * 1000,
  };
};
