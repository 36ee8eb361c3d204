/**
 * What the cluster itself says to a spec: may it be submitted there at all, and does it fit a partition (contract §6, §7; C007).
 * Guards promises 3 and 8: no submission to a cluster that was never probed, or that cannot gate, find, release and cancel.
 */
import type { CapabilityName, ClusterFacts } from './capability.ts';
import { nearest } from './nearest.ts';
import { evidenceOf, named, type PlanInput, type Remark, refusal, supportOf, warning } from './plan-input.ts';
import { formatDuration } from './quantity.ts';
import { EXTENSION_KINDS } from './spec.ts';

/** Without one of these a launch could run twice or never be stopped. */
const NEEDED: readonly CapabilityName[] = ['gate', 'find_by_identity', 'release', 'cancel'];

export const clusterRemarks = (input: PlanInput): Remark[] => [
  ...admissionRemarks(input),
  ...extensionRemarks(input),
  ...(input.probe ? [...capabilityRemarks(input), ...partitionRemarks(input, input.probe.facts)] : []),
];

const admissionRemarks = ({ cluster, login, probe }: PlanInput): Remark[] => {
  const remarks: Remark[] = [];
  if (cluster.readOnly) remarks.push(refusal('cluster', `${cluster.id} is read only: it is looked at, never written to`));
  if (!login) remarks.push(refusal('login', `no login of ${cluster.id} allows you; ask who operates it to add you to one`));
  if (!probe) remarks.push(refusal('cluster', `${cluster.id} was never probed under this login; run a preflight first`));
  return remarks;
};

const extensionRemarks = ({ spec, cluster }: PlanInput): Remark[] =>
  EXTENSION_KINDS.filter((kind) => kind !== cluster.kind && spec.extensions[kind] !== undefined).map((kind) =>
    refusal(`extensions.${kind}`, `${cluster.id} is of kind ${cluster.kind}; leave it out`),
  );

const capabilityRemarks = ({ cluster, probe }: PlanInput): Remark[] => {
  const remarks: Remark[] = [];
  for (const name of [...NEEDED, 'submit_allowed'] as const) {
    const support = supportOf(probe, name);
    if (support === 'no') remarks.push(refusal('cluster', `${cluster.id} cannot take the job: ${name} is "no"`, evidenceOf(probe, name)));
    else if (support === 'unknown') remarks.push(warning('cluster', `${name} is not known of ${cluster.id}`, evidenceOf(probe, name)));
  }
  // C007: without accounting an end that nobody saw in time can only be guessed.
  if (supportOf(probe, 'outcome_survives_purge') !== 'yes')
    remarks.push(
      warning('cluster', `the cause of a job that ${cluster.id} has purged is lost`, evidenceOf(probe, 'outcome_survives_purge')),
    );
  return remarks;
};

type Partition = ClusterFacts['partitions'][number];

const partitionRemarks = (input: PlanInput, { partitions }: ClusterFacts): Remark[] => {
  if (partitions.length === 0) return [];
  const path = 'extensions.slurm.partition';
  const asked = input.spec.extensions.slurm?.partition?.split(',') ?? [];
  const known = partitions.map((partition) => partition.name);
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const near = nearest(unknown[0]!, known);
    const meant = near === undefined ? '' : ` did you mean "${near}"?`;
    return [refusal(path, `${input.cluster.id} has no partition ${named(unknown)};${meant} known: ${named(known)}`)];
  }
  const used = partitions.filter((partition) => (asked.length > 0 ? asked.includes(partition.name) : partition.isDefault));
  if (used.length > 0) return fitRemarks(input, used);
  return input.cluster.kind === 'slurm' ? [refusal(path, `${input.cluster.id} has no default partition; name one of ${named(known)}`)] : [];
};

/** Of several partitions the job may start in any, so what one of them allows is allowed. */
const fitRemarks = (input: PlanInput, used: readonly Partition[]): Remark[] => {
  const { spec } = input;
  const names = named(used.map((partition) => partition.name));
  const most = Math.max(...used.map((partition) => partition.maxSeconds ?? Number.POSITIVE_INFINITY));
  const least = Math.min(...used.map((partition) => partition.maxSeconds ?? Number.POSITIVE_INFINITY));
  const remarks: Remark[] = [];
  const limitFits = (path: string, seconds: number): void => {
    const says = `${formatDuration(seconds)} is longer than`;
    if (seconds > most) remarks.push(refusal(path, `${says} partition ${names} allows, ${formatDuration(most)}; lower it`));
    else if (seconds > least) remarks.push(warning(path, `${says} one of the partitions ${names} allows, ${formatDuration(least)}`));
  };
  limitFits('timeLimit', spec.timeLimitSeconds);
  for (const [i, rule] of spec.policy.rules.entries()) {
    const upTo = 'relaunch' in rule.do ? rule.do.relaunch.scale?.timeLimit?.upToSeconds : undefined;
    if (upTo !== undefined) limitFits(`policy.rules[${i}].do.relaunch.scale.timeLimit.upTo`, upTo);
  }
  const nodes = Math.max(...used.map((partition) => partition.nodes));
  if (spec.resources.nodes > nodes)
    remarks.push(refusal('resources.nodes', `${spec.resources.nodes} nodes are more than partition ${names} has, ${nodes}; ask for fewer`));
  if (used.every((partition) => !partition.up)) remarks.push(warning('cluster', `partition ${names} is down: the job will wait`));
  return remarks;
};
