/**
 * Events: everything that is ever true of a job, and the commits that carry them (contract §8).
 * Guards promise 4: the record is append-only. A shape here never changes meaning; a new shape is a new schema number and
 * an upcast on read. Instants are whole milliseconds since 1970 (UTC); those named `cluster…` are by the cluster's clock.
 */
import * as z from 'zod';
import { CAUSE_NAMES, outcomeSchema } from './cause.ts';
import { specSchema } from './spec.ts';

/** The schema that this release writes. It reads every older one, and refuses a newer one without changing anything. */
export const SCHEMA = 1;

export const ATTEMPT_STATES = ['planned', 'uncertain', 'gated', 'queued', 'starting', 'running', 'suspended', 'ending', 'ended'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];
/** What a look can say of an object that has not ended. */
export const LIVE_STATES = ['gated', 'queued', 'starting', 'running', 'suspended', 'ending'] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/** Why an attempt waits, as classes of reasons (C015, C016): a table per scheduler maps its words to these. */
export const PENDING_GROUPS = ['waiting', 'concurrency', 'budget', 'blocked', 'held', 'launch_failed', 'admitted', 'never'] as const;
export type PendingGroup = (typeof PENDING_GROUPS)[number];

/** A publication that an epoch resumes from, or *nothing* (path '' and step −1): protocols §8.2. */
export const pointSchema = z.strictObject({ epoch: z.int().min(0), step: z.int().min(-1), path: z.string().max(256) });
export type Point = z.infer<typeof pointSchema>;
export const NOTHING = (epoch = 0): Point => ({ epoch, step: -1, path: '' });

export const receiptSchema = z.strictObject({
  cluster: z.string(),
  login: z.string(),
  /** Short enough for what a poll reads per job (lib/app/summary.ts); a UID has 36 characters. */
  schedulerId: z.string().min(1).max(64),
  identity: z.string().max(63),
  /** The scheduler's own word for when it was submitted, by the cluster's clock. */
  submittedAt: z.int(),
});
export type Receipt = z.infer<typeof receiptSchema>;

export const gateSchema = z.strictObject({
  mechanism: z.enum(['begin', 'hold', 'hold_deadline', 'begin_push', 'suspend']),
  /** An attempt that is never released dies by itself. */
  selfDestructs: z.boolean(),
  /** By the cluster's clock: the last moment at which it may start. */
  clusterExpiresAt: z.int().optional(),
});
export type Gate = z.infer<typeof gateSchema>;

export const resourcesSchema = z.strictObject({ memoryPerNodeMi: z.int().positive().optional(), timeLimitSeconds: z.int().positive() });
export type Resources = z.infer<typeof resourcesSchema>;

/** Which look taught it: a poll's fence and its start by the cluster's clock (protocols §5.2). */
export const lookSchema = z.strictObject({ fence: z.int(), clusterStartedAt: z.int() });
export type Look = z.infer<typeof lookSchema>;

export const runSchema = z.strictObject({
  run: z.int().min(0),
  base: pointSchema,
  /** The run's greatest publication, by resolve's order. */
  latest: pointSchema.optional(),
  publications: z.int().min(0),
});
export type Run = z.infer<typeof runSchema>;

export const CANCEL_WHYS = ['request', 'patience', 'stall', 'deadline', 'wall_clock', 'limit', 'never'] as const;
export type CancelWhy = (typeof CANCEL_WHYS)[number];

export const FINDINGS = ['silent_since', 'held', 'released', 'edited', 'requeued', 'active_after_end', 'second_object'] as const;
export const findingSchema = z.strictObject({ kind: z.enum(FINDINGS), since: z.int(), said: z.string().max(1024) });
export type Finding = z.infer<typeof findingSchema>;

export const ANSWERS = ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success', 'wait', 'cancel', 'block_submissions'] as const;
export type Answer = (typeof ANSWERS)[number];
export const QUESTION_KINDS = [
  'unmatched_outcome',
  'limit_reached',
  'rule_asks',
  'outcome_unknown',
  'duplicate_attempts',
  'stuck',
  'foreign_change',
] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** What a recovery was decided by: a rule of the policy by index, `unmatched: relaunch_once`, or an answer. */
export const decidedBySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rule'), rule: z.int().min(0) }),
  z.strictObject({ kind: z.literal('unmatched') }),
  z.strictObject({ kind: z.literal('answer'), question: z.string(), answer: z.enum(ANSWERS) }),
]);
export type DecidedBy = z.infer<typeof decidedBySchema>;

export const actionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('relaunch'),
    from: z.enum(['checkpoint', 'scratch']),
    resources: resourcesSchema,
    excludeNodes: z.array(z.string().max(256)).max(64),
    /** Whether this use counts towards the rule's `max` (an attempt that never ran consumes none). */
    counts: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('requeue'), by: z.enum(['scheduler', 'supervisor']) }),
]);
export type RecoveryAction = z.infer<typeof actionSchema>;

export const becauseSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('completed') }),
  z.strictObject({ kind: z.literal('rule'), rule: z.int().min(0) }),
  z.strictObject({ kind: z.literal('unmatched') }),
  /** `limit` is a sentence fragment: `rule 0 was used 3 of 3 times`. */
  z.strictObject({ kind: z.literal('limit'), limit: z.string().max(200) }),
  z.strictObject({ kind: z.literal('answer'), question: z.string(), answer: z.enum(ANSWERS), expired: z.boolean() }),
  z.strictObject({ kind: z.literal('cancel') }),
  z.strictObject({ kind: z.literal('deadline') }),
  z.strictObject({ kind: z.literal('wall_clock') }),
  /** An observe-only job ends with its one attempt. */
  z.strictObject({ kind: z.literal('observed') }),
]);
export type Because = z.infer<typeof becauseSchema>;

const n = z.int().min(1).max(99_999);
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) => z.strictObject({ type: z.literal(type), ...shape });

export const eventSchema = z.discriminatedUnion('type', [
  event('job_submitted', {
    /** `program.script`, where there is one, is replaced by `sha256:<hex>` of its blob. */
    spec: specSchema,
    planDigest: z.string(),
    idempotencyKey: z.string(),
    principal: z.string(),
    project: z.string(),
    login: z.string(),
    /** What the plan counted with; a later probe does not change a job that was planned. */
    facts: z.strictObject({ kind: z.string(), landingBoundSeconds: z.int(), credentialLifeSeconds: z.int(), pollEverySeconds: z.int() }),
  }),
  event('job_adopted', { name: z.string(), principal: z.string(), project: z.string(), receipt: receiptSchema }),
  event('attempt_planned', {
    n,
    /** 1 for the first sending; a deferral alone allows another. */
    try: z.int().min(1),
    identity: z.string(),
    cluster: z.string(),
    login: z.string(),
    gate: gateSchema,
    /** Submitted so that the scheduler may put it back in its queue. */
    requeueable: z.boolean(),
    /** The cluster's clock when this was planned, the bound B, and when "absent" becomes final: protocols §3.1. */
    clusterNow: z.int(),
    clusterBoundAt: z.int(),
    clusterSettleAt: z.int(),
    resume: pointSchema,
    resources: resourcesSchema,
    excludeNodes: z.array(z.string()),
    rendering: z.string(),
  }),
  event('attempt_bound', { n, receipt: receiptSchema }),
  event('attempt_submission_deferred', { n, reason: z.string().max(1024), notBefore: z.int() }),
  event('attempt_uncertain', { n, sent: z.string().max(1024), answer: z.string().max(1024) }),
  event('attempt_refused', { n, outcome: outcomeSchema }),
  event('attempt_never_landed', { n, proof: z.string().max(1024), outcome: outcomeSchema }),
  event('release_intended', { n }),
  event('attempt_released', { n }),
  event('attempt_observed', {
    n,
    state: z.enum(LIVE_STATES),
    run: z.int().min(0),
    look: lookSchema,
    pending: z.strictObject({ group: z.enum(PENDING_GROUPS), reason: z.string().max(1024) }).optional(),
    finding: findingSchema.optional(),
    /** Why the run before this one ended, where the cluster said so. */
    lastRunCause: z.enum(CAUSE_NAMES).optional(),
  }),
  event('requeue_intended', { n }),
  event('attempt_requeued', { n, run: z.int().min(1), look: lookSchema }),
  event('requeue_refused', { n, reason: z.string().max(1024) }),
  event('cancel_intended', { n, why: z.enum(CANCEL_WHYS), said: z.string().max(1024).optional() }),
  event('attempt_cancel_sent', { n }),
  event('attempt_ended', {
    n,
    outcome: outcomeSchema,
    processes: z.enum(['gone', 'unknown']),
    runs: z.array(runSchema).max(1000),
    /** Absent where no look taught it (an attempt that was never sent). */
    look: lookSchema.optional(),
  }),
  event('duplicate_found', { n, receipt: receiptSchema, running: z.boolean() }),
  event('duplicate_discarded', { n, schedulerId: z.string() }),
  event('recovery_decided', { n, by: decidedBySchema, action: actionSchema, notBefore: z.int() }),
  event('escalation_raised', {
    id: z.string(),
    kind: z.enum(QUESTION_KINDS),
    n,
    episode: z.int().min(1),
    blocks: z.boolean(),
    options: z.array(z.enum(ANSWERS)).min(1),
    onExpiry: z.enum(ANSWERS),
    expiresAt: z.int(),
    /** One sentence for people: what happened, and for `limit_reached` which limit it was. */
    says: z.string().max(1024),
  }),
  event('escalation_answered', { id: z.string(), answer: z.enum(ANSWERS), by: z.string() }),
  event('escalation_expired', { id: z.string(), answer: z.enum(ANSWERS) }),
  event('escalation_withdrawn', { id: z.string(), moot: z.string().max(200) }),
  event('cancel_requested', { principal: z.string(), reason: z.string().max(1024) }),
  event('checkpoint_published', {
    epoch: z.int(),
    step: z.int().min(0),
    path: z.string().max(256),
    sizeBytes: z.int().min(0).optional(),
    late: z.boolean().optional(),
  }),
  event('job_ended', { outcome: outcomeSchema, because: becauseSchema }),
]);
export type Event = z.infer<typeof eventSchema>;
export type EventType = Event['type'];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
export const EVENT_TYPES = eventSchema.options.map((option) => option.shape.type.value) as EventType[];

/** One item of the record: events decided together from version − 1. */
export interface Commit {
  readonly job: string;
  readonly version: number;
  readonly commitId: string;
  readonly at: number;
  readonly actor: string;
  readonly schema: number;
  readonly events: readonly Event[];
}
