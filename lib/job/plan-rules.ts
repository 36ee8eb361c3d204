/**
 * Per rule: who enforces it on this cluster, whether its causes can be told apart, and what its author should know
 * (contract §5, §6; C029, C033). Guards promise 2: a rule that nobody can enforce is a refusal before anything starts.
 */
import { CAUSES } from './cause.ts';
import { type Detection, detectionOf, detectionRemarks } from './plan-detect.ts';
import { evidenceOf, named, type PlanInput, type Remark, refusal, supportOf, warning } from './plan-input.ts';
import { missingDetail, NEVER_ASKED, namedCauses, type Reach } from './plan-match.ts';
import { requeuedCauses } from './plan-requeue.ts';
import type { Rule } from './policy.ts';
import { formatDuration, formatMemory } from './quantity.ts';

export const ENFORCERS = ['scheduler', 'supervisor', 'job', 'nobody'] as const;

export interface RuleLine {
  readonly index: number;
  readonly on: Rule['on'];
  readonly do: 'relaunch' | 'requeue' | 'escalate' | 'stop';
  readonly enforcer: (typeof ENFORCERS)[number];
  readonly detects: Detection;
  /** What the enforcer does: `relaunches from scratch, at most twice`. */
  readonly says: string;
}

export const ruleLine = (input: PlanInput, rule: Rule, index: number, reach: Reach): RuleLine => {
  const detects = detectionOf(rule, reach.causes, input.probe);
  return { index, on: rule.on, do: actionOf(rule), enforcer: enforcerOf(input, rule, reach, detects), detects, says: saysOf(rule, reach) };
};

const actionOf = (rule: Rule): RuleLine['do'] =>
  'relaunch' in rule.do ? 'relaunch' : 'requeue' in rule.do ? 'requeue' : 'escalate' in rule.do ? 'escalate' : 'stop';

const enforcerOf = (input: PlanInput, rule: Rule, reach: Reach, detects: Detection): RuleLine['enforcer'] => {
  if (reach.causes.length === 0 || detects.support === 'no') return 'nobody';
  if (!('requeue' in rule.do)) return 'supervisor';
  const support = supportOf(input.probe, 'requeue_in_place');
  if (support === 'no' || support === 'unknown') return 'nobody';
  if (rule.do.requeue.by === 'supervisor') return 'supervisor';
  return requeuedCauses(input, rule, reach).length > 0 ? 'scheduler' : 'nobody';
};

const saysOf = (rule: Rule, reach: Reach): string => {
  if (reach.causes.length === 0) return 'nothing ever comes to this rule';
  const action = rule.do;
  if ('stop' in action) return 'ends the job with this outcome';
  if ('escalate' in action) {
    const { options, expiresAfterSeconds, onExpiry } = action.escalate;
    return `asks (${options.join(', ')}); after ${formatDuration(expiresAfterSeconds)} without an answer: ${onExpiry}`;
  }
  if ('requeue' in action) {
    const who = action.requeue.by === 'scheduler' ? 'requeues the same object, dispatch counts its runs' : 'requeues the same object';
    return `${who}, at most ${times(action.requeue.max)}`;
  }
  const { max, from, backoff, scale, excludeNodes } = action.relaunch;
  const parts = [
    `relaunches from ${from === 'checkpoint' ? 'the latest checkpoint' : 'scratch'}, at most ${times(max)}`,
    `after at most ${formatDuration(Math.max(1, backoff.initialSeconds))} ×${backoff.factor} to ${formatDuration(backoff.maxSeconds)}`,
  ];
  if (scale?.memoryPerNode) parts.push(`memory ×${scale.memoryPerNode.by} to ${formatMemory(scale.memoryPerNode.upToMi)}`);
  if (scale?.timeLimit) parts.push(`time limit ×${scale.timeLimit.by} to ${formatDuration(scale.timeLimit.upToSeconds)}`);
  if (excludeNodes) parts.push(`without the last ${excludeNodes.max} nodes that evidence names as failed`);
  return parts.join(', ');
};

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Everything worth knowing of one rule beside who owns a requeue (plan-requeue.ts). */
export const ruleRemarks = (input: PlanInput, rule: Rule, index: number, reach: Reach): Remark[] => {
  const path = `policy.rules[${index}]`;
  const success = rule.on.findIndex((on) => on === 'success' || on === 'completed');
  if (success !== -1)
    return [refusal(`${path}.on[${success}]`, `"${rule.on[success]}" matches no rule: success ends the job; leave it out`)];
  return [
    ...matchRemarks(path, rule, reach),
    ...(input.probe ? detectionRemarks(`${path}.on`, rule, detectionOf(rule, reach.causes, input.probe)) : []),
    ...actionRemarks(input, path, rule, reach),
  ];
};

const matchRemarks = (path: string, rule: Rule, reach: Reach): Remark[] => {
  const remarks: Remark[] = [];
  const all = namedCauses(rule);
  for (const cause of all)
    if (NEVER_ASKED[cause] && rule.on.includes(cause))
      remarks.push(warning(`${path}.on`, `${cause} never comes to a rule: ${NEVER_ASKED[cause]}`));
  for (const key of ['exitCode', 'signal', 'scope'] as const) {
    const without = all.filter((cause) => NEVER_ASKED[cause] === undefined && missingDetail(rule, cause).includes(key));
    // C029: after a preemption or a lost node there is no exit code, so such a rule waits for ever.
    if (without.length > 0)
      remarks.push(
        warning(`${path}.when.${key}`, `cannot match ${named(without)}, which ${without.length > 1 ? 'carry' : 'carries'} no ${key}`),
      );
  }
  if (reach.causes.length === 0 && reach.takenBy.length > 0)
    remarks.push(warning(path, `never used: rule ${named(reach.takenBy)} before it takes everything that it names`));
  return remarks;
};

const actionRemarks = (input: PlanInput, path: string, rule: Rule, reach: Reach): Remark[] => {
  const evidence = reach.causes.filter((cause) => CAUSES[cause] === 'evidence');
  if ('stop' in rule.do && evidence.length > 0 && input.spec.policy.unmatched !== 'stop')
    return [
      warning(`${path}.do.stop`, `${named(evidence)} ends a job only by an answer or by unmatched: stop; a question is asked instead`),
    ];
  if (!('relaunch' in rule.do)) return [];
  return relaunchRemarks(input, `${path}.do.relaunch`, rule.do.relaunch, reach);
};

type Relaunch = Extract<Rule['do'], { relaunch: unknown }>['relaunch'];

const relaunchRemarks = (input: PlanInput, path: string, relaunch: Relaunch, reach: Reach): Remark[] => {
  const { spec, probe } = input;
  const { from, scale, excludeNodes } = relaunch;
  const remarks: Remark[] = [];
  if (spec.policy.limits.attempts === 1) remarks.push(warning(path, 'never happens: limits.attempts is 1; raise it'));
  if (reach.causes.includes('out_of_memory') && !scale?.memoryPerNode)
    remarks.push(warning(path, 'out_of_memory without scale.memoryPerNode: a second end at the same memory is limit_reached'));
  if (reach.causes.includes('time_limit') && !scale?.timeLimit && (from === 'scratch' || !spec.checkpoint))
    remarks.push(warning(path, 'time_limit without scale.timeLimit and without a checkpoint: the next attempt ends the same way'));
  if (reach.causes.includes('node_lost'))
    remarks.push(
      warning(path, "after node_lost an earlier run may live on: dispatch fences its publications, not the program's own files"),
    );
  if (from === 'checkpoint' && !spec.checkpoint)
    remarks.push(warning(`${path}.from`, 'the spec has no checkpoint: unless the program publishes by itself, it starts from scratch'));
  const memory = spec.resources.memoryPerNodeMi;
  if (scale?.memoryPerNode && memory === undefined)
    remarks.push(refusal(`${path}.scale.memoryPerNode`, 'has nothing to multiply; set resources.memoryPerNode'));
  else if (scale?.memoryPerNode && memory !== undefined && scale.memoryPerNode.upToMi <= memory)
    remarks.push(refusal(`${path}.scale.memoryPerNode.upTo`, `is not above resources.memoryPerNode, ${formatMemory(memory)}; raise it`));
  if (scale?.timeLimit && scale.timeLimit.upToSeconds <= spec.timeLimitSeconds)
    remarks.push(refusal(`${path}.scale.timeLimit.upTo`, `is not above timeLimit, ${formatDuration(spec.timeLimitSeconds)}; raise it`));
  if (excludeNodes && probe && supportOf(probe, 'excludes_nodes') === 'no')
    remarks.push(
      refusal(
        `${path}.excludeNodes`,
        'nobody can enforce it: this cluster excludes no nodes; leave it out',
        evidenceOf(probe, 'excludes_nodes'),
      ),
    );
  return remarks;
};
