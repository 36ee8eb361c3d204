import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { canonical } from '../../lib/job/canonical.ts';

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  );
};

test('the order in which keys were written does not count', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => canonical(value) === canonical(shuffled(value))),
    { seed: 3 },
  );
});

test('it is JSON, and says the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { seed: 3 },
  );
});

test.each<[unknown, string]>([
  [{ b: 1, a: [2, { d: null, c: undefined }] }, '{"a":[2,{"d":null}],"b":1}'],
  [{ 10: 'x', 9: 'y' }, '{"10":"x","9":"y"}'],
  [-0, '0'],
])('%j', (value, text) => expect(canonical(value)).toBe(text));

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, undefined, [undefined]])('%s is our mistake', (value) =>
  expect(() => canonical(value)).toThrow(AssertionFailed),
);
