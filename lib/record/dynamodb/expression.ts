/**
 * Expressions: what a condition, a change or a look of ours is in DynamoDB's words. Pure: the calls (call.ts) send them.
 */
import { type Item, toItem, type Value } from './item.ts';

/** `when` is a condition expression over `#attribute` and `:value`; the names follow from it. */
export interface Condition {
  readonly when: string;
  readonly values?: Item;
}

export interface Change {
  /** Without one the update also makes the item. */
  readonly when?: string;
  readonly values?: Item;
  readonly set?: Item;
  /** Set only where there is nothing yet. */
  readonly first?: Item;
  /** Adds to a number that is there. */
  readonly plus?: Readonly<Record<string, number>>;
  /** Adds to a number, or to 0 where there is none. */
  readonly add?: Readonly<Record<string, number>>;
  readonly remove?: readonly string[];
}

export interface Look {
  readonly when: string;
  readonly values: Item;
  readonly index?: string;
  readonly limit?: number;
  readonly after?: Item;
  /** The greatest key first. */
  readonly backwards?: boolean;
}

/** Every attribute goes by a placeholder: the list of reserved words grows, ours need not. */
const named = (...expressions: string[]): { ExpressionAttributeNames?: Record<string, string> } => {
  const names = expressions.flatMap((expression) => [...expression.matchAll(/#(\w+)/g)].map(([place, name]) => [place, name]));
  return names.length ? { ExpressionAttributeNames: Object.fromEntries(names) } : {};
};

const valued = (values: Record<string, Value>) =>
  Object.keys(values).length
    ? { ExpressionAttributeValues: Object.fromEntries(Object.entries(toItem(values)).map(([name, value]) => [`:${name}`, value])) }
    : {};

export const conditional = ({ when, values = {} }: Condition) => ({ ConditionExpression: when, ...named(when), ...valued(values) });

export const updating = ({ set = {}, first = {}, plus = {}, add = {}, remove = [], when, values = {} }: Change) => {
  const sets = [
    ...Object.keys(set).map((name) => `#${name} = :to_${name}`),
    ...Object.keys(first).map((name) => `#${name} = if_not_exists(#${name}, :to_${name})`),
    ...Object.keys(plus).map((name) => `#${name} = #${name} + :plus_${name}`),
  ];
  const adds = Object.keys(add).map((name) => `#${name} :plus_${name}`);
  const removes = remove.map((name) => `#${name}`);
  const clauses = { SET: sets, REMOVE: removes, ADD: adds };
  const expression = Object.entries(clauses)
    .filter(([, parts]) => parts.length > 0)
    .map(([clause, parts]) => `${clause} ${parts.join(', ')}`)
    .join(' ');
  const all: Record<string, Value> = { ...values };
  for (const [name, value] of Object.entries({ ...set, ...first })) all[`to_${name}`] = value;
  for (const [name, value] of Object.entries({ ...plus, ...add })) all[`plus_${name}`] = value;
  return {
    UpdateExpression: expression,
    ...(when !== undefined && { ConditionExpression: when }),
    ...named(expression, when ?? ''),
    ...valued(all),
  };
};

export const looking = ({ when, values, index, limit, after, backwards }: Look) => ({
  KeyConditionExpression: when,
  ...named(when),
  ...valued(values),
  // Indexes cannot be read consistently; that is why lists are hints.
  ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
  ...(limit !== undefined && { Limit: limit }),
  ...(after && { ExclusiveStartKey: toItem(after) }),
  ...(backwards && { ScanIndexForward: false }),
});
