/**
 * Accept a job: everything that is asked before its birth (contract §6, §11): is the spec sound, may this caller run it there and in
 * that project, is the plan the one that was read, is there room. Guards: nothing is stored before every answer is yes, and a
 * request that was accepted once is answered with its job, whatever has changed since.
 */
import type { Plan } from '../job/plan.ts';
import type { Refusal } from '../job/refusal.ts';
import { COUNT_LIMIT } from '../record/port.ts';
import { newCommitId } from './commit.ts';
import { planJob } from './plan-job.ts';
import type { Ports } from './ports.ts';
import { type Principal, projectFor } from './principal.ts';
import { readBlock } from './read-cluster.ts';
import { type Birth, submitJob } from './submit-job.ts';

export interface Asked {
  readonly spec: unknown;
  /** The digest of the plan that the caller has read. */
  readonly plan?: string | undefined;
  /** The caller's Idempotency-Key. */
  readonly key?: string | undefined;
  /** Of the project; undefined: no limit. */
  readonly maxActiveJobs?: number | undefined;
}

export type Accepted =
  | Birth
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  | { readonly kind: 'no_login'; readonly says: string }
  | { readonly kind: 'foreign_project'; readonly project: string }
  | { readonly kind: 'plan_refused'; readonly plan: Plan }
  /** `read`: undefined when no plan of that digest was stored in the last 7 days. */
  | { readonly kind: 'plan_changed'; readonly read: Plan | undefined; readonly now: Plan }
  | { readonly kind: 'blocked'; readonly says: string }
  | { readonly kind: 'too_many'; readonly project: string; readonly most: number };

export const acceptJob = async (ports: Ports, principal: Principal, asked: Asked): Promise<Accepted> => {
  const planned = await planJob(ports, asked.spec, principal);
  if (planned.kind === 'refused') {
    return planned.noLogin ? { kind: 'no_login', says: planned.refusals[0]?.says ?? '' } : { kind: 'refused', refusals: planned.refusals };
  }
  const { spec, asked: payloadHash, plan, login } = planned;
  const project = projectFor(principal, spec.project);
  if (project === undefined) return { kind: 'foreign_project', project: spec.project ?? '' };
  const key = asked.key ?? `own ${newCommitId(ports.random)}`;
  // The hash of what was asked for, project included where it was named: neither the moment nor the plan is part of it.
  const submitted = { spec, plan, login, project, principal: principal.id, key, payloadHash };
  // A repeat asks nothing anew: its first try was accepted, and may have been answered by nobody.
  const known = asked.key === undefined ? undefined : await ports.store.readKey(principal.id, key, ports.now());
  if (known) return known.payloadHash === payloadHash ? submitJob(ports, submitted) : { kind: 'key_reused', job: known.job };
  if (asked.plan !== undefined && asked.plan !== plan.digest) {
    const text = await ports.store.getPlan(asked.plan, ports.now());
    return { kind: 'plan_changed', read: text === undefined ? undefined : (JSON.parse(text) as Plan), now: plan };
  }
  if (plan.refusals.length > 0) return { kind: 'plan_refused', plan };
  const says = await readBlock(ports, spec.cluster);
  if (says !== undefined) return { kind: 'blocked', says };
  // Beyond what is counted there is no telling: a larger limit is this one.
  const most = asked.maxActiveJobs === undefined ? undefined : Math.min(asked.maxActiveJobs, COUNT_LIMIT);
  // A count that is read before the birth: two at once may go one over, which a limit of this kind can bear.
  if (most !== undefined && (await ports.store.countActive(project, most)) >= most) return { kind: 'too_many', project, most };
  return submitJob(ports, submitted);
};

/** Keeps a plan for whoever submits with its digest (contract §6: 7 days). */
export const keepPlan = async (ports: Ports, plan: Plan): Promise<void> => {
  await ports.store.putPlan(plan.digest, JSON.stringify(plan), ports.now());
};
