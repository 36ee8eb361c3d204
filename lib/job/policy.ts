/**
 * Policy: recovery as data (contract §5), in the form the record keeps. What users write is read by parse-spec.ts; here
 * durations are seconds and memory is MiB.
 */
import * as z from 'zod';
import { CAUSE_CLASSES, CAUSE_NAMES } from './cause.ts';

const seconds = z.int().positive();
const count = z.int().min(1).max(1000);

export const RULE_ANSWERS = ['stop', 'relaunch', 'relaunch_from_scratch', 'accept_success', 'wait'] as const;

export const backoffSchema = z.strictObject({ initialSeconds: z.int().min(0), factor: z.number().min(1).max(10), maxSeconds: seconds });
export type Backoff = z.infer<typeof backoffSchema>;

export const relaunchSchema = z.strictObject({
  max: count,
  backoff: backoffSchema,
  from: z.enum(['checkpoint', 'scratch']),
  excludeNodes: z.strictObject({ max: z.int().min(1).max(64) }).optional(),
  scale: z
    .strictObject({
      memoryPerNode: z.strictObject({ by: z.number().gt(1).max(10), upToMi: z.int().positive() }).optional(),
      timeLimit: z.strictObject({ by: z.number().gt(1).max(10), upToSeconds: seconds }).optional(),
    })
    .optional(),
});

export const actionOfRuleSchema = z.union([
  z.strictObject({ relaunch: relaunchSchema }),
  z.strictObject({ requeue: z.strictObject({ max: count, by: z.enum(['scheduler', 'supervisor']) }) }),
  z.strictObject({
    escalate: z.strictObject({
      options: z.array(z.enum(RULE_ANSWERS)).min(1),
      expiresAfterSeconds: seconds,
      onExpiry: z.enum(RULE_ANSWERS),
    }),
  }),
  z.strictObject({ stop: z.strictObject({}) }),
]);

export const ruleSchema = z.strictObject({
  on: z.array(z.enum(['any', ...CAUSE_CLASSES, ...CAUSE_NAMES])).min(1),
  when: z
    .strictObject({
      exitCode: z.array(z.int().min(0).max(255)).min(1).optional(),
      signal: z.array(z.int().min(1).max(64)).min(1).optional(),
      scope: z.array(z.string().max(32)).min(1).optional(),
      /** A case-sensitive substring; deliberately no regular expression. */
      message: z.string().min(1).max(200).optional(),
    })
    .optional(),
  do: actionOfRuleSchema,
});
export type Rule = z.infer<typeof ruleSchema>;

export const policySchema = z.strictObject({
  rules: z.array(ruleSchema).max(32),
  unmatched: z.enum(['escalate', 'stop', 'relaunch_once']),
  limits: z.strictObject({
    attempts: z.int().min(1).max(1000),
    wallClockSeconds: seconds.optional(),
    attemptsWithoutProgress: count.optional(),
    stalledAfterSeconds: seconds.optional(),
  }),
});
export type Policy = z.infer<typeof policySchema>;
