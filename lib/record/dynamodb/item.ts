/**
 * Items on the wire: flat records of text and whole numbers, nothing else, so that what a condition compares is what is stored.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { assert } from '../../job/assertion.ts';

export type Value = string | number;
export type Item = Readonly<Record<string, Value>>;

const toWire = (value: Value): AttributeValue => {
  if (typeof value === 'string') return { S: value };
  // Fractions and NaN would come back changed, or not at all.
  assert(Number.isSafeInteger(value), 'the record holds whole numbers');
  return { N: String(value) };
};

const fromWire = (value: AttributeValue): Value => {
  if (value.S !== undefined) return value.S;
  assert(value.N !== undefined, 'the record holds an attribute of a kind that dispatch does not write');
  return Number(value.N);
};

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

export const toItem = (item: Item): Record<string, AttributeValue> => mapped(item, toWire);

/** Time to live and other attributes that a newer release may add are read and left alone. */
export const fromItem = (item: Readonly<Record<string, AttributeValue>>): Item => mapped(item, fromWire);

export const text = (item: Item, name: string): string => {
  const value = item[name];
  assert(typeof value === 'string', `an item of the record lacks the text '${name}'`);
  return value;
};

/** '' where it is absent: no text that is the key of an index may be empty. */
export const optional = (item: Item, name: string): string => (item[name] === undefined ? '' : text(item, name));

export const count = (item: Item, name: string): number => {
  const value = item[name];
  assert(typeof value === 'number', `an item of the record lacks the number '${name}'`);
  return value;
};
