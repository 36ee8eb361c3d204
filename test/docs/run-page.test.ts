/** The runner itself: what a page does wrong is told at the block that does it, and nothing of a page goes on to the next one. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf } from './page.ts';
import { type Outcome, runPage } from './run-page.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const ran = async (...commands: readonly (readonly [info: string, text: string])[]): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  const page = commands.map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\``).join('\n');
  await runPage(blocksOf(page), (_, outcome) => outcomes.push(outcome));
  return outcomes;
};

test('commands share a shell, a folder and a server, whose addresses are those of the docs', { timeout: 60_000 }, async () => {
  const outcomes = await ran(
    ['sh', 'greeting=hello; say() { echo "$greeting $1"; }; echo there > word.txt'],
    ['sh', 'say $(cat word.txt); echo wrong >&2'],
    ['sh', 'curl -s localhost:8080/health; curl -s http://127.0.0.1:8080/health'],
    ['sh', 'cat; read nothing || echo no input'],
    ['sh', 'ls node_modules > /dev/null; test -e .git || echo no history; false || echo forgiven'],
  );
  expect(outcomes).toEqual([
    { printed: '' },
    { printed: 'hello there\nwrong' },
    { printed: '{"status":"ok"}{"status":"ok"}' },
    { printed: 'no input' },
    { printed: 'no history\nforgiven' },
  ]);
  expect(existsSync(join(ROOT, 'word.txt'))).toBe(false);
});

test('a command that fails is told, wherever it stands, and what follows is not run', { timeout: 60_000 }, async () => {
  const outcomes = await ran(['sh', 'deep() { cat none.txt; echo on; }\ndeep'], ['sh', 'echo after']);
  expect(outcomes[0]).toMatchObject({
    printed: expect.stringContaining('No such file'),
    wrong: expect.stringContaining('exit 1: cat none.txt'),
  });
  expect(outcomes[1]).toEqual({ printed: '', wrong: 'not run: the block in line 1 went wrong' });
});

test('a shell that ends, and a server that does not start, are told', { timeout: 60_000 }, async () => {
  const [ends, after] = await ran(['sh', 'exit 3'], ['sh', 'echo after']);
  expect(ends?.wrong).toContain('the shell ended');
  expect(after?.wrong).toContain('not run');
  const [refused, other] = [await ran(['sh server', 'npm start -- --prot 1']), await ran(['sh server', 'npm run demo'])];
  expect(refused[0]?.wrong).toContain('--port');
  expect(other[0]?.wrong).toContain('a server block holds one line, npm start');
});
