/**
 * What a plan is made from (contract §6). Everything is a value: the plan asks no clock and no cluster.
 */
import type { CapabilityName, Probe } from './capability.ts';
import type { Gate } from './event.ts';
import type { Policy } from './policy.ts';
import type { Spec } from './spec.ts';

export const CLUSTER_KINDS = ['memory', 'slurm', 'kubernetes'] as const;

/** Where something is wrong or worth knowing, in the words of the spec as users write it; `cluster` and `login` included. */
export interface Remark {
  readonly level: 'warning' | 'refusal';
  readonly path: string;
  readonly says: string;
  /** What a probe said in its own words; apart, because the digest of a plan does not cover it. */
  readonly evidence?: string;
}
export const EVIDENCE_CHARACTERS = 256;
const remark =
  (level: Remark['level']) =>
  (path: string, says: string, evidence?: string): Remark => ({
    level,
    path,
    says,
    ...(evidence ? { evidence: evidence.slice(0, EVIDENCE_CHARACTERS) } : {}),
  });
export const warning = remark('warning');
export const refusal = remark('refusal');

/** What an adapter's `render` answers; stated here because the pure centre does not know the adapter port, which takes it from here. */
export interface Rendered {
  /** What is sent: the submitter's arguments and the wrapper, or the manifest; `{identity} {deadline} {begin} {bound} {epoch}` … */
  readonly text: string;
  readonly gate: { readonly mechanism: Gate['mechanism']; readonly selfDestructs: boolean; readonly says: string };
  /** Who stops the other tasks when one fails, who enforces the time limit: sentences for the plan. */
  readonly enforces: { readonly timeLimit: string; readonly oneTaskFails: string };
  readonly warnings: readonly { readonly path: string; readonly says: string }[];
  readonly refusals: readonly { readonly path: string; readonly says: string }[];
}

export interface PlanInput {
  readonly spec: Spec;
  readonly cluster: {
    readonly id: string;
    readonly kind: (typeof CLUSTER_KINDS)[number];
    readonly readOnly: boolean;
    readonly landingBoundSeconds: number;
    readonly pollEverySeconds: number;
  };
  /** Undefined: no login of the cluster allows who asks. */
  readonly login: { readonly id: string; readonly user: string } | undefined;
  /** Undefined: this cluster was never probed under that login. */
  readonly probe: Probe | undefined;
  /** Undefined where it could not be made: no probe, no login. */
  readonly rendering: Rendered | undefined;
  /** Names of secrets that who asks may give to a program there. Undefined: not judged here. */
  readonly secrets?: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type Support = 'yes' | 'no' | 'partly' | 'unknown';
export const evidenceOf = (probe: Probe | undefined, name: CapabilityName): string => probe?.capabilities[name].evidence ?? 'never probed';
export const supportOf = (probe: Probe | undefined, name: CapabilityName): Support => probe?.capabilities[name].support ?? 'unknown';

/** How a submission of this policy must be made: an adapter's `RenderOptions.requeue`. One rule by the scheduler decides. */
export const requeueOf = (policy: Policy): 'never' | 'scheduler' | 'supervisor' => {
  const by = policy.rules.flatMap((rule) => ('requeue' in rule.do ? [rule.do.requeue.by] : []));
  return by.includes('scheduler') ? 'scheduler' : by.length > 0 ? 'supervisor' : 'never';
};

const SHOWN_NAMES = 12;
/** A list for a sentence, cut where a reader stops: `a, b and 3 more`. */
export const named = (names: readonly (string | number)[]): string =>
  names.length > SHOWN_NAMES ? `${names.slice(0, SHOWN_NAMES).join(', ')} and ${names.length - SHOWN_NAMES} more` : names.join(', ');
