import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { compareOrders, orderOf, orderText } from '../../lib/record/order.ts';

const order = fc.record({
  generation: fc.nat({ max: 9_999_999_999 }),
  enteredAt: fc.nat({ max: 9_007_199_254_740_991 }),
  retry: fc.nat({ max: 9_999_999_999 }),
});

describe('the order of tokens', () => {
  it('P2.2: as text it sorts as its fields do, one after the other', () => {
    fc.assert(
      fc.property(order, order, (a, b) => {
        const [x, y] = [orderText(a), orderText(b)];
        expect(Math.sign(compareOrders(a, b))).toBe(x < y ? -1 : x > y ? 1 : 0);
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('P2.2: comes back from its text', () => {
    fc.assert(
      fc.property(order, (a) => {
        expect(orderOf(orderText(a))).toEqual(a);
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  it.each([
    { generation: 10 ** 10, enteredAt: 0, retry: 0 },
    { generation: 0, enteredAt: 2 ** 53, retry: 0 },
    { generation: 0, enteredAt: 0, retry: -1 },
    { generation: 0, enteredAt: Number.NaN, retry: 0 },
  ])('P2.2: what would sort wrongly is refused: %o', (wrong) => {
    expect(() => orderText(wrong)).toThrow(AssertionFailed);
  });
});
