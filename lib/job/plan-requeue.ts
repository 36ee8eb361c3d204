/**
 * One enforcer per event (C026): who puts a job back in the queue when, and whether anybody else would do it too.
 * Guards promise 2. A submission that the scheduler may requeue is requeued after every event of its own list, not only after
 * those that a rule names; some clusters also requeue by exit code, whatever was asked.
 */
import type { Cause } from './cause.ts';
import { evidenceOf, named, type PlanInput, type Remark, refusal, requeueOf, supportOf, warning } from './plan-input.ts';
import { coveredWhole, type Reach } from './plan-match.ts';
import type { Rule } from './policy.ts';

/** The exit code by which a wrapper says that it refused to start (protocols §4.2); it counts only beside a file in `refused/`. */
export const GUARD_EXIT_CODE = 79;
/** What a scheduler answers with a requeue when it may. */
const REQUEUED_AFTER: readonly Cause[] = ['preempted', 'node_lost', 'boot_failed', 'launch_failed'];

const byScheduler = (rule: Rule): boolean => 'requeue' in rule.do && rule.do.requeue.by === 'scheduler';
const codesOf = (input: PlanInput): readonly number[] => input.probe?.facts.requeueExitCodes ?? [];

/** The causes of a `requeue by scheduler` rule after which the scheduler indeed requeues. */
export const requeuedCauses = (input: PlanInput, rule: Rule, reach: Reach): Cause[] =>
  reach.causes.filter((cause) => REQUEUED_AFTER.includes(cause) || (cause === 'exited' && onlyRequeuedCodes(input, rule)));

const onlyRequeuedCodes = (input: PlanInput, rule: Rule): boolean =>
  rule.when?.exitCode?.every((code) => codesOf(input).includes(code)) ?? false;

export const requeueRemarks = (input: PlanInput, reaches: readonly Reach[]): Remark[] => [
  ...supportRemarks(input, reaches),
  ...(requeueOf(input.spec.policy) === 'scheduler' ? ownerRemarks(input, reaches) : []),
  ...exitCodeRemarks(input, reaches),
];

/** Whether anybody can carry a requeue rule out. */
const supportRemarks = (input: PlanInput, reaches: readonly Reach[]): Remark[] =>
  input.spec.policy.rules.flatMap((rule, i) => {
    if (!('requeue' in rule.do)) return [];
    const path = `policy.rules[${i}].do.requeue`;
    const support = supportOf(input.probe, 'requeue_in_place');
    const evidence = evidenceOf(input.probe, 'requeue_in_place');
    if (input.probe && (support === 'no' || support === 'unknown'))
      return [refusal(path, `nobody can enforce it: requeue_in_place is "${support}" here; use relaunch`, evidence)];
    const remarks = support === 'partly' ? [warning(path, 'requeue_in_place is only "partly" here', evidence)] : [];
    if (!byScheduler(rule)) return remarks;
    const owned = requeuedCauses(input, rule, reaches[i]!);
    const others = reaches[i]!.causes.filter((cause) => !owned.includes(cause));
    if (owned.length === 0 && others.length > 0)
      return [refusal(path, `nobody can enforce it: no scheduler requeues after ${named(others)}; use by: supervisor, or relaunch`)];
    if (others.length > 0) remarks.push(warning(path, `the scheduler requeues after ${named(owned)} only, never after ${named(others)}`));
    return remarks;
  });

/** Where a rule by the scheduler exists, everything that the scheduler requeues after is the scheduler's. */
const ownerRemarks = (input: PlanInput, reaches: readonly Reach[]): Remark[] => {
  const { rules, unmatched } = input.spec.policy;
  const owner = rules.findIndex(byScheduler);
  const remarks = rules.flatMap((rule, i) => {
    const both = byScheduler(rule) ? [] : reaches[i]!.causes.filter((cause) => REQUEUED_AFTER.includes(cause));
    if (both.length === 0) return [];
    const fix = `name ${both.length === 1 ? 'it' : 'them'} in rule ${owner}, or use requeue by supervisor there`;
    return [refusal(`policy.rules[${i}].do`, `two enforcers: rule ${owner} lets the scheduler requeue after ${named(both)} too; ${fix}`)];
  });
  const open = REQUEUED_AFTER.filter((cause) => !coveredWhole(rules, cause));
  if (open.length === 0) return remarks;
  const says = `rule ${owner} lets the scheduler requeue after ${named(open)} too, which no rule takes whole`;
  return [
    ...remarks,
    unmatched === 'relaunch_once'
      ? refusal('policy.unmatched', `two enforcers: ${says}; name them in rule ${owner}, or use requeue by supervisor`)
      : warning('policy.unmatched', `${says}; such a requeue happens before anybody is asked`),
  ];
};

/** Clusters that requeue by exit code do it before dispatch sees an end. */
const exitCodeRemarks = (input: PlanInput, reaches: readonly Reach[]): Remark[] => {
  const { rules } = input.spec.policy;
  const reserved = codesOf(input).includes(GUARD_EXIT_CODE)
    ? [refusal('cluster', `it requeues jobs that exit with ${GUARD_EXIT_CODE}, by which a guard refuses to start; take it off that list`)]
    : [];
  const exits = rules.map((rule, i) => ({ rule, i })).filter(({ i }) => reaches[i]!.causes.includes('exited'));
  // A rule that leaves such a code to the scheduler is its owner.
  const left = new Set(exits.flatMap(({ rule }) => (byScheduler(rule) ? (rule.when?.exitCode ?? []) : [])));
  const codes = codesOf(input).filter((code) => !left.has(code) && code !== GUARD_EXIT_CODE);
  if (codes.length === 0) return reserved;
  const says = `the cluster itself requeues after exit code ${named(codes)}`;
  const rivals = exits.filter(({ rule }) => !byScheduler(rule));
  if (rivals.length === 0) return [...reserved, warning('policy', `${says}, whatever the policy says`)];
  const remarks = rivals.flatMap(({ rule, i }) => {
    const asked = rule.when?.exitCode;
    if (!asked) return [warning(`policy.rules[${i}].on`, says)];
    const both = asked.filter((code) => codes.includes(code));
    const path = `policy.rules[${i}].when.exitCode`;
    return both.length > 0
      ? [refusal(path, `two enforcers: the cluster itself requeues after exit code ${named(both)}; leave it out`)]
      : [];
  });
  return [...reserved, ...remarks];
};
