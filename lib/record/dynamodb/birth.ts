/** The birth of a job in DynamoDB (P1.5): key, head at version 0, and the removal of a birth that was given up. */
import { RecordFailure } from '../../job/failure.ts';
import { checkNewHead, KEY_LIFE_MS, sameBirth } from '../head.ts';
import { headKey, type ItemKey, idempotencyKey, TTL_ATTRIBUTE } from '../keys.ts';
import type { Head, Key, RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { headOf, newHeadItem } from './head-item.ts';
import { count, type Item, text } from './item.ts';

export type BirthCalls = Pick<RecordStore, 'claimKey' | 'readKey' | 'moveKey' | 'createHead' | 'removeHead'>;

/** Something removed between a failed condition and the read that explains it is tried again, this often. */
const TRIES = 3;
/** Long after the key counts as absent: a removal by TTL must never be what decides (P1.5). */
const REMOVED_AFTER_MS = 7 * KEY_LIFE_MS;

const keyFields = (key: Key): Item => ({
  principal: key.principal,
  key: key.key,
  job: key.job,
  hash: key.payloadHash,
  at: key.at,
  [TTL_ATTRIBUTE]: Math.ceil((key.at + REMOVED_AFTER_MS) / 1000),
});

const keyItem = (key: Key): ItemKey & Item => ({ ...idempotencyKey(key.principal, key.key), ...keyFields(key) });

const keyOf = (item: Item): Key => ({
  principal: text(item, 'principal'),
  key: text(item, 'key'),
  job: text(item, 'job'),
  payloadHash: text(item, 'hash'),
  at: count(item, 'at'),
});

const gone = (what: string): RecordFailure =>
  new RecordFailure('record/unavailable', `the ${what} came and went while it was being claimed`);

export const dynamoBirth = (calls: TableCalls): BirthCalls => {
  /** 'created', 'exists', 'clash', or undefined when the head vanished in between. */
  const tryCreate = async (head: Head) => {
    // One head per id, for ever: an id that is taken is a repeat of this birth or a clash.
    if (await calls.put(newHeadItem(head), { when: 'attribute_not_exists(#pk)' })) return 'created';
    const renewed = await calls.update(headKey(head.job), {
      set: { triedAt: head.triedAt },
      // Renewing says "this birth is alive" to a reconcile that would remove it, so only the same birth may, and only before its first event.
      when: '#v = :zero AND #principal = :principal AND #key = :key AND #hash = :hash',
      values: { zero: 0, principal: head.principal, key: head.key, hash: head.payloadHash },
    });
    if (renewed) return 'exists';
    const there = await calls.get(headKey(head.job));
    if (!there) return undefined;
    return sameBirth(headOf(there), head) ? 'exists' : 'clash';
  };
  return {
    async claimKey(key) {
      for (let i = 0; i < TRIES; i++) {
        const claimed = await calls.put(keyItem(key), {
          // 24 h by our own clock, whatever TTL has removed by now.
          when: 'attribute_not_exists(#pk) OR #at <= :dead',
          values: { dead: key.at - KEY_LIFE_MS },
        });
        if (claimed) return key;
        const there = await calls.get(idempotencyKey(key.principal, key.key));
        if (there) return keyOf(there);
      }
      throw gone('key');
    },
    async readKey(principal, key, at) {
      const there = await calls.get(idempotencyKey(principal, key));
      const known = there && keyOf(there);
      return known && known.at > at - KEY_LIFE_MS ? known : undefined;
    },
    async moveKey(key, from) {
      const moved = await calls.update(idempotencyKey(key.principal, key.key), {
        set: keyFields(key),
        // Two submits that met the same clash must not send the key to two jobs.
        when: '#job = :from',
        values: { from },
      });
      return moved ? 'moved' : 'changed';
    },
    async createHead(head) {
      checkNewHead(head);
      for (let i = 0; i < TRIES; i++) {
        const answer = await tryCreate(head);
        if (answer) return answer;
      }
      throw gone('head');
    },
    async removeHead(job, triedAt) {
      const removed = await calls.remove(headKey(job), {
        // A birth that was tried again since the caller looked is alive, and one past version 0 is a job.
        when: '#v = :zero AND #triedAt = :triedAt',
        values: { zero: 0, triedAt },
      });
      return removed ? 'removed' : 'changed';
    },
  };
};
