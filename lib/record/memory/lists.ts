/** Lists over heads, and the poll's lease, in memory (P1.6, P2.4, P5.1). Unlike the table's indexes these never lag. */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { checkLimit } from '../head.ts';
import { activeValue, leaseKey } from '../keys.ts';
import type { Page, RecordStore } from '../port.ts';
import type { Rows } from './rows.ts';
import type { BareHead, State } from './state.ts';

export type ListCalls = Pick<RecordStore, 'listActive' | 'listUnended' | 'listOwed' | 'readLease' | 'renewLease'>;

export const memoryLists = (state: State, pageItems: number): ListCalls => {
  const page = <T>(rows: Rows, list: string, value: string, cursor: string | undefined, row: (head: BareHead) => T): Page<T> => {
    const name = `${list}:${value}`;
    const { jobs, more } = rows.page(value, cursor === undefined ? undefined : decodeCursor(name, cursor), pageItems);
    const items = jobs.map((job) => row(state.jobs.get(job)!.head!));
    return more ? { items, cursor: encodeCursor(name, jobs.at(-1)!) } : { items };
  };
  const leaseId = (cluster: string, login: string): string => JSON.stringify(leaseKey(cluster, login));
  return {
    async listActive(cluster, login, cursor) {
      return page(state.active, 'active', activeValue(cluster, login), cursor, ({ job, version, summary }) => ({
        job,
        version,
        watchline: summary.watchline,
      }));
    },
    async listUnended(cursor) {
      return page(state.unended, 'unended', 'yes', cursor, ({ job }) => job);
    },
    async listOwed(before, limit) {
      checkLimit(limit);
      return [...state.owed]
        .filter(([, owed]) => owed.since < before)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([, { job, slot }]) => ({ job, slot }));
    },
    async readLease(cluster, login) {
      return state.leases.get(leaseId(cluster, login));
    },
    async renewLease(cluster, login, { fence, at, answeredAt }) {
      const id = leaseId(cluster, login);
      // C060: the fence read before the look is gone, so another poll was faster.
      if ((state.leases.get(id)?.fence ?? 0) !== fence) return { kind: 'lost' };
      state.leases.set(id, Object.freeze({ fence: fence + 1, renewedAt: at, answeredAt }));
      return { kind: 'renewed', fence: fence + 1 };
    },
  };
};
