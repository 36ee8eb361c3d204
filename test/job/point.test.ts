import { describe, expect, test } from 'vitest';
import { NOTHING, type Point } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { fixedByBase, fixedByPlan, isBehind, isLate, lastFixed, latest, type Published, runsOf, UNFIXED } from '../../lib/job/point.ts';

const saved = (n: number, run: number, step: number): Published => ({
  epoch: epochOf(n, run),
  step,
  path: `exec/${n}-${run}/step-${step}`,
});
const point = (n: number, run: number, step: number): Point => ({ ...saved(n, run, step) });
const base = (n: number, run: number, at: Point) => fixedByBase({ n, run, base: at });

describe('P8.2 latest', () => {
  test.each([
    ['nothing was published', UNFIXED, [], NOTHING()],
    ['the greatest step of the epoch', fixedByPlan(1, NOTHING()), [saved(1, 0, 10), saved(1, 0, 30), saved(1, 0, 20)], point(1, 0, 30)],
    ['a step 0 counts', fixedByPlan(1, NOTHING()), [saved(1, 0, 0)], point(1, 0, 0)],
    ['nothing new: the point itself', fixedByPlan(2, point(1, 0, 20)), [saved(1, 0, 10), saved(1, 0, 20)], point(1, 0, 20)],
    ['a later epoch outranks a greater step', fixedByPlan(1, NOTHING()), [saved(1, 0, 90), saved(1, 1, 5)], point(1, 1, 5)],
    ['at the step of the point counts', fixedByPlan(2, point(1, 0, 20)), [saved(2, 0, 20)], point(2, 0, 20)],
    ['K1: a script that starts over stays behind', fixedByPlan(2, point(1, 0, 20)), [saved(2, 0, 1), saved(2, 0, 19)], point(1, 0, 20)],
    ['K1: until it passes the point', fixedByPlan(2, point(1, 0, 20)), [saved(2, 0, 19), saved(2, 0, 21)], point(2, 0, 21)],
    ['K1: ordering by step alone', fixedByPlan(2, point(1, 0, 20)), [saved(1, 0, 90), saved(2, 0, 25)], point(2, 0, 25)],
    ['P6.2: a survivor of the former attempt is late', fixedByPlan(2, point(1, 0, 20)), [saved(1, 0, 30)], point(1, 0, 20)],
    ['from scratch: earlier epochs are another branch', fixedByPlan(3, NOTHING()), [saved(1, 0, 50), saved(2, 0, 60)], NOTHING()],
    ['from scratch: the new branch counts from its start', fixedByPlan(3, NOTHING()), [saved(2, 0, 60), saved(3, 0, 1)], point(3, 0, 1)],
    [
      'several paths at one step: all pick the same',
      UNFIXED,
      [
        { ...saved(1, 0, 1), path: 'b' },
        { ...saved(1, 0, 1), path: 'a' },
      ],
      { epoch: epochOf(1, 0), step: 1, path: 'b' },
    ],
  ] as const)('%s', (_, fixed, publications, expected) => {
    expect(latest(fixed, publications)).toEqual(expected);
    expect(latest(fixed, [...publications].reverse())).toEqual(expected);
  });

  test('K2: a chain of stale runs never leads back below a step in use', () => {
    const publications: Published[] = [saved(1, 0, 10)];
    const second = fixedByPlan(2, latest(fixedByPlan(1, NOTHING()), publications));
    publications.push(saved(1, 0, 11), saved(2, 0, 15));
    const third = fixedByPlan(3, latest(second, publications));
    expect(third.point).toEqual(point(2, 0, 15));
    publications.push(saved(1, 0, 40), saved(2, 0, 16));
    expect(latest(third, publications)).toEqual(point(2, 0, 15));
  });

  test('K3: only what a listing saw counts, so a marker missing from it is not picked', () => {
    expect(latest(fixedByPlan(1, NOTHING()), [saved(1, 0, 10)])).toEqual(point(1, 0, 10));
  });

  test('K4: a requeued run resolves from the bases fixed so far; survivors of its own attempt are late', () => {
    const publications = [saved(1, 0, 10)];
    const plan = fixedByPlan(1, NOTHING());
    const first = base(1, 0, plan.point);
    const second = base(1, 1, latest(lastFixed([plan, first]), publications));
    expect(second.point).toEqual(point(1, 0, 10));
    publications.push(saved(1, 0, 80), saved(1, 1, 12));
    expect(latest(lastFixed([plan, first, second]), publications)).toEqual(point(1, 1, 12));
  });
});

describe('P6.2 points', () => {
  test('each plan and each base fixes a point for its epoch; the last epoch counts', () => {
    const points = [fixedByPlan(1, NOTHING()), base(1, 0, NOTHING()), base(1, 1, point(1, 0, 5)), fixedByPlan(2, point(1, 1, 9))];
    expect(lastFixed(points)).toEqual({ epoch: epochOf(2, 0), point: point(1, 1, 9) });
    expect(lastFixed(points.slice(0, 3))).toEqual({ epoch: epochOf(1, 1), point: point(1, 0, 5) });
    expect(lastFixed([])).toEqual(UNFIXED);
  });

  test.each([
    ['an earlier attempt', saved(1, 5, 99), true],
    ['an earlier run of the same attempt', saved(2, 0, 99), true],
    ['the run of the point', saved(2, 1, 1), false],
    ['a later run', saved(2, 2, 1), false],
  ])('late: %s', (_, publication, late) => expect(isLate(publication, base(2, 1, point(1, 5, 7)))).toBe(late));

  test.each([
    ['below the point', saved(2, 0, 6), true],
    ['at the point', saved(2, 0, 7), false],
    ['of an earlier epoch: late, not behind', saved(1, 0, 1), false],
  ])('behind: %s', (_, publication, behind) => expect(isBehind(publication, fixedByPlan(2, point(1, 0, 7)))).toBe(behind));
});

describe('P5.7 the digest of an attempt', () => {
  test.each([
    ['never began', 1, [], [], []],
    ['published nothing', 1, [[0, NOTHING()]], [], [{ run: 0, base: NOTHING(), publications: 0 }]],
    [
      'counts all, reports the greatest',
      1,
      [[0, NOTHING()]],
      [saved(1, 0, 3), saved(1, 0, 9), saved(2, 0, 50)],
      [{ run: 0, base: NOTHING(), latest: point(1, 0, 9), publications: 2 }],
    ],
    [
      'K1: behind its base is counted and not the latest',
      2,
      [[0, point(1, 0, 9)]],
      [saved(2, 0, 1), saved(2, 0, 8)],
      [{ run: 0, base: point(1, 0, 9), publications: 2 }],
    ],
    [
      'K4: added after the next run was given its base',
      1,
      [
        [0, NOTHING()],
        [1, point(1, 0, 9)],
      ],
      [saved(1, 0, 9), saved(1, 0, 30), saved(1, 1, 12)],
      [
        { run: 0, base: NOTHING(), latest: point(1, 0, 9), publications: 2 },
        { run: 1, base: point(1, 0, 9), latest: point(1, 1, 12), publications: 1 },
      ],
    ],
    [
      'K4: all of them added later',
      1,
      [
        [0, point(0, 0, 4)],
        [1, point(0, 0, 4)],
      ],
      [saved(1, 0, 30)],
      [
        { run: 0, base: point(0, 0, 4), publications: 1 },
        { run: 1, base: point(0, 0, 4), publications: 0 },
      ],
    ],
    [
      'a base that cannot be read',
      1,
      [[0, point(0, 0, 4)]],
      [saved(1, 1, 3), saved(1, 1, 6)],
      [
        { run: 0, base: point(0, 0, 4), publications: 0 },
        { run: 1, base: point(0, 0, 4), latest: point(1, 1, 6), publications: 2 },
      ],
    ],
  ] as [string, number, [number, Point][], Published[], unknown[]][])('%s', (_, n, bases, publications, expected) => {
    expect(runsOf(n, new Map(bases), publications)).toEqual(expected);
  });
});
