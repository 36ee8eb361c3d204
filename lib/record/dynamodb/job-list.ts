/** Lists of jobs for people, and their labels, in DynamoDB (P1.6): an index or a label names the jobs, one batch reads their heads. */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { checkCountLimit, checkJobsLimit, fits, listName, placeOf, rowOf } from '../job-list.ts';
import { headKey, jobOfPk, jobPk, KEY_BYTES, labelKey } from '../keys.ts';
import type { JobFilter, JobRow, RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import type { Look } from './expression.ts';
import { summaryOf } from './head-item.ts';
import { count, type Item, text } from './item.ts';

export type JobListCalls = Pick<RecordStore, 'putLabels' | 'listJobs' | 'countActive'>;

/** What a row is made of; the token, which lies on the head, too, is not read (P2.6). */
const ROW_ATTRIBUTES = [
  ...['pk', 'v', 'bornAt', 'principal', 'w', 'name', 'project', 'cluster', 'login'],
  ...['cause', 'updatedAt', 'active', 'state', 'unended', 'asked'],
];

const jobRow = (item: Item): JobRow =>
  rowOf({
    job: jobOfPk(text(item, 'pk')),
    version: count(item, 'v'),
    bornAt: count(item, 'bornAt'),
    principal: text(item, 'principal'),
    summary: summaryOf(item),
  });

/** The query that names jobs, newest first since a job's id begins with its birth, and how a named job is read from its answer. */
const naming = (filter: JobFilter, last: string | undefined): { look: Look; jobOf: (item: Item) => string; valid: boolean } => {
  const place = placeOf(filter);
  const valid = (value: string): boolean => value !== '' && Buffer.byteLength(value) <= KEY_BYTES;
  if (place.kind === 'label') {
    const { pk } = place;
    const after = last !== undefined && { after: { pk, sk: last } };
    return {
      look: { when: '#pk = :pk', values: { pk }, backwards: true, ...after },
      jobOf: (item) => text(item, 'sk'),
      valid: valid(pk),
    };
  }
  const { index, value } = place;
  const after = last !== undefined && { after: { ...headKey(last), [index]: value } };
  return {
    look: { index, when: `#${index} = :value`, values: { value }, backwards: true, ...after },
    jobOf: (item) => jobOfPk(text(item, 'pk')),
    valid: valid(value),
  };
};

export const dynamoJobList = (calls: TableCalls): JobListCalls => {
  const rowsOf = async (jobs: readonly string[]): Promise<readonly JobRow[]> => {
    if (jobs.length === 0) return [];
    const items = await calls.getEach(jobs.map(headKey), { attributes: ROW_ATTRIBUTES, consistent: false });
    const heads = new Map(items.map((item) => [text(item, 'pk'), item]));
    // Named and without a head: a birth that was given up, whose labels remain.
    return jobs.flatMap((job) => {
      const item = heads.get(jobPk(job));
      return item ? [jobRow(item)] : [];
    });
  };
  return {
    async putLabels(job, labels) {
      // A spec has at most ten.
      await Promise.all(Object.entries(labels).map(([key, value]) => calls.put({ ...labelKey(key, value, job) })));
    },
    async listJobs(filter, { limit, cursor }) {
      checkJobsLimit(limit);
      const name = listName(filter);
      const { look, jobOf, valid } = naming(filter, cursor === undefined ? undefined : decodeCursor(name, cursor));
      // Nothing lies under a value that cannot be a key, and asking for one is not a valid request.
      if (!valid) return { items: [] };
      // One more than a page shows whether there is another.
      const { items: named, next } = await calls.query({ ...look, limit: limit + 1 });
      const jobs = named.slice(0, limit).map(jobOf);
      const items = (await rowsOf(jobs)).filter((row) => fits(filter, row));
      const end = jobs.at(-1);
      return end !== undefined && (next || named.length > limit) ? { items, cursor: encodeCursor(name, end) } : { items };
    },
    async countActive(project, atMost) {
      checkCountLimit(atMost);
      if (project === '' || Buffer.byteLength(project) > KEY_BYTES) return 0;
      let counted = 0;
      let after: Item | undefined;
      do {
        const look = { index: 'unendedIn', when: '#unendedIn = :project', values: { project }, limit: atMost - counted };
        const page = await calls.countPage({ ...look, ...(after && { after }) });
        counted += page.count;
        // Each page with a successor holds at least one row, so this ends by `atMost`.
        after = page.next;
      } while (after && counted < atMost);
      return counted;
    },
  };
};
