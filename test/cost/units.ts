/**
 * Units of DynamoDB, as the service counts them: what items weigh, and what a read or a write of them costs, the indexes included. Pure.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../../lib/record/keys.ts';

export type Item = Readonly<Record<string, AttributeValue>>;

const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Names and values; a number takes half a byte per digit, and one. */
const valueBytes = (value: AttributeValue): number => {
  if (value.S !== undefined) return bytes(value.S);
  if (value.N !== undefined) return Math.ceil(value.N.replace(/[-.]/g, '').length / 2) + 1;
  if (value.B !== undefined) return value.B.length;
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  throw new Error(`an attribute of this type is not weighed here: ${Object.keys(value).join()}`);
};
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + bytes(name) + valueBytes(value), 0);

const WRITE_BYTES = 1024;
const READ_BYTES = 4096;
export const readUnits = (weight: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(weight / READ_BYTES)) * (consistent ? 1 : 0.5);

const INDEXES = tableDefinition('any').GlobalSecondaryIndexes.map(({ KeySchema, Projection }) => ({
  keys: KeySchema.map((key) => key.AttributeName),
  carried: 'NonKeyAttributes' in Projection ? [...Projection.NonKeyAttributes] : [],
}));
const TABLE_KEYS = ['pk', 'sk'];

/** What an index holds of an item; undefined where it lacks one of its keys. */
const projected = (item: Item | undefined, { keys, carried }: (typeof INDEXES)[number]): Item | undefined => {
  if (!item || keys.some((key) => item[key] === undefined)) return undefined;
  return Object.fromEntries(
    [...new Set([...TABLE_KEYS, ...keys, ...carried])].flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])),
  );
};

const writeOf = (...items: (Item | undefined)[]): number =>
  Math.max(1, Math.ceil(Math.max(...items.map((item) => (item ? itemBytes(item) : 0))) / WRITE_BYTES));

/** The larger of before and after; and per index one for an item that appears, vanishes or changes, two where its key changes. */
export const writeUnits = (before: Item | undefined, after: Item | undefined): number => {
  const indexes = INDEXES.map((index) => {
    const [from, to] = [projected(before, index), projected(after, index)];
    if (!from && !to) return 0;
    if (!from || !to) return writeOf(from, to);
    if (JSON.stringify(from) === JSON.stringify(to)) return 0;
    const sameKey = index.keys.every((key) => JSON.stringify(from[key]) === JSON.stringify(to[key]));
    return sameKey ? writeOf(from, to) : writeOf(from) + writeOf(to);
  });
  return writeOf(before, after) + indexes.reduce((sum, one) => sum + one, 0);
};
