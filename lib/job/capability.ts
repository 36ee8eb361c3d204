/**
 * Capabilities: what one cluster can do, as a probe of that cluster found it (contract §7).
 * Guards promise 2: support is reported per cluster, with evidence; nothing is assumed from a version number alone.
 */
import * as z from 'zod';

export const CAPABILITY_NAMES = [
  'gate',
  'gate_self_destructs',
  'landing_bound',
  'find_by_identity',
  'release',
  'cancel',
  'requeue_in_place',
  'dry_run',
  'time_limit',
  'start_deadline',
  'containers',
  'admission_check',
  'detects_preemption',
  'detects_node_loss',
  'detects_out_of_memory',
  'detects_child_out_of_memory',
  'detects_progress',
  'exact_exit_codes',
  'outcome_survives_purge',
  'says_why_pending',
  'counts_restarts',
  'excludes_nodes',
  'bulk_observation',
  'output',
  'output_follow',
  'checkpoint_files',
  'submit_allowed',
] as const;
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export const capabilitySchema = z.strictObject({
  support: z.enum(['yes', 'no', 'partly', 'unknown']),
  evidence: z.string().max(1024),
  /** Milliseconds since 1970 by dispatch's clock. */
  probedAt: z.int(),
});
export type Capability = z.infer<typeof capabilitySchema>;
export type Capabilities = Readonly<Record<CapabilityName, Capability>>;

/** Facts a probe measures beside the yes and no; what a plan and a submission count with. */
export interface ClusterFacts {
  /** Scheduler and version, as the controller says it: `slurm 22.05.8`. */
  readonly scheduler: string;
  /** How long a request may still be honoured after its sender died; 0 where a name can be created once only. */
  readonly credentialLifeSeconds: number;
  /** Cluster clock minus ours, milliseconds, at the probe. */
  readonly clockOffsetMs: number;
  /** Largest finite time limit per partition, seconds; undefined = none. Empty where partitions do not exist. */
  readonly partitions: readonly {
    readonly name: string;
    readonly isDefault: boolean;
    readonly maxSeconds?: number;
    readonly nodes: number;
    readonly up: boolean;
  }[];
  /** Exit codes that make this cluster requeue by itself (Slurm's RequeueExit, RequeueExitHold). */
  readonly requeueExitCodes: readonly number[];
  readonly user: string;
}

export interface Probe {
  readonly capabilities: Capabilities;
  readonly facts: ClusterFacts;
  readonly probedAt: number;
}
