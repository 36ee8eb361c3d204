/** What docs/cost.md says is what `npm run cost` prints: `npx vitest run test/cost -u` renews it; and what may not grow unnoticed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { cheaperFrom, dayOf, slower } from './compared.ts';
import { sumOf, usage } from './estimate.ts';
import type { Measured } from './measured.ts';
import { type Counts, counts, report } from './report.ts';
import { readUnits, writeUnits } from './units.ts';

const PAGE = join(import.meta.dirname, '../../docs/cost.md');
const BLOCK = /<!-- from the code: cost -->\n[\s\S]*?<!-- \/from the code -->/g;
const SECONDS = 1000;

let counted: Counts;
beforeAll(async () => {
  counted = await counts();
}, 240 * SECONDS);

test(
  'the page shows what the command prints',
  async () => {
    const page = readFileSync(PAGE, 'utf8');
    expect([...page.matchAll(BLOCK)]).toHaveLength(1);
    const said = await report(counted);
    await expect(page.replaceAll(BLOCK, () => `<!-- from the code: cost -->\n\n${said}\n<!-- /from the code -->`)).toMatchFileSnapshot(
      PAGE,
    );
  },
  60 * SECONDS,
);

describe('promise 7: while nothing happens, next to nothing is done', () => {
  test('given no job, then of 60 polls in an hour every fifth looks for orphans and writes its lease: 12, and nothing else is written', () => {
    const { polls, looks, connections, writes } = counted.idle;
    expect({ polls, looks, connections, writes }).toEqual({ polls: 60, looks: 12, connections: 12, writes: 12 });
  });
  test('given no job, then no supervisor moves, and a poll and its share of a reconcile read at most five units', () => {
    expect([counted.idle.transitions, counted.idle.events]).toEqual([0, 0]);
    expect(counted.idle.reads / counted.idle.polls).toBeLessThanOrEqual(5);
  });
  test('given jobs, then the polls that did not look look too, and each writes its lease: 48 more in an hour, 1,152 in a day', () => {
    const { hours, polls, looks, connections, writes, transitions } = counted.cluster;
    expect({ hours, polls, looks, connections, writes, transitions }).toEqual({
      ...{ hours: 24, polls: 0, looks: 1152, connections: 1152, writes: 1152, transitions: 0 },
    });
  });
});

describe('what a job adds, and nothing of what it shares with others', () => {
  const machine = ({ transitions, advances, parks, polls, looks, reconciles, connections, events }: Measured) => ({
    ...{ transitions, advances, parks, polls, looks, reconciles, connections, events },
  });
  const SHARED = { polls: 0, looks: 0, reconciles: 0 };

  test('half an hour: two turns, of which the first waits; to submit, to release and to tidy up it connects', () => {
    // Advance, Route, AwaitWake; then it ended: Advance, Route, Done. Told: four times its state, and once that its attempt ended.
    expect(machine(counted.job)).toEqual({ transitions: 3 + 3, advances: 2, parks: 1, ...SHARED, connections: 3, events: 5 });
  });
  test('a day: two turns more, since it decides anew after 12 and after 24 h; the rest as in half an hour', () => {
    expect(machine(counted.jobDay)).toEqual({ transitions: 3 + 2 * 3 + 3, advances: 4, parks: 3, ...SHARED, connections: 3, events: 5 });
  });
  test('a day reads more, by reconciles, and writes hardly more', () => {
    // Two reads for each of 12 reconciles in each of 23 1/2 h more: 564. Two safety wakes write a token and take it, twice each, at most.
    expect(counted.jobDay.reads - counted.job.reads).toBeGreaterThanOrEqual(564);
    expect(counted.jobDay.reads - counted.job.reads).toBeLessThanOrEqual(564 + 20);
    expect(counted.jobDay.writes - counted.job.writes).toBeLessThanOrEqual(8);
  });
  test('a recovery: two turns, and two connections to submit and to release; the end of an attempt and four states are told', () => {
    expect(machine(counted.recovery)).toEqual({ transitions: 2 * 3, advances: 2, parks: 2, ...SHARED, connections: 2, events: 5 });
  });
});

describe('compared with a loop per job', () => {
  const day = () => ({ idle: counted.idle, cluster: counted.cluster, job: counted.jobDay, standing: 0 });

  test('a thousand jobs: every minute one connection for all, and three for each from its beginning to its end', () => {
    const all = dayOf(day(), 1000);
    // 24 h × 60 polls, all of which look; 1,000 × 3.
    expect({ polls: all.polls, looks: all.looks, connections: all.connections }).toEqual({ polls: 1440, looks: 1440, connections: 4440 });
    expect(all.transitions).toBe(12_000);
  });
  test('a thousand jobs cost less than a hundredth of what their loops cost', () => {
    expect(sumOf(usage(dayOf(day(), 1000)))).toBeLessThan(128.24 / 100);
  });
  test('slow polls and reconciles would not change that', () => {
    // 1,440 × (20 − 2) s + 288 × (20 − 0.3) s = 31,593.6 s × 0.5 GB × $0.0000133334
    expect(slower(day())).toBeCloseTo(0.2106251, 6);
  });
  test('what a deployment costs for being there is paid back by a handful of jobs', () => {
    // $7.70 a month are $0.257 a day; the polls of a day less than $0.04; a loop costs $0.128 a day: at most (0.257 + 0.04) / 0.127 = 2.3.
    expect(cheaperFrom({ ...day(), standing: 7.7 })).toBe(3);
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
