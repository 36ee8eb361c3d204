/**
 * The spec as people write it (contract §4), for the document and its readers. What is accepted is decided by lib/job/parse-spec.ts
 * alone, which names every fault; a test holds the two together.
 */
import * as z from 'zod';
import { CAUSE_CLASSES, CAUSE_NAMES } from '../../job/cause.ts';
import { SCOPES } from '../../job/parse-policy.ts';
import { RULE_ANSWERS } from '../../job/policy.ts';
import { COMPLETION_MARKERS } from '../../job/spec.ts';

const label = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/);
const word = z.string().min(1).max(256);
const duration = z
  .string()
  .regex(/^(\d{1,9}[smhdw]|P(\d{1,9}W)?(\d{1,9}D)?(T(\d{1,9}H)?(\d{1,9}M)?(\d{1,9}S)?)?)$/)
  .max(64)
  .meta({ id: 'Duration', description: 'ISO 8601 (`PT1H30M`), or a number with s, m, h, d or w (`90s`, `15m`, `2h`, `7d`).' });
const memory = z
  .string()
  .regex(/^[1-9]\d{0,6}(Mi|Gi|Ti)$/)
  .meta({ id: 'Memory', description: 'A whole number of Mi, Gi or Ti: `512Mi`, `16Gi`.' });
const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const count = z.int().min(1).max(1000);

const relaunch = z.strictObject({
  max: count,
  backoff: z
    .strictObject({ initial: duration.optional(), factor: z.number().min(1).max(10).optional(), max: duration.optional() })
    .optional(),
  from: z.enum(['checkpoint', 'scratch']),
  excludeNodes: z.strictObject({ max: z.int().min(1).max(64).optional() }).optional(),
  scale: z
    .strictObject({
      memoryPerNode: z.strictObject({ by: z.number().gt(1).max(10), upTo: memory }).optional(),
      timeLimit: z.strictObject({ by: z.number().gt(1).max(10), upTo: duration }).optional(),
    })
    .optional(),
});

const action = z.union([
  z.strictObject({ relaunch }),
  z.strictObject({ requeue: z.strictObject({ max: count, by: z.enum(['scheduler', 'supervisor']) }) }),
  z.strictObject({
    escalate: z.strictObject({
      options: z.array(z.enum(RULE_ANSWERS)).min(1),
      expiresAfter: duration.optional(),
      onExpiry: z.enum(RULE_ANSWERS),
    }),
  }),
  z.strictObject({ stop: z.strictObject({}) }),
]);

const rule = z
  .strictObject({
    on: z.array(z.enum(['any', ...CAUSE_CLASSES, ...CAUSE_NAMES])).min(1),
    when: z
      .strictObject({
        exitCode: oneOrMore(z.int().min(0).max(255)).optional(),
        signal: oneOrMore(z.int().min(1).max(64)).optional(),
        scope: oneOrMore(z.enum(SCOPES)).optional(),
        message: z.string().min(1).max(200).optional(),
      })
      .optional(),
    do: action,
  })
  .meta({ id: 'Rule' });

const policy = z
  .strictObject({
    rules: z.array(rule).max(32).optional(),
    unmatched: z.enum(['escalate', 'stop', 'relaunch_once']),
    limits: z.strictObject({
      attempts: count,
      wallClock: duration.optional(),
      attemptsWithoutProgress: count.optional(),
      stalledAfter: duration.optional(),
    }),
  })
  .meta({ id: 'Policy', description: 'What happens after an attempt ends: the first rule that matches (contract: one action per rule).' });

export const writtenSpecSchema = z
  .strictObject({
    name: label,
    project: label.optional(),
    cluster: label,
    login: label.optional(),
    resources: z.strictObject({
      nodes: z.int().min(1).max(100_000),
      tasksPerNode: z.int().min(1).max(1024).optional(),
      gpusPerNode: z.int().min(0).max(64).optional(),
      gpuType: word.optional(),
      cpusPerTask: z.int().min(1).max(1024).optional(),
      memoryPerNode: memory.optional(),
    }),
    program: z
      .strictObject({
        script: z.string().min(1).optional(),
        command: z.array(z.string()).min(1).max(1024).optional(),
        image: word.optional(),
        workdir: z.string().min(1).max(256).optional().meta({ description: 'An absolute path on the cluster.' }),
        env: z.record(variable, z.string()).optional(),
        secrets: z.record(variable, z.strictObject({ ref: word })).optional(),
      })
      .meta({ description: 'Exactly one of `script` (once, on the first node) and `command` (once per task).' }),
    timeLimit: duration,
    deadline: z.string().max(64).optional().meta({ description: 'An instant, RFC 3339 with its offset.' }),
    patience: duration.optional(),
    checkpoint: z
      .strictObject({
        root: z.string().min(1).max(512).optional(),
        completionMarker: z
          .enum(COMPLETION_MARKERS)
          .optional()
          .meta({ description: 'What proves a save complete, where dispatch-publish is not told otherwise.' }),
        required: z.boolean().optional(),
      })
      .optional(),
    policy,
    labels: z.record(label, label).optional().meta({ description: 'At most 10.' }),
    extensions: z
      .strictObject({
        slurm: z
          .strictObject({
            partition: word.optional(),
            account: word.optional(),
            qos: word.optional(),
            constraint: word.optional(),
            reservation: word.optional(),
            exclude: z.array(word).max(256).optional(),
          })
          .optional(),
        kubernetes: z
          .strictObject({ namespace: word.optional(), runtimeRef: word.optional(), queue: word.optional(), priorityClass: word.optional() })
          .optional(),
        memory: z.strictObject({ script: z.unknown() }).optional(),
      })
      .optional(),
  })
  .meta({ id: 'Spec', description: 'What is to be run, where, and what to do when it ends badly.' });
