/** What was sent of a job's domain events, in DynamoDB (P2.7): a version on the head, and a sparse index of the heads beyond it. */
import { RecordFailure } from '../../job/failure.ts';
import { checkLimit, checkNotified } from '../head.ts';
import { clusterNotifiedKey, headKey, jobOfPk, PRESENT, unsentBefore } from '../keys.ts';
import type { RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { count, text } from './item.ts';

export type NoticeCalls = Pick<RecordStore, 'setNotified' | 'listUnnotified' | 'readClusterNotified' | 'setClusterNotified'>;

/** A head that moved between two conditions explains one more round; heads only move forward. */
const ROUNDS = 3;

export const dynamoNotices = (calls: TableCalls): NoticeCalls => ({
  async setNotified(job, version) {
    checkNotified(job, version);
    const key = headKey(job);
    const values = { v: version };
    const set = { notified: version };
    for (let i = 0; i < ROUNDS; i++) {
      // The mark goes in the very update that makes it untrue, on the condition that the head did not move on since.
      const all = await calls.update(key, { set, remove: ['unsent', 'unsentKey'], when: '#v = :v AND #notified < :v', values });
      if (all || (await calls.update(key, { set, when: '#v > :v AND #notified < :v', values }))) return 'noted';
      const there = await calls.get(key);
      if (!there || count(there, 'v') < version) return 'ahead';
      if (count(there, 'notified') >= version) return 'behind';
    }
    throw new RecordFailure('record/unavailable', 'the head moved at every try to note what was sent');
  },
  async listUnnotified(before, limit) {
    checkLimit(limit);
    const when = '#unsent = :present AND #unsentKey < :before';
    const { items } = await calls.query({ index: 'unsent', when, values: { present: PRESENT, before: unsentBefore(before) }, limit });
    return items.map((item) => jobOfPk(text(item, 'pk')));
  },
  async readClusterNotified(cluster) {
    const item = await calls.get(clusterNotifiedKey(cluster));
    return item ? count(item, 'v') : 0;
  },
  async setClusterNotified(cluster, version) {
    checkNotified(cluster, version);
    // Who is slower than another sender has sent nothing that the other has not.
    await calls.put(
      { ...clusterNotifiedKey(cluster), v: version },
      { when: 'attribute_not_exists(#pk) OR #v < :v', values: { v: version } },
    );
  },
});
