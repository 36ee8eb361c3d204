import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quote } from '../../../../lib/cluster/slurm/transport/quote.ts';

const HOSTILE = [
  '',
  ' ',
  "'",
  "''",
  "'\\''",
  '\\',
  '\\n',
  '\n',
  '\r\n',
  '$(id)',
  '`id`',
  '$HOME',
  '!!',
  '*',
  '~',
  '-n',
  '--',
  '#',
  ';',
  '&',
  '|',
  '"',
  '\x01\x1b[2J',
  'ä→𝄞',
  'a\'b"c$d`e\\f\ng',
];

/** Each word on its own as printf's operand, ended by NUL, which no word can hold. */
function throughShell(words: readonly string[]): string[] {
  const input = words.map((word) => `printf '%s\\0' ${quote(word)}\n`).join('');
  const printed = execFileSync('/bin/sh', ['-s'], { input, encoding: 'utf8', timeout: 10_000, maxBuffer: 8 << 20 });
  return printed.split('\0').slice(0, -1);
}

describe('quote', () => {
  test.each([
    ['abc', "'abc'"],
    ["it's", "'it'\\''s'"],
    ['', "''"],
  ])('%j is written %s', (arg, word) => expect(quote(arg)).toBe(word));

  test('a real sh reads every hostile text as exactly itself', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...HOSTILE.filter((text) => text !== ''), 'a'), maxLength: 12 });
    const any = fc.string({ unit: 'binary', maxLength: 40 });
    const sampled = fc.sample(fc.oneof(hostile, any), { seed: 45, numRuns: 1500 }).map((text) => text.replaceAll('\0', '').toWellFormed());
    const words = [...HOSTILE, ...sampled];
    expect(throughShell(words)).toEqual(words);
  });

  test('what a shell cannot hold is refused, not changed', () => {
    expect(() => quote('a\0b')).toThrow('NUL');
    expect(() => quote('a\ud800b')).toThrow('well-formed');
  });
});
