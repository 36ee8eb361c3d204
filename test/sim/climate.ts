/**
 * Climate: how likely each fault is in one world. Drawn from the seed, so every world is another climate: most faults are absent from
 * a given world, some are rare, a few are everywhere.
 */
import { type Random, randomFor } from './random.ts';

export const FAULT_KINDS = [
  // Of any process.
  'stall',
  'stalled_before_effect',
  'crash',
  /** A writer dies when it has moved the head and not yet taken the token of the question. */
  'dies_before_token',
  'duplicate_invocation',
  'invocation_failed',
  'late_answer',
  /** A release that writes the next schema runs beside this one. */
  'newer_release',
  // Of the API's callers.
  'api_request_lost',
  'api_request_doubled',
  'api_reply_lost',
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
  /** An execution is stopped when the answer of a person was just handed to it. */
  'killed_with_answer',
  /** Nobody is told that an execution ended badly, or somebody is told twice. */
  'bad_end_untold',
  'bad_end_told_twice',
  // Of the bus.
  'bus_request_lost',
  'bus_reply_lost',
  // Of the cluster.
  'cluster_unreachable',
  'cluster_request_lost',
  'cluster_reply_lost',
  'cluster_delayed',
  'cluster_outage',
  'controller_outage',
  'cluster_stale_view',
  'cluster_partial_view',
  'cluster_empty_view',
  'cluster_truncated_view',
  'cluster_hidden_object',
  'cluster_pub_unreadable',
  'cluster_clock_jump',
  /** An outage of hours, about which people are asked. */
  'cluster_siege',
  'cluster_refuses_login',
  'cluster_shows_another_key',
  'cluster_loses_capability',
  'configuration_changed',
  'ids_reused',
  // Of strangers and of nature.
  'second_object',
  'foreign_cancel',
  'foreign_hold',
  'foreign_release',
  'foreign_requeue',
  'foreign_edit',
  'preempted',
  'node_lost',
  'memory_killed',
  'node_returns',
  'suspended',
  'suspended_again_and_again',
  'purged',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What no dice decide: it follows from the others, and must be met all the same. */
export const CONSEQUENCES = [
  'append_conflict',
  'stale_park',
  'wake_after_timeout',
  'survivor',
  'late_publication',
  'late_publication_of_the_same_attempt',
  'ignored_resume_point',
  'answer_before_its_token',
  'died_before_head',
  'died_before_signal',
  'died_before_notice',
  'head_moved_unheard',
  'save_collected',
  'older_machine',
  'newer_machine',
  'warm_process',
] as const;
export type Consequence = (typeof CONSEQUENCES)[number];

export interface Upgrade {
  /** From when on processes may be of the newer one, and how many are. */
  readonly afterMs: number;
  readonly share: number;
  /** It writes clusters' records anew, too. */
  readonly clusters: boolean;
  /** It brings a machine of its own, which executions have that begin from then on; undefined: it keeps the machine. */
  readonly machineAfterMs?: number;
}

/** How far the cluster's clock is moved at most, all jumps of a world together, whichever way. */
export const CLOCK_JUMPS_MS = 300_000;

/** Clocks of two processes differ by less: what a judge allows them. */
export const SKEW_MS = 5000;

export interface Climate {
  readonly faults: Readonly<Record<FaultKind, number>>;
  readonly stallMs: number;
  readonly skewMs: number;
  /** Handlers are ended at their time limit, as Lambda does; else a stalled one goes on for as long as it likes. */
  readonly limits: boolean;
  /** How long faults go on, by virtual time. */
  readonly troubledMs: number;
  /** An outage of hours is ahead: the world is slower, too. */
  readonly sieged: boolean;
  /** Of a world with two releases. */
  readonly upgrade?: Upgrade;
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

/** There are few occasions for these: where they happen at all they happen at least so often. */
const LEAST: Partial<Readonly<Record<FaultKind, number>>> = {
  ...{ killed_with_answer: 0.4, dies_before_token: 0.4, bad_end_untold: 0.4, bad_end_told_twice: 0.4, cluster_hidden_object: 0.4 },
  ...{ cluster_delayed: 0.1, preempted: 0.1, node_lost: 0.1, memory_killed: 0.1, suspended_again_and_again: 0.1 },
  ...{ foreign_release: 0.3, foreign_cancel: 0.05, node_returns: 0.3 },
};

/** A siege outlasts the six hours after which people are asked (contract §13). */
export const SIEGE_MS = 7 * 3_600_000;
/** Shares of worlds, and per tick of nature. */
const SIEGED = 0.02;
const SIEGE_BEGINS = 0.1;
const UPGRADED = 0.1;

/** `without` switches kinds off: how a failing seed is shrunk. Nothing else is drawn otherwise for it. */
export const climateOf = (seed: number, random: Random, without: ReadonlySet<string> = new Set()): Climate => {
  const fair = random.chance(0.05);
  const sieged = random.chance(SIEGED) && !fair && !without.has('cluster_siege');
  const upgraded = random.chance(UPGRADED) && !fair && !without.has('newer_release');
  const share = random.pick([0.2, 0.4, 0.7]);
  const perCall = random.pick([0.03, 0.06, 0.15]);
  const perTick = random.pick([0.1, 0.3, 0.5]);
  const faults = Object.fromEntries(
    FAULT_KINDS.map((kind) => {
      const luck = randomFor(seed, `climate ${kind}`);
      const most = PER_CALL.has(kind) ? perCall : perTick;
      const drawn = most * luck.next() ** 2;
      const probability = Math.max(drawn, LEAST[kind] ?? 0);
      // Only a preflight that misses something reads the jobs, and so meets those that a newer release has written.
      if (kind === 'cluster_loses_capability' && upgraded && !without.has(kind)) return [kind, Math.max(drawn, 0.1)];
      return [kind, luck.chance(share) && !fair && !without.has(kind) ? probability : 0];
    }),
  ) as Record<FaultKind, number>;
  const troubledMs = random.between(600, 4000) * 1000;
  const afterMs = random.between(1, troubledMs);
  const upgrade: Upgrade = {
    ...{ afterMs, share: random.next(), clusters: random.chance(0.3) },
    ...(random.chance(0.5) ? { machineAfterMs: Math.max(1, afterMs + random.between(-60_000, 300_000)) } : {}),
  };
  return {
    ...(upgraded ? { upgrade } : {}),
    sieged,
    faults: { ...faults, cluster_siege: sieged ? SIEGE_BEGINS : 0, newer_release: 0 },
    stallMs: random.pick([20_000, 120_000, 600_000]),
    skewMs: random.pick([0, 0, 200, 2000]),
    limits: random.chance(0.6),
    troubledMs: sieged ? SIEGE_MS + troubledMs : troubledMs,
  };
};
