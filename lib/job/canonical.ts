/**
 * Canonical JSON: one text per value, whatever order its keys were written in.
 * Guards digests: a plan that says the same has the same digest on every machine and in every release that reads it.
 */
import { AssertionFailed } from './assertion.ts';

/** Deeper values are our own mistake: what users write is bounded before it gets here (parse-bounds.ts). */
const DEEPEST = 64;

/** Keys sorted by code unit, no white space, absent and undefined alike. A value that JSON cannot hold is an AssertionFailed. */
export const canonical = (value: unknown): string => write(value, 0);

const write = (value: unknown, depth: number): string => {
  if (depth > DEEPEST) throw new AssertionFailed('canonical JSON: too deep');
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${write(member, depth + 1)}`).join(',')}}`;
  }
  throw new AssertionFailed(`canonical JSON cannot hold ${typeof value === 'number' ? String(value) : typeof value}`);
};
