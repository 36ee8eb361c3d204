/**
 * Read a job: its view for a caller who may see it, and its status joined with how fresh the news of its cluster is.
 * Guards: what a caller may not see does not exist for it.
 */
import { JOB_ID } from '../job/identity.ts';
import { lastAttempt, type View } from '../job/view.ts';
import { type Joined, joinCluster } from './cluster/join.ts';
import { clusterView } from './cluster/load.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';
import { mayTouch, type Principal } from './principal.ts';
import { type Status, statusOf } from './status.ts';

/** Undefined: no such job, one whose birth is not finished, or one of a project that is not this caller's. */
export const readJob = async (ports: Ports, principal: Principal, job: string): Promise<View | undefined> => {
  if (!JOB_ID.test(job)) return undefined;
  const view = await loadView(ports.store, job);
  return view && mayTouch(principal, { owner: view.principal, project: view.project }) ? view : undefined;
};

/** Costs a read of its cluster's record and of a lease; nothing more for a job that has ended. */
export const readStatus = async (ports: Ports, view: View): Promise<Status & Joined> => {
  if (view.ended) return statusOf(view);
  const attempt = lastAttempt(view);
  const cluster = attempt?.cluster ?? view.spec?.cluster ?? '';
  const login = attempt?.login ?? view.login;
  const live = attempt?.receipt !== undefined && attempt.state !== 'ended';
  const [known, lease] = await Promise.all([clusterView(ports.store, cluster), live ? ports.store.readLease(cluster, login) : undefined]);
  const status = statusOf(view, live ? { answeredAt: lease?.answeredAt ?? 0, now: ports.now() } : undefined);
  return joinCluster(status, known, login);
};
