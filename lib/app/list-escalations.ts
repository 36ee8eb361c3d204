/**
 * List escalations: the open questions that a caller may see (contract §10). Blocking ones come from the index of jobs that await an
 * answer; the others, of which no index knows, from a walk over the jobs that live, a few of them per page.
 */
import { type ClusterQuestion, openClusterQuestions } from '../job/cluster-view.ts';
import { openQuestions, type Question, type View } from '../job/view.ts';
import type { Page } from '../record/port.ts';
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
  const page = asked.blocking ? await awaiting(ports, asked.cursor) : await living(ports, asked.cursor);
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

const awaiting = async (ports: Ports, cursor: string | undefined): Promise<Page<string>> => {
  const page = await ports.store.listJobs(
    { by: 'state', state: 'awaiting' },
    { limit: ESCALATIONS_LIMIT, ...(cursor === undefined ? {} : { cursor }) },
  );
  return { ...page, items: page.items.map((row) => row.job) };
};

const living = async (ports: Ports, cursor: string | undefined): Promise<Page<string>> => {
  const page = await ports.store.listJobs({ by: 'all' }, { limit: ESCALATIONS_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
  return { ...page, items: page.items.filter((row) => !ENDED.has(row.state)).map((row) => row.job) };
};
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

const clusters = async (ports: Ports): Promise<Asked[]> => {
  const views = await Promise.all([...ports.clusters.keys()].map((id) => clusterView(ports.store, id)));
  return views.flatMap((view) => openClusterQuestions(view).map((question): Asked => ({ of: 'cluster', cluster: view.cluster, question })));
};
