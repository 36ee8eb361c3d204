/** How a page is read, and what counts as the same: the two rules on which the proof of the docs stands. */
import { describe, expect, test } from 'vitest';
import { differs } from './matches.ts';
import { blocksOf } from './page.ts';

const kinds = (markdown: string): readonly string[] => blocksOf(markdown).map(({ kind }) => kind);
const fenced = (info: string, text = 'x'): string => `\`\`\`${info}\n${text}\n\`\`\`\n`;

describe('a block of a page is something, or a fault', () => {
  test.each([
    ['commands and their answer', fenced('sh') + fenced('json'), ['run', 'answer']],
    ['commands without an answer', fenced('sh') + fenced('sh') + fenced('text'), ['run', 'run', 'answer']],
    ['a server and its line', fenced('sh server') + fenced('text'), ['server', 'answer']],
    ['one that cannot run here, with its reason', fenced('sh not-run: it needs an AWS account'), ['not-run']],
    ['code that cannot run here', fenced('python not-run: it needs PyTorch'), ['not-run']],
    ['not run without a reason', fenced('sh not-run:'), ['fault']],
    ['a reason that is none', fenced('sh not-run: todo'), ['fault']],
    ['an answer to nothing', fenced('json'), ['fault']],
    ['a second answer', fenced('sh') + fenced('json') + fenced('json'), ['run', 'answer', 'fault']],
    ['an answer to what was not run', fenced('sh not-run: it needs an AWS account') + fenced('json'), ['not-run', 'fault']],
    ['a block that says nothing of itself', fenced(''), ['fault']],
    ['another shell', fenced('bash'), ['fault']],
  ])('%s', (_, markdown, expected) => expect(kinds(markdown)).toEqual(expected));

  test('a block knows its line and its text, in a list too', () => {
    expect(blocksOf(`one\n\n- two\n\n  ${fenced('sh', '  a\n    b').replace(/```\n$/, '  ```\n')}`)).toMatchObject([
      { line: 5, text: 'a\n  b' },
    ]);
  });
});

describe('`…` stands for what differs or is left out, and nothing else does', () => {
  test.each([
    ['the same', 'a\nb', 'a\nb\n'],
    ['a part of a line', 'job … accepted', 'job 1m8my accepted'],
    ['several parts', '…: …, then stop.', 'q1: now, then stop.'],
    ['nothing at all', 'a…b', 'ab'],
    ['lines in between', 'a\n…\nz', 'a\nb\nc\nz'],
    ['no lines in between', 'a\n…\nz', 'a\nz'],
    ['lines at the end', 'a\n…', 'a\nb'],
    ['what a pattern would mean is plain text', 'a.b (c) [d] $1 *', 'a.b (c) [d] $1 *'],
  ])('text: %s', (_, shown, printed) => expect(differs('text', shown, printed)).toBeUndefined());

  test.each([
    ['another word', 'a', 'b'],
    ['a line less', 'a\nb', 'a'],
    ['a line more', 'a', 'a\nb'],
    ['more at the end of a line', 'a', 'ab'],
    ['`…` reaches over no end of a line', 'a…c', 'a\nc'],
    ['lines in another order', 'a\n…\nb', 'b\na'],
    ['a dot is a dot', 'a.b', 'aXb'],
  ])('text differs: %s', (_, shown, printed) => expect(differs('text', shown, printed)).toBeDefined());

  test.each([
    ['however it is laid out', '{ "a": [1, 2] }', '{"a":[1,2]}'],
    ['in any order of members', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['a value', '{"a": …}', '{"a":{"b":1}}'],
    ['a part of a text', '{"a": "x…z"}', '{"a":"xyz"}'],
    ['more members', '{"a":1, …}', '{"a":1,"b":2}'],
    ['more elements', '[1, …, 9, …]', '[1,2,3,9,10]'],
    ['nothing but that', '…', '[1]'],
    ['brackets within a text', '{"a": "[{…", …}', '{"a":"[{:,","b":1}'],
  ])('JSON: %s', (_, shown, printed) => expect(differs('json', shown, printed)).toBeUndefined());

  test.each([
    ['another value', '{"a":1}', '{"a":2}', '.a'],
    ['another kind of value', '{"a":"1"}', '{"a":1}', '.a'],
    ['a member less', '{"a":1,"b":2}', '{"a":1}', '.b was not printed'],
    ['a member more', '{"a":1}', '{"a":1,"b":2}', '.b was printed and is not shown'],
    ['an element less', '[1,2]', '[1]', '[1] was not printed'],
    ['an element more', '[1]', '[1,2]', '[1] was printed and is not shown'],
    ['the order of elements', '[1,2]', '[2,1]', '[0]'],
    ['no element fits behind a gap', '[…, 3]', '[1,2]', 'behind the gap'],
    ['deep inside', '{"a":[{"b":1}]}', '{"a":[{"b":2}]}', '.a[0].b'],
    ['no JSON was printed', '{}', 'curl: (7)', 'no JSON'],
    ['no JSON is shown', '{', '{}', 'no JSON'],
  ])('JSON differs: %s', (_, shown, printed, says) => expect(differs('json', shown, printed)).toContain(says));
});
