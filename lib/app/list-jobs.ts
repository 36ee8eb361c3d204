/**
 * List jobs: one page, newest first, of what a caller may see (contract §11). Guards: a filter that has no index is applied to the
 * page, so a page may come back short, or empty, with a cursor; and rows of other projects leave no trace but that.
 */
import type { JobFilter, JobRow, Page } from '../record/port.ts';
import type { Ports } from './ports.ts';
import { hasScope, mayTouch, type Principal, projectsOf } from './principal.ts';

export interface JobsAsked {
  readonly state?: string | undefined;
  readonly cluster?: string | undefined;
  readonly cause?: string | undefined;
  readonly label?: { readonly key: string; readonly value: string } | undefined;
  readonly project?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export const listJobs = async (ports: Ports, principal: Principal, asked: JobsAsked): Promise<Page<JobRow>> => {
  const { limit, cursor } = asked;
  const page = await ports.store.listJobs(indexFor(principal, asked), { limit, ...(cursor === undefined ? {} : { cursor }) });
  return {
    items: page.items.filter((row) => fits(row, asked) && mayTouch(principal, row)),
    ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
  };
};

/** The narrowest list there is: few jobs carry one label, fewer than are on a cluster or in a state. */
const indexFor = (principal: Principal, asked: JobsAsked): JobFilter => {
  if (asked.label) return { by: 'label', ...asked.label };
  if (asked.project !== undefined) return { by: 'project', project: asked.project };
  const own = projectsOf(principal);
  // Without another filter, a caller of one project gets whole pages of it, though not jobs of its own that lie elsewhere.
  if (asked.state === undefined && asked.cluster === undefined && own.length === 1 && own[0] && !hasScope(principal, 'operate'))
    return { by: 'project', project: own[0] };
  if (asked.state !== undefined) return { by: 'state', state: asked.state };
  if (asked.cluster !== undefined) return { by: 'cluster', cluster: asked.cluster };
  return { by: 'all' };
};

const fits = (row: JobRow, { state, cluster, cause, project }: JobsAsked): boolean =>
  (state === undefined || row.state === state) &&
  (cluster === undefined || row.cluster === cluster) &&
  (cause === undefined || row.cause === cause) &&
  (project === undefined || row.project === project);
