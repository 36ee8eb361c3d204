import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMarker, PATH_BYTES, parseMarker } from '../../lib/checkpoint/marker.ts';

const zeros = (digits: number) => '0'.repeat(digits);

describe('P8.1 marker names', () => {
  test.each([
    [{ epoch: 1_000_000, step: 20, path: 'f' }, `${zeros(13)}1000000-${zeros(18)}20-my`],
    [{ epoch: 1_000_000, step: 0, path: 'fo' }, `${zeros(13)}1000000-${zeros(20)}-mzxq`],
    [{ epoch: 2_000_001, step: 7, path: 'foobar' }, `${zeros(13)}2000001-${zeros(19)}7-mzxw6ytboi`],
  ])('%o is written as %s and read back', (marker, name) => {
    expect(formatMarker(marker)).toBe(name);
    expect(parseMarker(name)).toEqual(marker);
  });

  test('any path of at most 130 bytes survives, and its name fits 255', () => {
    const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => {
      const bytes = Buffer.from(text, 'utf8');
      return bytes.length > 0 && bytes.length <= PATH_BYTES && bytes.toString('utf8') === text;
    });
    fc.assert(
      fc.property(path, fc.nat(), fc.nat(), (text, epoch, step) => {
        const name = formatMarker({ epoch, step, path: text });
        expect(name.length).toBeLessThanOrEqual(255);
        expect(parseMarker(name)).toEqual({ epoch, step, path: text });
      }),
      { seed: 8, numRuns: 300 },
    );
  });

  test('byte order of names is resolve order', () => {
    const name = (epoch: number, step: number) => formatMarker({ epoch, step, path: 'x' });
    expect([name(2_000_000, 1), name(1_000_000, 900), name(1_000_000, 1000)].sort()).toEqual([
      name(1_000_000, 900),
      name(1_000_000, 1000),
      name(2_000_000, 1),
    ]);
  });

  test.each([
    ['130 bytes are the most', () => formatMarker({ epoch: 1, step: 1, path: 'x'.repeat(130) }).length, 20 + 1 + 20 + 1 + 208],
    ['131 bytes are refused', () => formatMarker({ epoch: 1, step: 1, path: 'x'.repeat(131) }), RangeError],
    ['no path is refused', () => formatMarker({ epoch: 1, step: 1, path: '' }), RangeError],
    ['a negative step is refused', () => formatMarker({ epoch: 1, step: -1, path: 'x' }), RangeError],
  ])('%s', (_, act, expected) => {
    if (typeof expected === 'number') expect(act()).toBe(expected);
    else expect(act).toThrow(expected);
  });

  test.each([
    ['a stray file', '.nfs000123'],
    ['a number cut short', `${zeros(19)}1-${zeros(19)}-my`],
    ['upper case', `${zeros(19)}1-${zeros(20)}-MY`],
    ['padding', `${zeros(19)}1-${zeros(20)}-my======`],
    ['another spelling of the same bytes', `${zeros(19)}1-${zeros(20)}-mz`],
    ['a letter too many', `${zeros(19)}1-${zeros(20)}-mya`],
    ['bytes that are no text', `${zeros(19)}1-${zeros(20)}-74`],
    ['a number beyond what counts exactly', `${'9'.repeat(20)}-${zeros(20)}-my`],
    ['a path beyond 130 bytes', `${zeros(19)}1-${zeros(20)}-${'pb4hq6dy'.repeat(27)}`],
  ])('%s is no marker', (_, name) => expect(parseMarker(name)).toBeUndefined());
});
