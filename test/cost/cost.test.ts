/** What docs/cost.md says is what `npm run cost` prints; and what may not grow unnoticed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Measured, measure } from './measured.ts';
import { report } from './report.ts';
import { readUnits, writeUnits } from './units.ts';

const PAGE = join(import.meta.dirname, '../../docs/cost.md');
const SECONDS = 1000;

test(
  'the page shows what the command prints: after a change run `npm run cost` and put it there',
  async () => {
    expect(readFileSync(PAGE, 'utf8')).toContain(await report());
  },
  240 * SECONDS,
);

describe('promise 7: while nothing happens, next to nothing is done', () => {
  let idle: Measured;
  beforeAll(async () => {
    idle = await measure({ hours: 1, jobs: 0 });
  }, 60 * SECONDS);

  test('given no job, then a poll writes nothing, but for the lease of every fifth, which looks for orphans', () => {
    expect([idle.looks, idle.writes]).toEqual([12, 12]);
  });
  test('given no job, then no supervisor moves, and a poll and its share of a reconcile read at most five units', () => {
    expect([idle.transitions, idle.events]).toEqual([0, 0]);
    expect(idle.reads / idle.polls).toBeLessThanOrEqual(5);
  });
});

describe('units, as DynamoDB counts them', () => {
  const item = (over: Record<string, { S: string }>) => ({ pk: { S: 'JOB#a' }, sk: { S: 'HEAD' }, ...over });
  const big = { text: { S: 'x'.repeat(1500) } };

  test.each([
    ['an item that appears in no index', undefined, item({}), 1],
    ['one of 1.5 KB', undefined, item(big), 2],
    ['one that shrinks: the larger counts', item(big), item({}), 2],
    ['one that enters an index', undefined, item({ state: { S: 'queued' } }), 2],
    ['one whose index key changes: a removal and a put', item({ state: { S: 'queued' } }), item({ state: { S: 'running' } }), 3],
    ['one that leaves an index', item({ state: { S: 'queued' } }), item({}), 2],
    ['one that changes what no index carries', item({ state: { S: 'queued' } }), item({ state: { S: 'queued' }, other: { S: 'x' } }), 1],
    ['one that changes what an index carries', item({ active: { S: 'a' }, w: { S: '1' } }), item({ active: { S: 'a' }, w: { S: '2' } }), 2],
  ])('a write of %s', (_, before, after, units) => {
    expect(writeUnits(before, after)).toBe(units);
  });

  test('a read is counted in steps of 4 KB, half as much where it may be late, and never nothing', () => {
    expect([readUnits(0, true), readUnits(4096, true), readUnits(4097, true), readUnits(4097, false)]).toEqual([1, 1, 2, 1]);
  });
});
