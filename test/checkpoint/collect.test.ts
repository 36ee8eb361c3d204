import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Collecting, collect } from '../../lib/checkpoint/collect.ts';
import { NOTHING } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { type Fixed, fixedByBase, fixedByPlan, type Published } from '../../lib/job/point.ts';
import { type Act, play } from './collect-world.ts';

const saved = (n: number, run: number, step: number, name = `s${step}`): Published => ({
  epoch: epochOf(n, run),
  step,
  path: `exec/${n}-${run}/${name}`,
});
const steps = (doomed: readonly { publication: Published }[]): string[] =>
  doomed.map(({ publication }) => `${publication.path.split('/')[1]}:${publication.step}`);
const start = fixedByPlan(1, NOTHING());
const only =
  (...live: readonly number[]) =>
  (epoch: number): boolean =>
    live.includes(epoch);
const run0 = [10, 20, 30, 40].map((step) => saved(1, 0, step));

describe('P8.4 what may be removed', () => {
  test.each<[string, Partial<Collecting>, string[]]>([
    ['all but the last two that resolve could pick', {}, ['1-0:10', '1-0:20']],
    ['all but the last three', { keep: 3 }, ['1-0:10']],
    ['nothing where there are no more than that', { keep: 4 }, []],
    ['nothing in the folder of a live run', { isLive: only(epochOf(1, 0)) }, []],
    [
      'the base of a run that has not ended stays, and what it outranked goes',
      {
        points: [start, fixedByPlan(2, run0[1]!)],
        listed: [...run0.slice(0, 2), saved(2, 0, 30), saved(2, 0, 40), saved(2, 0, 50)],
        isLive: only(epochOf(2, 0)),
      },
      ['1-0:10'],
    ],
    [
      'a planned resume point stays, whatever has been announced since',
      {
        points: [start, fixedByBase({ n: 1, run: 1, base: run0[0]! }), fixedByPlan(2, saved(1, 1, 30))],
        listed: [run0[0]!, saved(1, 1, 20), saved(1, 1, 30), saved(2, 0, 40), saved(2, 0, 50), saved(2, 0, 60)],
        isLive: only(),
      },
      ['1-0:10', '1-1:20', '2-0:40'],
    ],
    [
      'K1 late ones do not count, and go',
      { points: [start, fixedByPlan(2, run0[1]!)], listed: [...run0, saved(2, 0, 25)] },
      ['1-0:10', '1-0:30', '1-0:40'],
    ],
    [
      'K1 those behind do not count, and go once their run has ended',
      { points: [start, fixedByPlan(2, run0[3]!)], listed: [...run0, saved(2, 0, 1), saved(2, 0, 2)] },
      ['1-0:10', '1-0:20', '2-0:1', '2-0:2'],
    ],
    [
      'right after a relaunch the last ones before the point make up the number',
      { points: [start, fixedByPlan(2, run0[3]!)], keep: 3 },
      ['1-0:10'],
    ],
    [
      'from scratch: the branch before is kept until the new one has enough',
      { points: [start, fixedByPlan(2, NOTHING(epochOf(2, 0)))], listed: [...run0, saved(2, 0, 5)] },
      ['1-0:10', '1-0:20', '1-0:30'],
    ],
    ['nothing of nothing', { listed: [] }, []],
  ])('%s', (_, over, doomed) => {
    const given = { listed: run0, points: [start], isLive: only(), keep: 2, ...over };
    expect(steps(collect(given))).toEqual(doomed);
    expect(steps(collect({ ...given, listed: [...given.listed].reverse() }))).toEqual(doomed);
  });

  test.each([1, 0, -1, 1.5, Number.NaN])(
    'fewer than two are never kept: %s',
    (keep) => void expect(() => collect({ listed: run0, points: [start], isLive: only(), keep })).toThrow(RangeError),
  );

  describe('files stay', () => {
    const filesOf = (listed: Published[], points: Fixed[] = [start]) =>
      collect({ listed, points, isLive: only(), keep: 2 }).map(({ publication, files }) => [publication.step, files]);

    test('where a kept save lies at the same place', () =>
      void expect(filesOf([1, 2, 3].map((step) => saved(1, 0, step, 'last')))).toEqual([[1, false]]));
    test('where a kept save lies within', () =>
      void expect(filesOf([saved(1, 0, 1, 'a'), saved(1, 0, 2, 'a/b'), saved(1, 0, 3)])).toEqual([[1, false]]));
    test('where a kept save lies around', () =>
      void expect(filesOf([saved(1, 0, 1, 'a/b'), saved(1, 0, 2, 'a'), saved(1, 0, 3)])).toEqual([[1, false]]));
    test('where the last point lies, also if its marker is gone', () =>
      void expect(filesOf([saved(1, 0, 1, 'a/b'), saved(2, 0, 2), saved(2, 0, 3)], [start, fixedByPlan(2, saved(1, 0, 2, 'a'))])).toEqual([
        [1, false],
      ]));
    test('outside of the folders of runs', () =>
      void expect(filesOf([{ ...saved(1, 0, 1), path: 'imported/s1' }, saved(1, 0, 2), saved(1, 0, 3)])).toEqual([[1, false]]));
    test('nowhere else', () => void expect(filesOf([saved(1, 0, 1, 'a'), saved(1, 0, 2, 'ab'), saved(1, 0, 3)])).toEqual([[1, true]]));
  });

  test('C055 two hundred preemptions: storage stays bounded, and the last good save is always there', () => {
    const points: Fixed[] = [start];
    let listed: Published[] = [];
    for (let n = 1; n <= 200; n++) {
      listed.push(saved(n, 0, n * 10), saved(n, 0, n * 10 + 5));
      points.push(fixedByPlan(n + 1, saved(n, 0, n * 10 + 5)));
      const doomed = new Set(collect({ listed, points, isLive: only(epochOf(n + 1, 0)), keep: 2 }).map(({ publication }) => publication));
      listed = listed.filter((one) => !doomed.has(one));
      expect(listed).toContainEqual(saved(n, 0, n * 10 + 5));
      expect(listed.length).toBeLessThanOrEqual(3);
    }
  });
});

describe('P8.4 the collector of the model, with stale runs, scripts that start over, requeues and new branches', () => {
  const act: fc.Arbitrary<Act> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('save' as const), run: fc.nat(3), place: fc.nat(3) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('next' as const),
        how: fc.constantFrom('relaunch' as const, 'requeue' as const, 'scratch' as const),
        before: fc.constantFrom('gone' as const, 'unknown' as const, 'unseen' as const),
        startsOver: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('collect' as const), keep: fc.integer({ min: 2, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('load' as const), run: fc.nat(3) }) },
  );

  test('C1 complete and there, C2 never below a base, C4 nothing announced in time is lost', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        expect(play(acts)).toEqual([]);
      }),
      { seed: 84, numRuns: 2000 },
    );
  });

  test('the property has teeth: a collector that counts everything is found out (K1)', () => {
    const found = fc.check(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => play(acts, 'counts all').length === 0),
      { seed: 84, numRuns: 2000 },
    );
    expect(found.failed).toBe(true);
  });

  test('the property has teeth: a collector that forgets live runs is found out', () => {
    const found = fc.check(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => play(acts, 'forgets the live').length === 0),
      { seed: 84, numRuns: 2000 },
    );
    expect(found.failed).toBe(true);
  });
});
