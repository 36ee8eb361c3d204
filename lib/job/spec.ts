/**
 * Spec: what a user asked for (contract §4), in the form the record keeps: durations in whole seconds, memory in MiB,
 * every default filled in. What users write is read, and refused with its path, by parse-spec.ts.
 */
import * as z from 'zod';
import { policySchema } from './policy.ts';

export const EXTENSION_KINDS = ['slurm', 'kubernetes', 'memory'] as const;
const word = z.string().min(1).max(256);
const seconds = z.int().positive();

export const resourceRequestSchema = z.strictObject({
  nodes: z.int().min(1).max(100_000),
  tasksPerNode: z.int().min(1).max(1024),
  gpusPerNode: z.int().min(0).max(64),
  gpuType: word.optional(),
  cpusPerTask: z.int().min(1).max(1024).optional(),
  memoryPerNodeMi: z.int().positive().optional(),
});

export const programSchema = z.strictObject({
  /** Exactly one of the two. In the record a script is `sha256:<hex>` of its blob. */
  script: z.string().optional(),
  command: z.array(z.string()).min(1).max(1024).optional(),
  image: word.optional(),
  workdir: word.optional(),
  env: z.record(z.string(), z.string()),
  secrets: z.record(z.string(), z.strictObject({ ref: word })),
});

/** What proves a save of this job complete (protocols §8.3): the framework that writes it, or a manifest. */
export const COMPLETION_MARKERS = ['torch-dcp', 'deepspeed', 'megatron', 'huggingface', 'orbax', 'manifest'] as const;

export const completionMarkerOf = ({ checkpoint }: Pick<Spec, 'checkpoint'>): string | undefined =>
  // Records of earlier releases hold any word.
  COMPLETION_MARKERS.find((known) => known === checkpoint?.completionMarker);

export const specSchema = z.strictObject({
  name: z.string().min(1).max(63),
  project: z.string().min(1).max(63).optional(),
  cluster: z.string().min(1).max(63),
  login: z.string().min(1).max(63).optional(),
  resources: resourceRequestSchema,
  program: programSchema,
  timeLimitSeconds: seconds,
  /** Milliseconds since 1970. */
  deadline: z.int().optional(),
  patienceSeconds: seconds,
  checkpoint: z
    .strictObject({ root: z.string().min(1).max(512).optional(), completionMarker: z.string().max(64).optional(), required: z.boolean() })
    .optional(),
  policy: policySchema,
  labels: z.record(z.string(), z.string()),
  extensions: z.strictObject({
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
    /** Only the memory cluster has scripts: which attempt meets what, when (lib/cluster/memory/script.ts). */
    memory: z.strictObject({ script: z.unknown() }).optional(),
  }),
});
export type Spec = z.infer<typeof specSchema>;
