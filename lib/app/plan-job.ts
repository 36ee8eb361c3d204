/**
 * Plan a job: what would be done with a spec on its cluster, before anything starts (contract §6). Pure but for the probe it asks for.
 */
import { createHash } from 'node:crypto';
import type { Rendering } from '../cluster/port.ts';
import { parseSpec } from '../job/parse-spec.ts';
import { type Plan, plan } from '../job/plan.ts';
import { requeueOf } from '../job/plan-input.ts';
import type { Refusal } from '../job/refusal.ts';
import type { Spec } from '../job/spec.ts';
import type { ClusterConfiguration, Ports } from './ports.ts';
import { mayUseLogin, type Principal } from './principal.ts';

export type Planned =
  | { readonly kind: 'planned'; readonly spec: Spec; readonly plan: Plan; readonly login: string }
  /** `noLogin`: nothing is wrong with the spec, but no login of the cluster is for this caller. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[]; readonly noLogin?: true };

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `who`: for whom; without it, every login is open (one's own tools, on one's own machine). */
export const planJob = async (ports: Ports, input: unknown, who?: Principal): Promise<Planned> => {
  const meant =
    typeof input === 'object' && input !== null && 'cluster' in input && typeof input.cluster === 'string'
      ? ports.clusters.get(input.cluster)
      : undefined;
  const parsed = parseSpec(input, meant ? { kind: meant.adapter.kind } : {});
  if (!parsed.ok) return { kind: 'refused', refusals: parsed.refusals };
  const { spec } = parsed;
  const cluster = ports.clusters.get(spec.cluster);
  if (!cluster) {
    const says = `there is no cluster '${spec.cluster}': one of ${[...ports.clusters.keys()].join(', ')}`;
    return { kind: 'refused', refusals: [{ path: 'cluster', code: 'unknown_value', says }] };
  }
  const named = cluster.logins.filter((one) => spec.login === undefined || one.id === spec.login);
  const login = named.find((one) => who === undefined || mayUseLogin(who, one));
  // A login that does not exist is the plan's to refuse, with the names of those that do.
  if (!login && named.length > 0) {
    const says = `no login of '${cluster.id}'${spec.login === undefined ? '' : ` named '${spec.login}'`} allows ${who?.id ?? 'you'}`;
    return { kind: 'refused', refusals: [{ path: 'login', code: 'unsupported', says }], noLogin: true };
  }
  const probe = login ? await ports.probeOf(cluster.id, login.id) : undefined;
  const made = plan(
    {
      spec,
      cluster: {
        id: cluster.id,
        kind: cluster.adapter.kind,
        readOnly: cluster.readOnly,
        landingBoundSeconds: cluster.landingBoundSeconds,
        pollEverySeconds: cluster.pollEverySeconds,
      },
      login,
      probe,
      rendering: probe ? rendered(cluster, spec, probe) : undefined,
      now: ports.now(),
    },
    sha256,
  );
  return { kind: 'planned', spec, plan: made, login: login?.id ?? '' };
};

const rendered = (cluster: ClusterConfiguration, spec: Spec, probe: Parameters<ClusterConfiguration['adapter']['render']>[1]): Rendering =>
  cluster.adapter.render(spec, probe, { requeue: requeueOf(spec.policy), patienceSeconds: spec.patienceSeconds });
