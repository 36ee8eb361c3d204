import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolve, type Standing, standingOf } from '../../lib/checkpoint/resolve.ts';
import { NOTHING, type Point } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { byResolveOrder, type Fixed, fixedByBase, fixedByPlan, lastFixed, latest, type Published } from '../../lib/job/point.ts';

const saved = (n: number, run: number, step: number): Published => ({ epoch: epochOf(n, run), step, path: `exec/${n}-${run}/s${step}` });
const plan = (n: number, resume: Point): Fixed => fixedByPlan(n, resume);
const scratch = (n: number): Fixed => plan(n, NOTHING(epochOf(n, 0)));

describe('P8.2 standing', () => {
  const first = [plan(1, NOTHING())];
  const second = [...first, plan(2, saved(1, 0, 20))];
  test.each<[string, readonly Fixed[], Published, Standing]>([
    ['of the epoch of the last point', first, saved(1, 0, 1), 'eligible'],
    ['before anything was planned', [], saved(1, 0, 1), 'eligible'],
    ['the point itself, once a later epoch has it', second, saved(1, 0, 20), 'past'],
    ['in time, before the point', second, saved(1, 0, 10), 'past'],
    ['P6.2 added after the point was fixed', second, saved(1, 0, 21), 'late'],
    ['at the step of the point', second, saved(2, 0, 20), 'eligible'],
    ['K1 a script that starts over', second, saved(2, 0, 19), 'behind'],
    ['behind stays behind when a later point is fixed', [...second, plan(3, saved(1, 0, 20))], saved(2, 0, 5), 'behind'],
    ['late stays late', [...second, plan(3, saved(2, 0, 30))], saved(1, 0, 25), 'late'],
    ['K4 a survivor of its own attempt', [...first, fixedByBase({ n: 1, run: 1, base: saved(1, 0, 10) })], saved(1, 0, 11), 'late'],
    [
      'nothing had been announced when the next run began',
      [...first, fixedByBase({ n: 1, run: 1, base: NOTHING() })],
      saved(1, 0, 1),
      'late',
    ],
    ['from scratch: the branch before is past', [...second, scratch(3)], saved(2, 0, 30), 'past'],
    ['from scratch: the new branch counts', [...second, scratch(3)], saved(3, 0, 1), 'eligible'],
    ['a base repeats its plan', [...second, fixedByBase({ n: 2, run: 0, base: saved(1, 0, 20) })], saved(2, 0, 25), 'eligible'],
  ])('%s', (_, points, publication, standing) => expect(standingOf(points)(publication)).toBe(standing));
});

describe('P8.1 two sources', () => {
  const points = [plan(1, NOTHING()), plan(2, saved(1, 0, 20))];

  test('C053 only what was announced is resumed from, whatever else lies in the folders', () => {
    expect(resolve([plan(1, NOTHING())], [saved(1, 0, 200)]).resume).toEqual(saved(1, 0, 200));
  });

  test('K3 a report without its marker is shown, never resumed from', () => {
    const { resume, publications } = resolve(points, [saved(1, 0, 20), saved(2, 0, 25)], [saved(2, 0, 25), saved(2, 0, 30)]);
    expect(resume).toEqual(saved(2, 0, 25));
    expect(publications.map(({ step, standing, latest }) => [step, standing, latest])).toEqual([
      [20, 'past', false],
      [25, 'eligible', true],
      [30, 'reported', false],
    ]);
  });

  test('a late report is late, with or without its marker', () => {
    expect(resolve(points, [], [saved(1, 0, 40)]).publications).toMatchObject([{ step: 40, standing: 'late' }]);
    expect(resolve(points, [saved(1, 0, 40)], [saved(1, 0, 40)]).publications).toMatchObject([{ step: 40, standing: 'late' }]);
  });

  test('P2.1 without a complete listing there is no resume point, and reports still show', () => {
    expect(resolve(points, undefined, [saved(2, 0, 30)])).toEqual({
      publications: [{ ...saved(2, 0, 30), standing: 'reported', latest: false }],
    });
  });

  test('nothing to resume from is a point, not an absence', () => {
    expect(resolve([plan(1, NOTHING())], [])).toEqual({ resume: NOTHING(), publications: [] });
  });

  test('the point itself is the latest until something outranks it', () => {
    expect(resolve(points, [saved(1, 0, 20)]).publications).toMatchObject([{ step: 20, latest: true }]);
  });
});

describe('P8.2 resolve, for all histories', () => {
  const publication = fc.record({ n: fc.integer({ min: 1, max: 4 }), run: fc.integer({ min: 0, max: 2 }), step: fc.nat(6) });
  const published = fc.array(publication, { maxLength: 14 }).map((all) => all.map(({ n, run, step }) => saved(n, run, step)));
  /** Points as runs make them: each resolved from what was announced by then, or a new branch. */
  const history = fc.record({
    before: published,
    added: fc.array(fc.record({ upTo: fc.nat(14), scratch: fc.boolean(), inPlace: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  });
  const played = ({ before, added }: { before: Published[]; added: readonly { upTo: number; scratch: boolean; inPlace: boolean }[] }) => {
    const points: Fixed[] = [plan(1, NOTHING())];
    let [n, run] = [1, 0];
    for (const { upTo, scratch: anew, inPlace } of added) {
      const resume = latest(
        lastFixed(points),
        before.slice(0, upTo).filter(({ epoch }) => epoch <= epochOf(n, run)),
      );
      [n, run] = inPlace && !anew ? [n, run + 1] : [n + 1, 0];
      points.push(anew ? scratch(n) : fixedByBase({ n, run, base: resume }));
    }
    return points;
  };
  const holds = (check: (points: Fixed[], listed: Published[], reported: Published[]) => void): void =>
    fc.assert(
      fc.property(history, published, (past, reported) => check(played(past), past.before, reported)),
      { seed: 82, numRuns: 500 },
    );

  test('the resume point is the last point or an eligible publication, never below the point (C2)', () =>
    holds((points, listed) => {
      const { resume, publications } = resolve(points, listed);
      const last = lastFixed(points).point;
      expect(resume!.step).toBeGreaterThanOrEqual(last.step);
      const picked = publications.filter((one) => one.latest);
      if (byResolveOrder(resume!, last) !== 0) expect(picked.every(({ standing }) => standing === 'eligible')).toBe(true);
    }));

  test('nothing eligible outranks it (C3)', () =>
    holds((points, listed) => {
      const { resume, publications } = resolve(points, listed);
      for (const one of publications) if (one.standing === 'eligible') expect(byResolveOrder(one, resume!)).toBeLessThanOrEqual(0);
    }));

  test('reports never change it (K3), and show each publication once', () =>
    holds((points, listed, reported) => {
      const both = resolve(points, listed, reported);
      expect(both.resume).toEqual(resolve(points, listed).resume);
      const keys = both.publications.map(({ epoch, path }) => `${epoch} ${path}`);
      expect(new Set(keys).size).toBe(keys.length);
    }));

  test('what is late or behind could be taken away without changing it', () =>
    holds((points, listed) => {
      const standing = standingOf(points);
      const good = listed.filter((one) => standing(one) === 'eligible' || standing(one) === 'past');
      expect(resolve(points, good).resume).toEqual(resolve(points, listed).resume);
    }));

  test('the order of a listing does not matter', () =>
    holds((points, listed) => void expect(resolve(points, [...listed].reverse())).toEqual(resolve(points, listed))));
});
