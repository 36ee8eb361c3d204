/**
 * List escalations: the open questions that a caller may see (contract §10). Blocking ones are those of the jobs that await an answer,
 * the others those of jobs marked as asked aside; each from an index of its own, so that no list walks over jobs without a question.
 */
import { type ClusterQuestion, openClusterQuestions } from '../job/cluster-view.ts';
import { openQuestions, type Question, type View } from '../job/view.ts';
import type { JobFilter, Page } from '../record/port.ts';
import { clusterView } from './cluster/load.ts';
import { loadView } from './load.ts';
import type { Ports } from './ports.ts';
import { mayTouch, type Principal } from './principal.ts';

export type Asked =
  | { readonly of: 'job'; readonly view: View; readonly question: Question }
  | { readonly of: 'cluster'; readonly cluster: string; readonly question: ClusterQuestion };

/** Each row costs the read of a log. */
export const ESCALATIONS_LIMIT = 25;

export const listEscalations = async (
  ports: Ports,
  principal: Principal,
  asked: { readonly blocking: boolean; readonly cursor?: string | undefined },
): Promise<Page<Asked>> => {
  const page = await jobsAsking(ports, asked);
  const views = await Promise.all(page.items.map((job) => loadView(ports.store, job)));
  const ofJobs = views.flatMap((view): Asked[] => {
    if (!view || !mayTouch(principal, { owner: view.principal, project: view.project })) return [];
    return openQuestions(view)
      .filter((question) => question.blocks === asked.blocking)
      .map((question) => ({ of: 'job', view, question }));
  });
  // A cluster's are few, concern everybody and block nobody's supervisor: they open the list of those.
  const ofClusters = !asked.blocking && asked.cursor === undefined ? await clusters(ports) : [];
  return { items: [...ofClusters, ...ofJobs], ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
};

const jobsAsking = async (
  ports: Ports,
  { blocking, cursor }: { readonly blocking: boolean; readonly cursor?: string | undefined },
): Promise<Page<string>> => {
  const filter: JobFilter = blocking ? { by: 'state', state: 'awaiting' } : { by: 'asked' };
  const page = await ports.store.listJobs(filter, { limit: ESCALATIONS_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
  return { ...page, items: page.items.map((row) => row.job) };
};

const clusters = async (ports: Ports): Promise<Asked[]> => {
  const views = await Promise.all([...ports.clusters.keys()].map((id) => clusterView(ports.store, id)));
  return views.flatMap((view) => openClusterQuestions(view).map((question): Asked => ({ of: 'cluster', cluster: view.cluster, question })));
};
