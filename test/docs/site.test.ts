/** The docs as a whole: nothing in them is unproved without a reason, and no page is out of reach. */
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differs } from './matches.ts';
import { isOfNpm, missingScripts, OTHER_BLOCKS } from './other-pages.ts';
import { blocksOf, fencesOf, NOT_RUN } from './page.ts';
import { type Outcome, runPage } from './run-page.ts';
import { FOLLOWED_PAGES, OTHER_PAGES, PAGES, pageText } from './site.ts';

describe('every block', () => {
  test('in the tutorial and the guides is commands, an answer to them, or marked with a reason', () => {
    const faults = FOLLOWED_PAGES.flatMap((path) =>
      blocksOf(pageText(path)).flatMap((block) => (block.kind === 'fault' ? [`${path}:${block.line}: ${block.says}`] : [])),
    );
    expect(faults).toEqual([]);
    expect(FOLLOWED_PAGES.length).toBeGreaterThan(7);
  });

  test('that no test runs is one of these', () => {
    const left = FOLLOWED_PAGES.flatMap((path) =>
      blocksOf(pageText(path)).flatMap((block) => (block.kind === 'not-run' ? [`${path}: ${block.reason}`] : [])),
    );
    expect(left).toEqual([
      'docs/explanation/how-it-works.md: a picture',
      'docs/how-to/answer-by-task-token.md: it needs the AWS CLI; the next block makes the same call',
      'docs/how-to/answer-by-task-token.md: it needs an AWS account',
      'docs/how-to/answer-questions.md: it needs the AWS CLI; the next block sends the same call',
      'docs/how-to/publish-and-resolve-checkpoints.md: it needs PyTorch and a cluster; the next section makes the same call',
      'docs/how-to/watch-state-changes.md: it needs an AWS account',
      'docs/tutorial.md: it installs what the tests themselves run on',
    ]);
  });

  test('on the other pages is on the list of other-pages.ts, or marked `not-run: REASON`', () => {
    const unknown = OTHER_PAGES.flatMap((page) =>
      fencesOf(pageText(page))
        .filter(({ info, text }) => !NOT_RUN.test(info) && !isOfNpm(text))
        .filter(({ text }) => !OTHER_BLOCKS.some((one) => one.page === page && text.startsWith(one.begins)))
        .map(({ line, text }) => `${page}:${line}: ${text.split('\n')[0]}`),
    );
    expect(unknown).toEqual([]);
  });

  test('on the other pages that needs something which no test has is on one of these pages', () => {
    const left = OTHER_PAGES.filter((page) => fencesOf(pageText(page)).some(({ info }) => NOT_RUN.test(info)));
    expect(left).toEqual(['docs/deploy.md', 'docs/operate.md', 'docs/security.md', 'docs/upgrade.md']);
  });

  test('of npm names scripts that there are', () => {
    const texts = OTHER_PAGES.flatMap((page) => fencesOf(pageText(page)).map(({ text }) => text)).filter(isOfNpm);
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.flatMap(missingScripts)).toEqual([]);
  });

  test('on that list is there, and is checked or has its reason', () => {
    for (const { page, begins, check, reason, answers } of OTHER_BLOCKS) {
      expect(
        fencesOf(pageText(page)).filter(({ text }) => text.startsWith(begins)),
        `${page}: ${begins}`,
      ).toHaveLength(1);
      expect(check !== undefined || answers !== undefined || (reason ?? '').length > 8, `${page}: ${begins}`).toBe(true);
    }
  });
});

describe('blocks of other pages', () => {
  const blockOf = (page: string, begins: string): string => fencesOf(pageText(page)).find(({ text }) => text.startsWith(begins))!.text;
  const asked = OTHER_BLOCKS.filter(({ answers }) => answers !== undefined).map((one) => ({ ...one, text: blockOf(one.page, one.begins) }));
  const answered = new Map<number, PromiseWithResolvers<Outcome>>(asked.map((_, line) => [line, Promise.withResolvers()]));
  let running: Promise<void>;
  beforeAll(() => {
    const blocks = asked.map(({ answers, text }, line) => ({ kind: 'run' as const, line, language: 'sh', text: answers || text }));
    running = runPage(blocks, (line, outcome) => answered.get(line)?.resolve(outcome));
  });
  afterAll(() => running);

  test.each(OTHER_BLOCKS.filter(({ check }) => check))('$page: $begins: it is what it looks like', async ({ page, begins, check }) => {
    expect(await check?.(blockOf(page, begins))).toBeUndefined();
  });

  test.each(asked.map((one, line) => ({ ...one, line })))(
    '$page: $begins: it is run',
    { timeout: 60_000 },
    async ({ answers, text, line }) => {
      const { printed, wrong } = await answered.get(line)!.promise;
      expect(wrong).toBeUndefined();
      if (answers !== '') expect(differs('json', text, printed), printed).toBeUndefined();
      else expect(printed).not.toContain('/problems/');
    },
  );
});

/** The pages to which a page links. */
const linkedBy = (page: string): readonly string[] =>
  [...pageText(page).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)\s]*)?\)/g)].map(([, target]) => normalize(join(dirname(page), target!)));

test('every page of the docs can be reached from the index', () => {
  const reached = new Set(['docs/README.md']);
  for (const page of reached) for (const next of linkedBy(page)) if (PAGES.includes(next)) reached.add(next);
  expect(PAGES.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});
