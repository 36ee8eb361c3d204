/**
 * plan: what would happen to this spec on that cluster, said before anything starts (contract §6).
 * Guards promise 2: per rule one enforcer, named, with the evidence; a plan with a refusal cannot be submitted. Pure: the same
 * input gives the same plan, and the digest changes when, and only when, what the plan promises changes.
 */
import { canonical } from './canonical.ts';
import { clusterRemarks } from './plan-cluster.ts';
import { type PlanInput, type Remark, requeueOf } from './plan-input.ts';
import { reachOf } from './plan-match.ts';
import { requeueRemarks } from './plan-requeue.ts';
import { ruleLine, ruleRemarks } from './plan-rules.ts';
import { MOST_REMARKS, type Plan, SAYS_CHARACTERS } from './plan-schema.ts';
import { SUBMISSION_CHARACTERS, specRemarks } from './plan-spec.ts';
import { formatDuration } from './quantity.ts';
import { TIMING } from './timing.ts';

export { type Plan, planSchema } from './plan-schema.ts';

/** `sha256`: hexadecimal digest of a text in UTF-8; a parameter, because the pure centre imports no crypto. */
export const plan = (input: PlanInput, sha256: (text: string) => string): Plan => {
  const { spec, cluster, login, probe, rendering } = input;
  const { rules } = spec.policy;
  const reaches = reachOf(rules);
  const said = [
    ...clusterRemarks(input),
    ...specRemarks(input),
    ...rules.flatMap((rule, i) => ruleRemarks(input, rule, i, reaches[i]!)),
    ...requeueRemarks(input, reaches),
  ];
  const promised: Omit<Plan, 'digest' | 'plannedAt'> = {
    specDigest: sha256(canonical(spec)),
    summary: summaryOf(input),
    cluster: { id: cluster.id, kind: cluster.kind },
    ...(login && { login: { id: login.id, user: login.user } }),
    requeue: requeueOf(spec.policy),
    rules: rules.map((rule, i) => ruleLine(input, rule, i, reaches[i]!)),
    ...(rendering && { gate: gateOf(input, rendering.gate) }),
    enforces: enforcesOf(input),
    submission: rendering?.text.slice(0, SUBMISSION_CHARACTERS) ?? '',
    warnings: only('warning', said),
    refusals: only('refusal', said),
    facts: {
      kind: cluster.kind,
      landingBoundSeconds: cluster.landingBoundSeconds,
      credentialLifeSeconds: probe?.facts.credentialLifeSeconds ?? TIMING.credentialLifeSeconds,
      pollEverySeconds: cluster.pollEverySeconds,
    },
  };
  return { digest: sha256(canonical(withoutEvidence(promised))), ...promised, plannedAt: input.now };
};

const only = (level: Remark['level'], said: readonly Remark[]): Plan['warnings'] => {
  const seen = new Map<string, Plan['warnings'][number]>();
  for (const { level: its, path, says, evidence } of said) {
    const key = JSON.stringify([path, says]);
    if (its !== level || seen.has(key)) continue;
    seen.set(key, { path: path.slice(0, 512), says: says.slice(0, SAYS_CHARACTERS), ...(evidence !== undefined && { evidence }) });
  }
  return [...seen.values()].slice(0, MOST_REMARKS);
};

/** What a probe happened to see, in its words, is no promise: a new probe with the same findings is the same plan. */
const withoutEvidence = (promised: Omit<Plan, 'digest' | 'plannedAt'>) => {
  const bare = <T extends { evidence?: string | undefined }>({ evidence: _, ...rest }: T) => rest;
  return {
    ...promised,
    rules: promised.rules.map((line) => ({ ...line, detects: { ...line.detects, by: line.detects.by.map(bare) } })),
    warnings: promised.warnings.map(bare),
    refusals: promised.refusals.map(bare),
  };
};

const summaryOf = ({ spec }: PlanInput): Plan['summary'] => {
  const { nodes, tasksPerNode, gpusPerNode, gpuType, memoryPerNodeMi } = spec.resources;
  return {
    name: spec.name,
    ...(spec.project !== undefined && { project: spec.project }),
    program: spec.program.script === undefined ? 'command' : 'script',
    nodes,
    tasksPerNode,
    gpusPerNode,
    ...(gpuType !== undefined && { gpuType }),
    ...(memoryPerNodeMi !== undefined && { memoryPerNodeMi }),
    timeLimitSeconds: spec.timeLimitSeconds,
    attempts: spec.policy.limits.attempts,
    unmatched: spec.policy.unmatched,
  };
};

const gateOf = ({ spec }: PlanInput, gate: Plan['gate'] & object): NonNullable<Plan['gate']> => ({
  mechanism: gate.mechanism,
  selfDestructs: gate.selfDestructs,
  says: gate.says.slice(0, SAYS_CHARACTERS),
  ...(gate.selfDestructs && { expiresAfterSeconds: spec.patienceSeconds }),
});

const enforcesOf = ({ spec, rendering }: PlanInput): Plan['enforces'] => {
  const unknown = 'not known: nothing could be rendered';
  const { stalledAfterSeconds } = spec.policy.limits;
  const patience = formatDuration(spec.patienceSeconds);
  return {
    timeLimit: rendering?.enforces.timeLimit.slice(0, SAYS_CHARACTERS) ?? unknown,
    deadline:
      spec.deadline === undefined
        ? 'none'
        : `the supervisor cancels what lives at ${new Date(spec.deadline).toISOString().replace('.000Z', 'Z')} and asks no rule`,
    patience: rendering?.gate.selfDestructs
      ? `the scheduler ends an attempt that did not start within ${patience}; where it does not look (held, partition down) the supervisor, 10 min later`
      : `the supervisor cancels an attempt that did not start within ${patience}; the cluster does not`,
    stalls:
      stalledAfterSeconds === undefined
        ? 'nobody: policy.limits.stalledAfter is not set'
        : `the supervisor cancels a run that published nothing and wrote nothing for ${formatDuration(stalledAfterSeconds)}`,
    cancellation: 'the supervisor asks the scheduler, repeats it, and waits until the end is seen',
    oneTaskFails: rendering?.enforces.oneTaskFails.slice(0, SAYS_CHARACTERS) ?? unknown,
  };
};
