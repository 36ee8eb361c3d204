/**
 * The order of one job's tokens (P2.2): generation, then the time its state was entered, then the retry count.
 * As text it sorts the same way, so one comparison inside a condition expression decides which token is the later one.
 */
import { assert } from '../job/assertion.ts';
import { padded } from './keys.ts';
import type { TokenOrder } from './port.ts';

const DIGITS = [10, 16, 10] as const;

/** Fixed width: text order is the order of the tokens. */
export const orderText = (order: TokenOrder): string => {
  const parts = [order.generation, order.enteredAt, order.retry];
  for (const [i, part] of parts.entries()) {
    // A number that overflows its digits would sort wrongly, and let a dead token overwrite a living one (W2).
    assert(Number.isSafeInteger(part) && part >= 0 && String(part).length <= DIGITS[i]!, 'a token is ordered by whole numbers');
  }
  return parts.map((part, i) => padded(part, DIGITS[i]!)).join('.');
};

export const orderOf = (text: string): TokenOrder => {
  const [generation, enteredAt, retry] = text.split('.').map(Number);
  return { generation: generation!, enteredAt: enteredAt!, retry: retry! };
};

/** Negative, zero, positive: a is earlier, the same, later. */
export const compareOrders = (a: TokenOrder, b: TokenOrder): number =>
  a.generation - b.generation || a.enteredAt - b.enteredAt || a.retry - b.retry;
