/**
 * Detects: whether this cluster can tell a rule's causes apart, by which capability, with its evidence (contract §6, §7).
 * Guards promise 8: nothing is assumed from the kind of a scheduler; a cluster that was not probed is `unknown`.
 */
import type { CapabilityName, Probe } from './capability.ts';
import type { Cause } from './cause.ts';
import { EVIDENCE_CHARACTERS, evidenceOf, named, type Remark, refusal, type Support, supportOf, warning } from './plan-input.ts';
import type { Rule } from './policy.ts';

/** `dispatch` knows by itself (it made the cause happen, or saw the silence); `scheduler` says it in its own final state. */
type Teller = CapabilityName | 'dispatch' | 'scheduler';

const TOLD_BY: Readonly<Record<Cause, readonly Teller[]>> = {
  completed: ['exact_exit_codes'],
  preempted: ['detects_preemption'],
  node_lost: ['detects_node_loss'],
  // The same condition of a pod tells an eviction and a preemption.
  evicted: ['detects_preemption'],
  launch_failed: ['scheduler'],
  boot_failed: ['scheduler'],
  scheduler_failed: ['scheduler'],
  revoked: ['scheduler'],
  never_landed: ['find_by_identity'],
  no_capacity: ['dispatch'],
  gate_expired: ['dispatch'],
  time_limit: ['time_limit'],
  deadline: ['dispatch'],
  out_of_memory: ['detects_out_of_memory', 'detects_child_out_of_memory'],
  budget: ['says_why_pending'],
  stalled: ['detects_progress'],
  rejected: ['dispatch'],
  unsatisfiable: ['says_why_pending'],
  dependency_failed: ['says_why_pending'],
  exited: ['exact_exit_codes'],
  signalled: ['exact_exit_codes'],
  cancelled_by_dispatch: ['dispatch'],
  // Who cancelled stands in accounting alone; a purged job's canceller is lost.
  cancelled_by_user: ['outcome_survives_purge'],
  cancelled_by_admin: ['outcome_survives_purge'],
  cancelled_by_unknown: ['scheduler'],
  vanished: ['dispatch'],
  contradictory: ['dispatch'],
  unrecognised: ['dispatch'],
};

const KNOWN_EVIDENCE = {
  dispatch: 'dispatch knows it by itself',
  scheduler: "it is the scheduler's own word for the end",
} as const;

export interface Told {
  readonly by: Teller;
  readonly causes: Cause[];
  readonly support: Support;
  readonly evidence: string;
}
export interface Detection {
  readonly support: Support;
  readonly by: Told[];
}

const tellersOf = (rule: Rule, cause: Cause): readonly Teller[] => {
  const scopes = cause === 'out_of_memory' ? rule.when?.scope : undefined;
  if (!scopes) return TOLD_BY[cause];
  return TOLD_BY[cause].filter((teller) => scopes.some((scope) => (teller === 'detects_child_out_of_memory') === (scope === 'child')));
};

export const detectionOf = (rule: Rule, causes: readonly Cause[], probe: Probe | undefined): Detection => {
  const tellers = [...new Set(causes.flatMap((cause) => tellersOf(rule, cause)))];
  const by = tellers.map((teller): Told => {
    const told = causes.filter((cause) => tellersOf(rule, cause).includes(teller));
    if (teller === 'dispatch' || teller === 'scheduler')
      return { by: teller, causes: told, support: 'yes', evidence: KNOWN_EVIDENCE[teller] };
    const evidence = evidenceOf(probe, teller).slice(0, EVIDENCE_CHARACTERS);
    return { by: teller, causes: told, support: supportOf(probe, teller), evidence };
  });
  return { support: together(by.map((told) => told.support)), by };
};

const together = (supports: readonly Support[]): Support => {
  const kinds = new Set(supports);
  if (kinds.size === 1) return supports[0]!;
  return kinds.size === 0 ? 'unknown' : 'partly';
};

/** `any` takes an end whatever it is called, so a cause that cannot be told apart costs it nothing. */
export const detectionRemarks = (path: string, rule: Rule, detection: Detection): Remark[] => {
  if (rule.on.includes('any') && !rule.when) return [];
  if (detection.support === 'no') {
    const causes = [...new Set(detection.by.flatMap((told) => told.causes))];
    const says = `nobody can enforce it: this cluster cannot tell ${named(causes)} apart; leave it out`;
    return [refusal(path, says, detection.by[0]!.evidence)];
  }
  return detection.by.flatMap((told) => {
    const what = `${named(told.causes)}: ${told.by} is "${told.support}" here`;
    return told.support === 'no' || told.support === 'unknown'
      ? [warning(path, `${what}; it may read as another cause`, told.evidence)]
      : [];
  });
};
