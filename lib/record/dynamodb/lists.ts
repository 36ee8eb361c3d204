/** Lists over the indexes, and the poll's lease, in DynamoDB (P1.6, P2.4, P5.1). Lists are hints: an index may lag behind its heads. */
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { checkLimit } from '../head.ts';
import { activeValue, headKey, jobOfPk, KEY_BYTES, leaseKey, owedBefore, PRESENT, slotOfSk } from '../keys.ts';
import type { Page, RecordStore } from '../port.ts';
import type { TableCalls } from './call.ts';
import { count, type Item, text } from './item.ts';

export type ListCalls = Pick<RecordStore, 'listActive' | 'listUnended' | 'listOwed' | 'readLease' | 'renewLease'>;

const jobOf = (item: Item): string => jobOfPk(text(item, 'pk'));

export const dynamoLists = (calls: TableCalls, pageItems: number): ListCalls => {
  const page = async <T>(index: string, value: string, cursor: string | undefined, row: (item: Item) => T): Promise<Page<T>> => {
    const name = `${index}:${value}`;
    const last = cursor === undefined ? undefined : decodeCursor(name, cursor);
    // No head lies under '' (such a key is absent) or under more than a key may weigh, and asking for one is not a valid request.
    if (value === '' || Buffer.byteLength(value) > KEY_BYTES) return { items: [] };
    const { items, next } = await calls.query({
      index,
      when: `#${index} = :value`,
      values: { value },
      // One more than a page shows whether there is another, so a cursor never leads to an empty page.
      limit: pageItems + 1,
      ...(last !== undefined && { after: { ...headKey(last), [index]: value } }),
    });
    const shown = items.slice(0, pageItems);
    const end = shown.at(-1);
    const rows = shown.map(row);
    return end && (next || items.length > pageItems) ? { items: rows, cursor: encodeCursor(name, jobOf(end)) } : { items: rows };
  };
  return {
    listActive: (cluster, login, cursor) =>
      page('active', activeValue(cluster, login), cursor, (item) => ({
        job: jobOf(item),
        version: count(item, 'v'),
        watchline: text(item, 'w'),
      })),
    listUnended: (cursor) => page('unended', PRESENT, cursor, jobOf),
    async listOwed(before, limit) {
      checkLimit(limit);
      const { items } = await calls.query({
        index: 'owed',
        when: '#owed = :present AND #owedKey < :before',
        values: { present: PRESENT, before: owedBefore(before) },
        limit,
      });
      return items.map((item) => ({ job: jobOf(item), slot: slotOfSk(text(item, 'sk')) }));
    },
    async readLease(cluster, login) {
      const item = await calls.get(leaseKey(cluster, login));
      return item && { fence: count(item, 'fence'), renewedAt: count(item, 'renewedAt'), answeredAt: count(item, 'answeredAt') };
    },
    async renewLease(cluster, login, { fence, at, answeredAt }) {
      const renewed = await calls.update(leaseKey(cluster, login), {
        set: { fence: fence + 1, renewedAt: at, answeredAt },
        // C060: of two polls that looked under the same fence only one may commit what it saw.
        ...(fence === 0 ? { when: 'attribute_not_exists(#pk)' } : { when: '#fence = :read', values: { read: fence } }),
      });
      return renewed ? { kind: 'renewed', fence: fence + 1 } : { kind: 'lost' };
    },
  };
};
