/**
 * Cluster why: what is wrong with a cluster as a phrase for people, and as part of a job's one sentence (contract §8: a job's view
 * joins its cluster's state when it is read). Not being able to look is never a state of the job (contract §2).
 */
import { blockedFor, type ClusterView, loginOf } from './cluster-view.ts';

export const CLUSTER_STATES = ['reachable', 'unreachable', 'blocked', 'unknown'] as const;
export type ClusterState = (typeof CLUSTER_STATES)[number];

/** `unknown`: no probe of any login was ever recorded, and nothing else is known. */
export const clusterState = (view: ClusterView): ClusterState => {
  if (view.logins.some((one) => one.blocked)) return 'blocked';
  if (view.logins.some((one) => one.unreachable)) return 'unreachable';
  return view.logins.some((one) => one.probe) ? 'reachable' : 'unknown';
};

const at = (ms: number): string => new Date(ms).toISOString();

/** Why this login gets nowhere: `cluster lab has not answered since … (…)`; undefined: nothing is known against it. */
export const troubleWords = (view: ClusterView, login: string): string | undefined => {
  const blocked = blockedFor(view, login);
  if (blocked) {
    const what = blocked.why === 'host_key_changed' ? 'shows another host key than is pinned' : `refuses login ${login}`;
    return `cluster ${view.cluster} ${what} since ${at(blocked.since)} and is left alone: ${blocked.says}`;
  }
  const { unreachable } = loginOf(view, login);
  return unreachable && `cluster ${view.cluster} has not answered since ${at(unreachable.since)}: ${unreachable.says}`;
};

/** Why nothing new is sent there, by an answer `block_submissions`; undefined: it is. */
export const submissionWords = (view: ClusterView): string | undefined => {
  const { submissionsBlocked } = view;
  if (!submissionsBlocked) return undefined;
  const { by, question, at: since } = submissionsBlocked;
  return `submissions to cluster ${view.cluster} are blocked since ${at(since)}, as ${by} answered ${question}: until it answers again, or a preflight succeeds`;
};

/** Cluster words go behind a job's own sentence and make it still one. */
export const joinWords = (why: string, words: readonly (string | undefined)[]): string => {
  const said = words.filter((one) => one !== undefined);
  return said.length === 0 ? why : `${why.replace(/\.$/, '')}; ${said.map((one) => one.replace(/\.$/, '')).join('; ')}.`;
};
