/**
 * Cluster events: everything that is ever true of a cluster, and the commits that carry them (contract §8, last paragraph).
 * Guards promises 4 and 8: what a cluster can do is what a probe of it found, kept append-only by the rules of a job's record.
 * No event holds a key or a token: of a host key its fingerprint, of a configuration and a secret a digest.
 */
import * as z from 'zod';
import { CAPABILITY_NAMES, type CapabilityName, capabilitySchema } from './capability.ts';

/** The schema of clusters' records that this release writes; read like a job's (upcast.ts). */
export const CLUSTER_SCHEMA = 1;

/** A partition list that is longer is cut: a commit has its bound. */
export const MOST_PARTITIONS = 500;

const capabilities = z.strictObject(
  Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, capabilitySchema])) as Record<CapabilityName, typeof capabilitySchema>,
);
const partition = z.strictObject({
  name: z.string(),
  isDefault: z.boolean(),
  maxSeconds: z.number().optional(),
  nodes: z.int(),
  up: z.boolean(),
});
export const probeSchema = z.strictObject({
  capabilities,
  facts: z.strictObject({
    scheduler: z.string().max(256),
    credentialLifeSeconds: z.int().min(0),
    /** Cluster clock minus ours, milliseconds. */
    clockOffsetMs: z.number(),
    partitions: z.array(partition).max(MOST_PARTITIONS),
    requeueExitCodes: z.array(z.int()).max(256),
    user: z.string().max(256),
  }),
  probedAt: z.int(),
});

/** Why a cluster was probed: nobody had yet, its probe was old, its configuration changed, a person asked, or it was blocked. */
export const PROBED_BY = ['first', 'age', 'configuration', 'hand', 'blocked'] as const;
export type ProbedBy = (typeof PROBED_BY)[number];

export const BLOCKED_WHYS = ['host_key_changed', 'auth_refused'] as const;
export type BlockedWhy = (typeof BLOCKED_WHYS)[number];

export const CLUSTER_QUESTION_KINDS = ['cluster_unreachable', 'capability_lost'] as const;
export type ClusterQuestionKind = (typeof CLUSTER_QUESTION_KINDS)[number];
/** The default first. */
export const CLUSTER_ANSWERS = ['wait', 'block_submissions'] as const;
export type ClusterAnswer = (typeof CLUSTER_ANSWERS)[number];

const login = z.string().min(1);
const says = z.string().max(1024);
const fingerprint = z.string().max(128);
/** Digests of what was configured when it was tried; '' where nobody told. A change of either is worth another try. */
const tried = { configuration: z.string().max(128), secret: z.string().max(128) };
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) => z.strictObject({ type: z.literal(type), ...shape });

export const clusterEventSchema = z.discriminatedUnion('type', [
  event('cluster_probed', {
    login,
    by: z.enum(PROBED_BY),
    configuration: tried.configuration,
    probedAt: z.int(),
    clockOffsetMs: z.number(),
    credentialLifeSeconds: z.int().min(0),
    /** Absent: as the last one of this login, but for the clock. A daily look at what never changes must not fill the log. */
    probe: probeSchema.optional(),
  }),
  event('cluster_unreachable', { login, says }),
  /** Also what lifts a block, and an answer `block_submissions`. */
  event('cluster_reachable', { login }),
  event('cluster_blocked', {
    login,
    why: z.enum(BLOCKED_WHYS),
    says,
    ...tried,
    /** A changed host key: what the host showed, and what the configuration expects. */
    presented: fingerprint.optional(),
    pinned: z.array(fingerprint).max(64).optional(),
  }),
  event('escalation_raised', {
    id: z.string(),
    kind: z.enum(CLUSTER_QUESTION_KINDS),
    episode: z.int().min(1),
    options: z.array(z.enum(CLUSTER_ANSWERS)).min(1),
    onExpiry: z.enum(CLUSTER_ANSWERS),
    expiresAt: z.int(),
    says,
    /** `capability_lost`: of which login, and which of those that active jobs rely on. */
    lost: z.strictObject({ login, names: z.array(z.enum(CAPABILITY_NAMES)).min(1) }).optional(),
  }),
  event('escalation_answered', { id: z.string(), answer: z.enum(CLUSTER_ANSWERS), by: z.string() }),
  event('escalation_expired', { id: z.string(), answer: z.enum(CLUSTER_ANSWERS) }),
  event('escalation_withdrawn', { id: z.string(), moot: z.string().max(200) }),
]);
export type ClusterEvent = z.infer<typeof clusterEventSchema>;
export type ClusterEventType = ClusterEvent['type'];
export type ClusterEventOf<T extends ClusterEventType> = Extract<ClusterEvent, { type: T }>;
export const CLUSTER_EVENT_TYPES = clusterEventSchema.options.map((option) => option.shape.type.value) as ClusterEventType[];

/** One item of a cluster's record: events decided together from version − 1. */
export interface ClusterCommit {
  readonly cluster: string;
  readonly version: number;
  readonly commitId: string;
  readonly at: number;
  readonly actor: string;
  readonly schema: number;
  readonly events: readonly ClusterEvent[];
}
