/** Words of others move no cursor: whatever a cluster, a program or a stranger wrote is one harmless line in a terminal. */
import { expect, test } from 'vitest';
import { printable, printableLines } from '../../lib/cli/printable.ts';
import { tell } from '../../lib/cli/tell.ts';
import type { Event } from '../../lib/job/event.ts';
import type { View } from '../../lib/job/view.ts';

test.each([
  ['plain text, in any script', 'Größe 日本語 – it’s 5 %', 'Größe 日本語 – it’s 5 %'],
  ['a tab', 'a\tb', 'a\tb'],
  ['a colour', '\x1b[31mred\x1b[0m', '\\e[31mred\\e[0m'],
  ['a window’s title', '\x1b]0;owned\x07', '\\e]0;owned\\x07'],
  ['an 8-bit control', '\x9b2J', '\\x9b2J'],
  ['a line that is written over', 'failed\rsucceeded', 'failed\\rsucceeded'],
  ['more lines', 'a\nb', 'a\\nb'],
  ['a backspace and a delete', 'a\bb\x7f', 'a\\x08b\\x7f'],
  ['writing that is turned around', 'a\u202eb\u2066', 'a\\u{202e}b\\u{2066}'],
  ['what is not seen', 'a\u200bb\ufeff', 'a\\u{200b}b\\u{feff}'],
  ['separators of lines', 'a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
  ['half a character', 'a\ud800b', 'a\\u{d800}b'],
  ['a tag behind the last plane', 'a\u{e0041}b', 'a\\u{e0041}b'],
])('%s', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printable(shown)).toBe(shown);
});

test('output keeps its lines', () => {
  expect(printableLines('a\n\x1b[2Jb\r\n')).toBe('a\n\\e[2Jb\\r\n');
});

test('what is told of an event is printable, whoever wrote it', () => {
  const event: Event = {
    type: 'attempt_submission_deferred',
    n: 1,
    reason: 'sbatch: \x1b[2J\x1b]0;owned\x07\nall is well',
    notBefore: 0,
  };
  expect(tell(event, {} as View)).toBe('attempt 1 was not sent: sbatch: \\e[2J\\e]0;owned\\x07\\nall is well');
});
