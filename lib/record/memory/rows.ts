/**
 * Rows: one index over heads in memory, jobs in order of their ids under each value. '' is no value: the job has no row.
 * The order is made when it is asked for and kept until a job comes or goes, since polls ask far more often than jobs change.
 */
export interface Rows {
  move(job: string, from: string, to: string): void;
  /** Like page, the greatest job first, from before the job `before`. */
  pageBack(value: string, before: string | undefined, limit: number): { readonly jobs: readonly string[]; readonly more: boolean };
  count(value: string): number;
  /** At most `limit` jobs under that value after the job `after`, and whether there are more. */
  page(value: string, after: string | undefined, limit: number): { readonly jobs: readonly string[]; readonly more: boolean };
}

/** The first place whose job is greater than `after`. */
const placeAfter = (sorted: readonly string[], after: string): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= after) low = middle + 1;
    else high = middle;
  }
  return low;
};

export const createRows = (): Rows => {
  const members = new Map<string, Set<string>>();
  const ordered = new Map<string, readonly string[]>();
  const sortedUnder = (value: string): readonly string[] => {
    const known = ordered.get(value);
    if (known) return known;
    const jobs = members.get(value);
    if (!jobs) return [];
    const sorted = [...jobs].sort();
    ordered.set(value, sorted);
    return sorted;
  };
  return {
    move(job, from, to) {
      if (from === to) return;
      for (const value of [from, to]) ordered.delete(value);
      const left = members.get(from);
      left?.delete(job);
      if (left?.size === 0) members.delete(from);
      if (to === '') return;
      const joined = members.get(to);
      if (joined) joined.add(job);
      else members.set(to, new Set([job]));
    },
    pageBack(value, before, limit) {
      const sorted = sortedUnder(value);
      const place = before === undefined ? sorted.length : placeAfter(sorted, before);
      const end = place > 0 && sorted[place - 1] === before ? place - 1 : place;
      const start = Math.max(0, end - limit);
      return { jobs: sorted.slice(start, end).reverse(), more: start > 0 };
    },
    count: (value) => members.get(value)?.size ?? 0,
    page(value, after, limit) {
      const sorted = sortedUnder(value);
      const start = after === undefined ? 0 : placeAfter(sorted, after);
      return { jobs: sorted.slice(start, start + limit), more: sorted.length > start + limit };
    },
  };
};
