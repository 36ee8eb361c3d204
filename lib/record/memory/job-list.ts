/** Lists of jobs for people, and their labels, in memory (P1.6). */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { checkCountLimit, checkJobsLimit, fits, listName, placeOf, rowOf } from '../job-list.ts';
import { labelPk } from '../keys.ts';
import type { RecordStore } from '../port.ts';
import type { State } from './state.ts';

export type JobListCalls = Pick<RecordStore, 'putLabels' | 'listJobs' | 'countActive'>;

export const memoryJobList = (state: State): JobListCalls => {
  const indexes = { listed: state.listed, asked: state.asked, project: state.byProject, state: state.byState, cluster: state.byCluster };
  return {
    async putLabels(job, labels) {
      for (const [key, value] of Object.entries(labels)) state.labelled.move(job, '', labelPk(key, value));
    },
    async listJobs(filter, { limit, cursor }) {
      checkJobsLimit(limit);
      const name = listName(filter);
      const before = cursor === undefined ? undefined : decodeCursor(name, cursor);
      const place = placeOf(filter);
      const [rows, value] = place.kind === 'label' ? [state.labelled, place.pk] : [indexes[place.index], place.value];
      const { jobs, more } = rows.pageBack(value, before, limit);
      const items = jobs.flatMap((job) => {
        const head = state.jobs.get(job)?.head;
        return head ? [rowOf(head)] : [];
      });
      const shown = items.filter((row) => fits(filter, row));
      return more ? { items: shown, cursor: encodeCursor(name, jobs.at(-1)!) } : { items: shown };
    },
    async countActive(project, atMost) {
      checkCountLimit(atMost);
      return Math.min(atMost, state.unendedIn.count(project));
    },
  };
};
