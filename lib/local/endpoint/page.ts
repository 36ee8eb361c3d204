/**
 * One page of a list. The token of the next one is its offset: lists that grow in front may show an item twice, never leave one out.
 */

import { RequestRefused } from '../engine/fault.ts';

const PAGE_DEFAULT = 100;
const OFFSET = /^\d{1,9}$/;

/** `maxResults` 0 or omitted: 100. Throws InvalidToken for a token that no page gave. */
export function pageOf<T>(
  items: readonly T[],
  { maxResults, nextToken }: { readonly maxResults?: number | undefined; readonly nextToken?: string | undefined },
): { readonly items: readonly T[]; readonly next: { readonly nextToken?: string } } {
  if (nextToken !== undefined && !OFFSET.test(nextToken)) throw new RequestRefused('InvalidToken', "Invalid Token: 'no page gave it'");
  const from = Number(nextToken ?? 0);
  const to = from + (maxResults || PAGE_DEFAULT);
  return { items: items.slice(from, to), next: to < items.length ? { nextToken: String(to) } : {} };
}
