/** Seeded numbers follow from the text alone, for ever: recorded decisions were made with them. */
import { expect, test } from 'vitest';
import { seeded } from '../../lib/job/seed.ts';

test.each([
  ['', 0.6689221884589642],
  ['01h5j6k7m8n9p0qr:1', 0.12546600145287812],
  ['01h5j6k7m8n9p0qr:2', 0.9853441067971289],
])('seeded(%j) is what it always was', (text, value) => {
  expect(seeded(text)).toBeCloseTo(value, 9);
});

test('near texts give far numbers, spread evenly over [0, 1)', () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 10_000; i++) {
    const number = seeded(`job:${i}`);
    expect(number >= 0 && number < 1).toBe(true);
    tenths[Math.floor(number * 10)]! += 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
