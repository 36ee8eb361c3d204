/** The head and its supervisor in DynamoDB (P1.4, P2.3, P2.8): each change is one conditional update, explained by at most one read. */
import { assert } from '../../job/assertion.ts';
import { checkBatch, checkMove, noHead } from '../head.ts';
import { headKey, owedValue, PRESENT, unsentValue } from '../keys.ts';
import type { RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { headOf, summaryChange } from './head-item.ts';
import { count, type Item } from './item.ts';

export type HeadCalls = Pick<
  RecordStore,
  'readHead' | 'readHeads' | 'moveHead' | 'countTry' | 'seen' | 'resetFailures' | 'raiseGeneration'
>;

/** What taking a token sets, on a head or a question: the sweep finds it by `owed` until it is cleared (P2.4). */
export const takenFields = (job: string, slot: string, at: number): Item => ({
  wake: 'owed',
  owedSince: at,
  owed: PRESENT,
  owedKey: owedValue(at, job, slot),
});

export const dynamoHead = (calls: TableCalls): HeadCalls => {
  const readHead: RecordStore['readHead'] = async (job) => {
    const item = await calls.get(headKey(job));
    return item && headOf(item);
  };
  return {
    readHead,
    async readHeads(jobs) {
      checkBatch(jobs.length);
      return (await calls.getEach(jobs.map(headKey), { consistent: true })).map(headOf);
    },
    async moveHead(job, move) {
      checkMove(job, move);
      const { set, remove } = summaryChange(move.summary);
      // P2.3: the token must still be the one that was judged; Park may have stored another one since (W5).
      const token =
        move.token === undefined ? '(attribute_not_exists(#wake) OR #wake <> :parked)' : '(#wake = :parked AND #token = :token)';
      const moved = await calls.update(headKey(job), {
        set: {
          ...set,
          v: move.version,
          tries: 0,
          // In this very update: between two of them a writer could die with the head moved and the token still parked.
          ...(move.take && { ...takenFields(job, '', move.at), takenAt: move.at }),
          // P2.7: also in this update, so that a writer that dies before it sends leaves a head that the sweep finds.
          unsent: PRESENT,
        },
        // The first move whose notices are not sent says since when: later ones must not make it look younger.
        first: { unsentKey: unsentValue(move.at, job) },
        remove,
        // P1.4: the head only moves forward. An absent head has no version, so this creates none.
        when: `#v < :v AND ${token}`,
        values: { v: move.version, parked: 'parked', ...(move.token !== undefined && { token: move.token }) },
      });
      if (moved) return 'moved';
      const there = await readHead(job);
      assert(there, noHead(job));
      // If neither explains it now, the token was taken since: judging again is right then, too.
      return there.version >= move.version ? 'behind' : 'token_changed';
    },
    async countTry(job, version) {
      // Moves reset the count, so it belongs to the version that is there; a try of another version must not be counted.
      const counted = await calls.update(headKey(job), { plus: { tries: 1 }, when: '#v = :v', values: { v: version } });
      return counted ? count(counted, 'tries') : 'stale';
    },
    async seen(job, generation, machine, at) {
      const seen = await calls.update(headKey(job), {
        set: { gen: generation, machine, seenAt: at },
        // P2.8: the older of two supervisors leaves; the first Advance of a newer one raises the generation.
        when: '#gen <= :gen',
        values: { gen: generation },
      });
      if (seen) return 'seen';
      assert(await readHead(job), noHead(job));
      return 'superseded';
    },
    async resetFailures(job) {
      // An update without a condition would create a head out of nothing.
      await calls.update(headKey(job), { set: { failures: 0 }, when: 'attribute_exists(#pk)' });
    },
    async raiseGeneration(job, from, at) {
      const raised = await calls.update(headKey(job), {
        set: { gen: from + 1, seenAt: at },
        plus: { failures: 1 },
        // One reconcile raises from the generation that it judged silent; a second one, or a successor already seen, must not be raised over.
        when: '#gen = :from',
        values: { from },
      });
      return raised ? 'raised' : 'changed';
    },
  };
};
