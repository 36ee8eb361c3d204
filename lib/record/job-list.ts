/**
 * The lists of jobs that people see (contract §11), pure: which index answers a filter, what a row says, and which rows still fit.
 * An index names jobs and may lag; the row is the head's, read afterwards, so a list never shows a job under a state that it left.
 */
import { assert } from '../job/assertion.ts';
import { labelPk, PRESENT } from './keys.ts';
import { COUNT_LIMIT, type Head, JOBS_LIMIT, type JobFilter, type JobRow } from './port.ts';

/** Where a filter's jobs are named: under a value of an index over heads, or as the items of a label. */
export type Place =
  | { readonly kind: 'index'; readonly index: 'listed' | 'asked' | 'project' | 'state' | 'cluster'; readonly value: string }
  | { readonly kind: 'label'; readonly pk: string };

export const placeOf = (filter: JobFilter): Place => {
  switch (filter.by) {
    case 'all':
      return { kind: 'index', index: 'listed', value: PRESENT };
    case 'asked':
      return { kind: 'index', index: 'asked', value: PRESENT };
    case 'project':
      return { kind: 'index', index: 'project', value: filter.project };
    case 'state':
      return { kind: 'index', index: 'state', value: filter.state };
    case 'cluster':
      return { kind: 'index', index: 'cluster', value: filter.cluster };
    case 'label':
      return { kind: 'label', pk: labelPk(filter.key, filter.value) };
  }
};

/** A cursor's list: two filters share none, and none is a cursor of the lists that polls and sweeps read. */
export const listName = (filter: JobFilter): string => {
  const place = placeOf(filter);
  const login = filter.by === 'cluster' ? (filter.login ?? '') : '';
  return JSON.stringify(place.kind === 'label' ? ['label', place.pk] : ['jobs', place.index, place.value, login]);
};

export type Listed = Pick<Head, 'job' | 'version' | 'bornAt' | 'principal' | 'summary'>;

export const rowOf = ({ job, version, bornAt, principal, summary }: Listed): JobRow => ({
  job,
  version,
  name: summary.name,
  project: summary.project,
  owner: principal,
  cluster: summary.cluster,
  login: summary.login,
  state: summary.state,
  ...(summary.cause !== '' && { cause: summary.cause }),
  bornAt,
  updatedAt: summary.updatedAt,
});

/** Whether the head, as it is now, belongs to the list that the index named it for. Labels never change. */
export const fits = (filter: JobFilter, row: JobRow): boolean => {
  switch (filter.by) {
    case 'all':
    case 'asked':
    case 'label':
      return true;
    case 'project':
      return row.project === filter.project;
    case 'state':
      return row.state === filter.state;
    case 'cluster':
      return row.cluster === filter.cluster && (filter.login === undefined || row.login === filter.login);
  }
};

export const checkJobsLimit = (limit: number): void =>
  assert(Number.isInteger(limit) && limit >= 1 && limit <= JOBS_LIMIT, `a list of jobs is asked for 1 to ${JOBS_LIMIT} rows`);

export const checkCountLimit = (atMost: number): void =>
  assert(Number.isInteger(atMost) && atMost >= 1 && atMost <= COUNT_LIMIT, `jobs are counted to 1 to ${COUNT_LIMIT}`);
