/** What was sent of a job's domain events, in memory (P2.7). */
import { checkLimit, checkNotified } from '../head.ts';
import type { RecordStore } from '../port.ts';
import { type State, setHead, setUnsent } from './state.ts';

export type NoticeCalls = Pick<RecordStore, 'setNotified' | 'listUnnotified' | 'readClusterNotified' | 'setClusterNotified'>;

export const memoryNotices = (state: State): NoticeCalls => ({
  async setNotified(job, version) {
    checkNotified(job, version);
    const head = state.jobs.get(job)?.head;
    if (!head || head.version < version) return 'ahead';
    if (head.notified >= version) return 'behind';
    setHead(state, job, { ...head, notified: version });
    if (head.version === version) setUnsent(state, job, undefined);
    return 'noted';
  },
  async listUnnotified(before, limit) {
    checkLimit(limit);
    return [...state.unsent]
      .filter(([, { since }]) => since < before)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([, { job }]) => job);
  },
  async readClusterNotified(cluster) {
    return state.clustersNotified.get(cluster) ?? 0;
  },
  async setClusterNotified(cluster, version) {
    checkNotified(cluster, version);
    state.clustersNotified.set(cluster, Math.max(version, state.clustersNotified.get(cluster) ?? 0));
  },
});
