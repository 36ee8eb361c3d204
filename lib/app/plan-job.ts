/**
 * Plan a job: what would be done with a spec on its cluster, before anything starts (contract §6). Pure but for the probe it asks for.
 */
import { createHash } from 'node:crypto';
import type { Rendering } from '../cluster/port.ts';
import { canonical } from '../job/canonical.ts';
import { parseSpec } from '../job/parse-spec.ts';
import { type Plan, plan } from '../job/plan.ts';
import { requeueOf } from '../job/plan-input.ts';
import type { Refusal } from '../job/refusal.ts';
import type { Spec } from '../job/spec.ts';
import type { ClusterConfiguration, LoginConfiguration, Ports } from './ports.ts';
import { mayUseLogin, mayUseSecret, type Principal } from './principal.ts';

export type Planned =
  /**
   * `spec`: with what its login fills in, which is what every attempt of the job is sent with; `asked`: digest of what was asked for,
   * whatever a login fills in by now.
   */
  | { readonly kind: 'planned'; readonly spec: Spec; readonly asked: string; readonly plan: Plan; readonly login: string }
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
  const cluster = ports.clusters.get(parsed.spec.cluster);
  if (!cluster) {
    const says = `there is no cluster '${parsed.spec.cluster}': one of ${[...ports.clusters.keys()].join(', ')}`;
    return { kind: 'refused', refusals: [{ path: 'cluster', code: 'unknown_value', says }] };
  }
  const wanted = parsed.spec.login;
  const named = cluster.logins.filter((one) => wanted === undefined || one.id === wanted);
  const login = named.find((one) => who === undefined || mayUseLogin(who, one));
  // A login that does not exist is the plan's to refuse, with the names of those that do.
  if (!login && named.length > 0) {
    const says = `no login of '${cluster.id}'${wanted === undefined ? '' : ` named '${wanted}'`} allows ${who?.id ?? 'you'}`;
    return { kind: 'refused', refusals: [{ path: 'login', code: 'unsupported', says }], noLogin: true };
  }
  const spec = withDefaults(parsed.spec, login);
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
      secrets: login ? secretsFor(ports, cluster.id, login, who) : [],
      now: ports.now(),
    },
    sha256,
  );
  return { kind: 'planned', spec, asked: sha256(canonical(parsed.spec)), plan: made, login: login?.id ?? '' };
};

/** Frozen into the job: a default that changes later must not send a relaunch to another account than the plan showed. */
const withDefaults = (spec: Spec, login: LoginConfiguration | undefined): Spec =>
  login?.defaults ? { ...spec, extensions: { ...spec.extensions, slurm: { ...login.defaults, ...spec.extensions.slurm } } } : spec;

/** Only names that this caller may use under this login: that there are others is nobody's business. */
const secretsFor = (ports: Ports, cluster: string, { id }: LoginConfiguration, who: Principal | undefined): readonly string[] =>
  (ports.secrets ?? []).filter((one) => who === undefined || mayUseSecret(who, one, { cluster, id })).map(({ name }) => name);

const rendered = (cluster: ClusterConfiguration, spec: Spec, probe: Parameters<ClusterConfiguration['adapter']['render']>[1]): Rendering =>
  cluster.adapter.render(spec, probe, { requeue: requeueOf(spec.policy), patienceSeconds: spec.patienceSeconds });
