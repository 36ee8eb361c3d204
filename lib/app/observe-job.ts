/**
 * Observe a job: one that somebody else submitted is watched from now on, and never acted upon (contract §7: observe_only).
 * Guards: adopting the same object again answers with the job that watches it; nothing is written before the cluster has shown it.
 */
import { assert } from '../job/assertion.ts';
import type { View } from '../job/view.ts';
import { isUnreachable, withSession } from './cluster/session.ts';
import type { Ports } from './ports.ts';
import { mayUseLogin, type Principal, projectFor } from './principal.ts';
import { adoptJob } from './submit-job.ts';

export interface AdoptAsked {
  readonly cluster: string;
  readonly login?: string | undefined;
  readonly schedulerId: string;
  readonly project?: string | undefined;
}

export type Adopted =
  | { readonly kind: 'adopted'; readonly view: View }
  | { readonly kind: 'unknown_cluster' | 'no_login' | 'unsupported' | 'unknown_object' | 'ours' }
  | { readonly kind: 'foreign_project'; readonly project: string }
  | { readonly kind: 'unreachable'; readonly says: string };

export const observeJob = async (ports: Ports, principal: Principal, asked: AdoptAsked): Promise<Adopted> => {
  const cluster = ports.clusters.get(asked.cluster);
  if (!cluster) return { kind: 'unknown_cluster' };
  const login = cluster.logins.find((one) => (asked.login === undefined || one.id === asked.login) && mayUseLogin(principal, one));
  if (!login) return { kind: 'no_login' };
  const project = projectFor(principal, asked.project);
  if (project === undefined) return { kind: 'foreign_project', project: asked.project ?? '' };
  const found = await withSession(ports, cluster.id, login.id, async (session) =>
    session.adopt ? session.adopt(asked.schedulerId) : ({ kind: 'unsupported' } as const),
  );
  if (isUnreachable(found)) return { kind: 'unreachable', says: found.unreachable };
  if (found.kind !== 'found') return found;
  const birth = await adoptJob(ports, { principal: principal.id, project, name: found.name, receipt: found.receipt });
  // Its key says everything that its payload does, so it is never used for another one.
  assert(birth.kind === 'submitted', 'the key of an adoption names another one');
  return { kind: 'adopted', view: birth.view };
};
