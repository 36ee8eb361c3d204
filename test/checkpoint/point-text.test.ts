import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { epochOfPath, isRelative, overlap } from '../../lib/checkpoint/layout.ts';
import { formatPoint, parsePoint, parseRunName } from '../../lib/checkpoint/point-text.ts';
import * as wrapper from '../../lib/cluster/slurm/control-files.ts';
import { NOTHING } from '../../lib/job/event.ts';

describe('P8.2 a point as text', () => {
  test.each([NOTHING(), NOTHING(3_000_000), { epoch: 1_000_001, step: 20, path: 'exec/1-1/ü x' }])(
    '%o is written as the wrapper does',
    (point) => {
      expect(formatPoint(point)).toBe(wrapper.formatPoint(point));
      expect(parsePoint(`${formatPoint(point)}\n`)).toEqual(point);
    },
  );

  test('reads and writes what the wrapper side does, for all points', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => isRelative(text) && !text.includes('/'));
    const point = fc.record({
      epoch: fc.nat(),
      step: fc.nat(),
      path: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
    });
    fc.assert(
      fc.property(point, (one) => {
        expect(formatPoint(one)).toBe(wrapper.formatPoint(one));
        expect(parsePoint(formatPoint(one))).toEqual(wrapper.parsePoint(formatPoint(one)));
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  test.each([
    '',
    'x',
    '1 2',
    '1 -2 -',
    '1 2 ABC',
    '1 2 mz',
    '1  2 -',
    '1 2 - ',
    '1 2 -\n\n',
    formatPoint({ epoch: 1, step: 1, path: '../x' }),
  ])('%j fixes nothing', (text) => expect(parsePoint(text)).toBeUndefined());

  test.each([
    ['1-0', { n: 1, run: 0 }],
    ['12-34', { n: 12, run: 34 }],
    ['.1-0', undefined],
    ['1-01', undefined],
    ['0-0', undefined],
    ['1', undefined],
  ])('the name %s', (name, run) => expect(parseRunName(name)).toEqual(run));
});

describe('P8.1 layout', () => {
  test.each([
    ['exec/1-0/s', 1_000_000],
    ['exec/2-13/a/b', 2_000_013],
    ['exec/1-0', undefined],
    ['exec/1-0/', undefined],
    ['exec/1-0/../2-0/s', undefined],
    ['imported/s', undefined],
    ['xexec/1-0/s', undefined],
  ])('%s is in the folder of epoch %s', (path, epoch) => expect(epochOfPath(path)).toBe(epoch));

  test.each([
    ['a/b', 'a/b', true],
    ['a', 'a/b', true],
    ['a/b', 'a', true],
    ['a/b', 'a/bc', false],
  ])('%s and %s overlap: %s', (a, b, does) => expect(overlap(a, b)).toBe(does));
});
