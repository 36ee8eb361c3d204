/**
 * Every command in the tutorial and the how-to guides is run, and every answer that they show is compared with what was printed.
 * Each page has a shell, a folder and a dispatch of its own; a few pages run at the same time, since most of it is waiting.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differs } from './matches.ts';
import { type Block, blocksOf } from './page.ts';
import { type Outcome, runPage } from './run-page.ts';
import { FOLLOWED_PAGES, pageText } from './site.ts';

const AT_ONCE = 10;
/** Of all pages together; a block has a shorter one of its own (shell.ts). */
const PATIENCE_MS = 300_000;

const isRun = ({ kind }: Block): boolean => kind === 'run' || kind === 'server';

const pages = FOLLOWED_PAGES.map((path) => {
  const blocks = blocksOf(pageText(path));
  const outcomes = new Map(blocks.filter(isRun).map(({ line }) => [line, Promise.withResolvers<Outcome>()] as const));
  return { path, blocks, outcomes };
});

/** The slowest first would be best; the order of the list is good enough. */
const runAll = async (): Promise<void> => {
  const left = pages.filter(({ blocks }) => blocks.some(isRun));
  const next = async (): Promise<void> => {
    for (let page = left.shift(); page; page = left.shift()) {
      const { blocks, outcomes } = page;
      await runPage(blocks, (line, outcome) => outcomes.get(line)?.resolve(outcome));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
};

let running: Promise<void>;
beforeAll(() => {
  running = runAll();
});
// Whatever a test thinks of it: every shell and every server is ended.
afterAll(() => running, PATIENCE_MS);

describe.each(pages.filter(({ blocks }) => blocks.some(isRun)))('$path', ({ path, blocks, outcomes }) => {
  const commands = blocks.filter(isRun).map((block) => ({ block, answer: answerOf(blocks, block), first: block.text.split('\n')[0]! }));
  test.each(commands)(`${path}:$block.line $first`, { timeout: PATIENCE_MS }, async ({ block, answer }) => {
    const { printed, wrong } = await outcomes.get(block.line)!.promise;
    expect(wrong, `${path}:${block.line}`).toBeUndefined();
    if (!answer) return;
    const difference = differs(answer.language, answer.text, printed);
    expect(difference, `${path}:${answer.line} shows what is not printed; printed was:\n${printed}`).toBeUndefined();
  });
});

function answerOf(blocks: readonly Block[], block: Block): Block | undefined {
  const next = blocks[blocks.indexOf(block) + 1];
  return next?.kind === 'answer' ? next : undefined;
}
