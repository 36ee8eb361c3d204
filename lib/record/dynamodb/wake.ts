/** Wake tokens in DynamoDB (P2.2, P2.3, P2.5): parked, owed, cleared, on the head and on questions. */
import { checkWake, type NewWake } from '../head.ts';
import { headKey, slotKey } from '../keys.ts';
import { orderText } from '../order.ts';
import type { RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { takenFields } from './head.ts';
import { WAKE_ATTRIBUTES, wakeOf } from './head-item.ts';
import { count, type Item } from './item.ts';

export type WakeCalls = Pick<RecordStore, 'park' | 'readWake' | 'takeWake' | 'clearWake'>;

/**
 * P2.2: a token is stored only over an earlier one (W2: a late or retried Park must not overwrite the living token), and never over itself,
 * since a repeated Park would park again what a writer has taken.
 */
const LATER = '(attribute_not_exists(#order) OR #order < :order) AND (attribute_not_exists(#token) OR #token <> :token)';

export const dynamoWake = (calls: TableCalls): WakeCalls => {
  const store = (job: string, slot: string, wake: NewWake, when: string, values: Item = {}) =>
    calls.update(slotKey(job, slot), {
      set: { token: wake.token, order: orderText(wake.order), wake: 'parked', wv: wake.version, until: wake.until },
      // The token that this one replaces is dead; it must not be signalled in the new one's place (W4).
      remove: ['owedSince', 'owed', 'owedKey'],
      when,
      values: { order: orderText(wake.order), token: wake.token, ...values },
    });
  const refusal = (head: Item | undefined, wake: NewWake) => (head && count(head, 'gen') > wake.order.generation ? 'superseded' : 'stale');

  const parkOnHead = async (job: string, wake: NewWake) => {
    // The head's version is what the supervisor decided from: if it moved, its writer judged without this token (W1).
    const parked = await store(job, '', wake, `${LATER} AND #v = :v AND #gen <= :gen`, { v: wake.version, gen: wake.order.generation });
    if (parked) return 'parked';
    const there = await calls.get(headKey(job));
    return there?.['token'] === wake.token ? 'parked' : refusal(there, wake);
  };

  const parkOnQuestion = async (job: string, slot: string, wake: NewWake) => {
    // The generation lies on another item. Raised after this read, an old supervisor's token gets in: it wakes one that then leaves,
    // and the next token is later in order, so it takes its place.
    const head = await calls.get(headKey(job));
    const answer = refusal(head, wake);
    if (head && answer === 'stale' && (await store(job, slot, wake, LATER))) return 'parked';
    const there = await calls.get(slotKey(job, slot));
    return there?.['token'] === wake.token ? 'parked' : answer;
  };

  return {
    async park(job, slot, wake) {
      checkWake(job, slot, wake);
      return slot === '' ? parkOnHead(job, wake) : parkOnQuestion(job, slot, wake);
    },
    async readWake(job, slot) {
      const item = await calls.get(slotKey(job, slot));
      return item && wakeOf(item);
    },
    async takeWake(job, slot, token, at, version) {
      const taken = await calls.update(slotKey(job, slot), {
        set: { ...takenFields(job, slot, at), ...(slot === '' && { takenAt: at }) },
        // P2.3: one writer takes a token, once. E5: a question's token of this version or later was parked by one who knew this commit.
        when: slot === '' ? '#wake = :parked AND #token = :token' : '#wake = :parked AND #token = :token AND #wv < :v',
        values: { parked: 'parked', token, ...(slot !== '' && { v: version }) },
      });
      return taken ? 'taken' : 'gone';
    },
    async clearWake(job, slot, token) {
      await calls.update(slotKey(job, slot), {
        remove: WAKE_ATTRIBUTES,
        // W4: the sweep removes what it signalled, never a newer token; W3: never one that nobody took.
        when: '#wake = :owed AND #token = :token',
        values: { owed: 'owed', token },
      });
    },
  };
};
