/**
 * Scripts of the memory cluster: what each attempt of a job meets, and when (docs/memory-cluster.md).
 * A script is data, JSON-able and checked here: tests, demos and the simulator say what the world does to a job by the same
 * words. `extensions.memory.script` of a spec wins over the cluster's own script for that job; nothing said means: starts at
 * once, runs ten seconds, completes.
 */
import * as z from 'zod';
import { PENDING_GROUPS } from '../../job/event.ts';
import type { Spec } from '../../job/spec.ts';

const seconds = z.number().min(0).max(315_360_000);
const words = z.string().min(1).max(256);
const PLAIN_ENDS = [
  'completed',
  'preempted',
  'evicted',
  'node_lost',
  'out_of_memory',
  'time_limit',
  'launch_failed',
  'boot_failed',
  'scheduler_failed',
  /** A federation sibling took it. */
  'revoked',
  'unrecognised',
  /** Its sources disagree about how it ended. */
  'contradictory',
  /** Ends, and every source forgets it. */
  'vanishes',
  /** Never ends by itself; the time limit does it. */
  'hangs',
] as const;

/** How a run ends. A word alone is the same with nothing further said. */
export const endsSchema = z.union([
  z.enum(PLAIN_ENDS),
  z.strictObject({ exit: z.int().min(1).max(255) }),
  z.strictObject({ signal: z.int().min(1).max(64) }),
  z.strictObject({ preempted: z.strictObject({ by: words.optional() }) }),
  z.strictObject({
    node_lost: z.strictObject({
      /** Its processes run on: until they are fenced, the node comes back, `survivesSeconds` are over, or the time limit is. */
      survives: z.boolean().default(false),
      survivesSeconds: seconds.optional(),
      /** The agent still answers and says that nothing runs there (an administrator set the node down). */
      answers: z.boolean().default(false),
      /** Default: the first node of the run. */
      nodes: z.array(words).min(1).max(64).optional(),
    }),
  }),
  z.strictObject({ out_of_memory: z.strictObject({ scope: z.enum(['job', 'step', 'container', 'child', 'node']) }) }),
  z.strictObject({ launch_failed: z.strictObject({ stage: words }) }),
]);
export type Ends = z.infer<typeof endsSchema>;

const programSchema = z.strictObject({
  runsSeconds: seconds.default(10),
  /** Training steps count from the base of the run: 5 announced on top of a base of 20 is 25. */
  publishes: z
    .array(z.strictObject({ atSeconds: seconds, step: z.int().min(0).max(1e12), path: z.string().min(1).max(130).optional() }))
    .max(10_000)
    .default([]),
  /** Starts over at step 0 whatever it is told to resume from. */
  ignoresResume: z.boolean().default(false),
  ends: endsSchema.default('completed'),
  /** Its output grows by a byte per second until then; default: as long as it runs, what hangs only for `runsSeconds`. */
  silentAfterSeconds: seconds.optional(),
  /** How long the scheduler then says that it is ending. */
  endingSeconds: seconds.default(0),
});

const runSchema = z.strictObject({
  /** From its release, or from its requeue's delay, to its start. */
  queueSeconds: z.union([seconds, z.literal('never')]).default(0),
  /** What the scheduler says while it waits. */
  pending: z.strictObject({ group: z.enum(PENDING_GROUPS), reason: words }).optional(),
  /** Being prepared on its nodes, before the wrapper begins. */
  startsSeconds: seconds.default(0),
  // prefault, unlike default, is parsed itself: an absent program gets every default of its own.
  program: programSchema.prefault({}),
});
export type RunScript = z.infer<typeof runSchema>;

const refuseSchema = z.strictObject({
  refuse: z.strictObject({
    cause: z.enum(['rejected', 'unsatisfiable']).default('rejected'),
    reason: words,
    message: z.string().max(1024).default(''),
    /** The scheduler keeps a record of what it refused, so a later look finds it (slurm shape). */
    leavesRecord: z.boolean().default(false),
  }),
});
const notNowSchema = z.strictObject({
  notNow: z.strictObject({ reason: words, retryAfterSeconds: z.int().min(0).max(86_400).default(60) }),
});

/** A `refuse` or a `notNow` is met by one try of the submission each, in order; the others are runs 0, 1, 2 … of the attempt. */
const itemSchema = z.union([runSchema, refuseSchema, notNowSchema]);
const attemptSchema = z.union([itemSchema, z.array(itemSchema).max(1000)]);
export const jobScriptSchema = z.array(attemptSchema).max(1000);
export type JobScript = z.infer<typeof jobScriptSchema>;

/** For a whole cluster: by the name of the job, `any` for all others. */
export const worldScriptSchema = z.strictObject({
  jobs: z.record(z.string(), jobScriptSchema).default({}),
  any: jobScriptSchema.default([]),
});
export type WorldScript = z.infer<typeof worldScriptSchema>;

export interface AttemptScript {
  readonly tries: readonly (z.infer<typeof refuseSchema> | z.infer<typeof notNowSchema>)[];
  readonly runs: readonly RunScript[];
}

export const DEFAULT_RUN: RunScript = runSchema.parse({});

/** What attempt n of this job meets; beyond the script's end, the default. A script that is none is the caller's refusal. */
export const attemptScriptOf = (
  world: WorldScript,
  spec: Pick<Spec, 'name' | 'extensions'>,
  n: number,
): AttemptScript | { fault: string } => {
  const own = spec.extensions.memory;
  const read = own ? jobScriptSchema.safeParse(own.script) : undefined;
  if (read && !read.success) return { fault: faultOf(read.error) };
  const attempts = read ? read.data : (world.jobs[spec.name] ?? world.any);
  const items = [attempts[n - 1] ?? []].flat();
  return {
    tries: items.filter((item) => 'refuse' in item || 'notNow' in item),
    runs: items.filter((item) => 'program' in item),
  };
};

const faultOf = (error: z.ZodError): string => {
  const issue = error.issues[0]!;
  return `script${issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')}: ${issue.message}`.slice(
    0,
    1024,
  );
};
