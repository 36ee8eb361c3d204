/**
 * Causes: why an attempt or a job ended, in one vocabulary for every scheduler (contract §3).
 * Guards promise 1: an outcome is a coarse state plus a typed cause with evidence. The enumeration is closed; an unknown
 * name is refused at every boundary, and "could not look" has no cause here on purpose.
 */
import * as z from 'zod';

export const CAUSES = {
  completed: 'success',
  preempted: 'infrastructure',
  node_lost: 'infrastructure',
  evicted: 'infrastructure',
  launch_failed: 'infrastructure',
  boot_failed: 'infrastructure',
  scheduler_failed: 'infrastructure',
  revoked: 'infrastructure',
  never_landed: 'infrastructure',
  no_capacity: 'capacity',
  gate_expired: 'capacity',
  time_limit: 'limit',
  deadline: 'limit',
  out_of_memory: 'limit',
  budget: 'limit',
  stalled: 'limit',
  rejected: 'request',
  unsatisfiable: 'request',
  dependency_failed: 'request',
  exited: 'application',
  signalled: 'application',
  cancelled_by_dispatch: 'people',
  cancelled_by_user: 'people',
  cancelled_by_admin: 'people',
  cancelled_by_unknown: 'people',
  vanished: 'evidence',
  contradictory: 'evidence',
  unrecognised: 'evidence',
} as const;

export type Cause = keyof typeof CAUSES;
export type CauseClass = (typeof CAUSES)[Cause];

export const CAUSE_NAMES = Object.keys(CAUSES) as [Cause, ...Cause[]];
export const CAUSE_CLASSES = [...new Set(Object.values(CAUSES))] as [CauseClass, ...CauseClass[]];

/** Coarse end states. An attempt of class evidence ends `unknown`; a job never does (contract §3). */
export const END_STATES = ['succeeded', 'failed', 'cancelled', 'unknown'] as const;
export type EndState = (typeof END_STATES)[number];

/** The raw words of one source, as it said them. All text; `at` is milliseconds since 1970 by the source's clock. */
export const evidenceSchema = z.strictObject({
  source: z.string().max(64),
  state: z.string().max(256).optional(),
  reason: z.string().max(1024).optional(),
  exitCode: z.string().max(32).optional(),
  nodes: z.string().max(1024).optional(),
  message: z.string().max(1024).optional(),
  at: z.int().optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

export const outcomeSchema = z.strictObject({
  state: z.enum(END_STATES),
  cause: z.enum(CAUSE_NAMES),
  class: z.enum(CAUSE_CLASSES),
  /** What the cause table promises per cause: nodes, stage, scope, signal, code, since, reason, … */
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  evidence: z.array(evidenceSchema).max(16),
  confidence: z.enum(['certain', 'likely', 'guess']),
  /** Whether the user's program began: decides what an attempt consumes (contract §5). */
  ran: z.enum(['yes', 'no', 'unknown']),
  /** Milliseconds since 1970 by dispatch's clock. */
  observedAt: z.int(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

/** The coarse state follows the class, never the other way round. */
export const stateOf = (cause: Cause): EndState => {
  const of = CAUSES[cause];
  return of === 'success' ? 'succeeded' : of === 'people' ? 'cancelled' : of === 'evidence' ? 'unknown' : 'failed';
};

export type OutcomeParts = Partial<Pick<Outcome, 'detail' | 'evidence' | 'confidence' | 'ran'>> & { observedAt: number };

/** An outcome whose state and class follow from its cause. Unless told otherwise it is certain and the program ran. */
export const outcomeOf = (cause: Cause, parts: OutcomeParts): Outcome => ({
  state: stateOf(cause),
  cause,
  class: CAUSES[cause],
  detail: parts.detail ?? {},
  evidence: parts.evidence ?? [],
  confidence: parts.confidence ?? 'certain',
  ran: parts.ran ?? 'yes',
  observedAt: parts.observedAt,
});
