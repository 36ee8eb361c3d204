import { describe, expect, test } from 'vitest';
import { formatDuration, formatMemory, LONGEST_SECONDS, parseDuration, parseMemory } from '../../lib/job/quantity.ts';

describe('durations are finite and above zero (contract §4)', () => {
  test.each([
    ['90s', 90],
    ['15m', 900],
    ['2h', 7200],
    ['7d', 604_800],
    ['2w', 1_209_600],
    ['PT90S', 90],
    ['PT1H30M', 5400],
    ['P1DT12H', 129_600],
    ['P2W', 1_209_600],
    ['3650d', LONGEST_SECONDS],
  ])('%s is %d s', (text, seconds) => expect(parseDuration(text)).toBe(seconds));

  test.each([
    '',
    '0s',
    '-1h',
    '1.5h',
    '5',
    '5 m',
    '1h30m',
    'P',
    'PT',
    'P1DT',
    'P1Y',
    'P1M',
    '3651d',
    '9999999999s',
    'forever',
    `P${'9'.repeat(400)}D`,
  ])('%j is none', (text) => expect(parseDuration(text)).toBeUndefined());

  test.each([90, 900, 5400, 7200, 129_600, 604_800, 1])('%d s reads back from how it is written', (seconds) =>
    expect(parseDuration(formatDuration(seconds))).toBe(seconds),
  );
});

describe('memory is whole MiB (contract §4)', () => {
  test.each([
    ['512Mi', 512],
    ['16Gi', 16_384],
    ['2Ti', 2_097_152],
  ])('%s is %d MiB', (text, mebibytes) => expect(parseMemory(text)).toBe(mebibytes));
  test.each(['', '0Gi', '16', '16G', '16GB', '1.5Gi', '-1Gi', '1024Ki', '99999999Mi'])('%j is none', (text) =>
    expect(parseMemory(text)).toBeUndefined(),
  );
  test.each([512, 1536, 16_384, 2_097_152])('%d MiB reads back from how it is written', (mebibytes) =>
    expect(parseMemory(formatMemory(mebibytes))).toBe(mebibytes),
  );
});
