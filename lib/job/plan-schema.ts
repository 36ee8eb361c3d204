/**
 * The plan as it is served and stored (contract §6): at most 7 days under its digest.
 * Every text and list has a bound, so that a plan fits one item whatever a cluster said.
 */
import * as z from 'zod';
import { CAPABILITY_NAMES } from './capability.ts';
import { CAUSE_CLASSES, CAUSE_NAMES } from './cause.ts';
import { CLUSTER_KINDS, EVIDENCE_CHARACTERS } from './plan-input.ts';
import { ENFORCERS } from './plan-rules.ts';
import { SUBMISSION_CHARACTERS } from './plan-spec.ts';

export const SAYS_CHARACTERS = 1024;
export const MOST_REMARKS = 200;
const says = z.string().max(SAYS_CHARACTERS);
const support = z.enum(['yes', 'no', 'partly', 'unknown']);
const remarks = z
  .array(z.strictObject({ path: z.string().max(512), says, evidence: z.string().max(EVIDENCE_CHARACTERS).optional() }))
  .max(MOST_REMARKS);

export const ruleLineSchema = z.strictObject({
  index: z.int().min(0),
  on: z.array(z.enum(['any', ...CAUSE_CLASSES, ...CAUSE_NAMES])),
  do: z.enum(['relaunch', 'requeue', 'escalate', 'stop']),
  enforcer: z.enum(ENFORCERS),
  detects: z.strictObject({
    support,
    by: z.array(
      z.strictObject({
        by: z.enum([...CAPABILITY_NAMES, 'dispatch', 'scheduler']),
        causes: z.array(z.enum(CAUSE_NAMES)),
        support,
        evidence: z.string().max(EVIDENCE_CHARACTERS),
      }),
    ),
  }),
  says,
});

export const planSchema = z.strictObject({
  digest: z.string(),
  /** Of the whole normalized spec, script included. */
  specDigest: z.string(),
  summary: z.strictObject({
    name: z.string(),
    project: z.string().optional(),
    program: z.enum(['script', 'command']),
    nodes: z.int(),
    tasksPerNode: z.int(),
    gpusPerNode: z.int(),
    gpuType: z.string().optional(),
    memoryPerNodeMi: z.int().optional(),
    timeLimitSeconds: z.int(),
    attempts: z.int(),
    unmatched: z.enum(['escalate', 'stop', 'relaunch_once']),
  }),
  cluster: z.strictObject({ id: z.string(), kind: z.enum(CLUSTER_KINDS) }),
  /** As whom it runs; absent where no login allows it. */
  login: z.strictObject({ id: z.string(), user: z.string() }).optional(),
  /** How the submission is made: an adapter's `RenderOptions.requeue`. */
  requeue: z.enum(['never', 'scheduler', 'supervisor']),
  rules: z.array(ruleLineSchema).max(32),
  /** Absent where nothing could be rendered. */
  gate: z
    .strictObject({
      mechanism: z.enum(['begin', 'hold', 'hold_deadline', 'begin_push', 'suspend']),
      /** Only where an unreleased attempt destroys itself: seconds from its submission. */
      expiresAfterSeconds: z.int().optional(),
      selfDestructs: z.boolean(),
      says,
    })
    .optional(),
  enforces: z.strictObject({ timeLimit: says, deadline: says, patience: says, stalls: says, cancellation: says, oneTaskFails: says }),
  submission: z.string().max(SUBMISSION_CHARACTERS),
  warnings: remarks,
  refusals: remarks,
  /** Milliseconds since 1970. */
  plannedAt: z.int(),
  /** As `job_submitted` carries them. */
  facts: z.strictObject({ kind: z.string(), landingBoundSeconds: z.int(), credentialLifeSeconds: z.int(), pollEverySeconds: z.int() }),
});
export type Plan = z.infer<typeof planSchema>;
