/**
 * The reference says what the code does: its tables are made from the code's own, and differ only until they are renewed by
 * `npx vitest run test/docs/reference.test.ts -u`. What the tables of meanings leave out fails here, by its name.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSpec } from '../../lib/job/parse-spec.ts';
import { NAMES, untoldDetails } from './reference/causes.ts';
import { untoldStages, untoldVariables } from './reference/environment.ts';
import { EVENTS } from './reference/events.ts';
import { PAGES } from './reference/pages.ts';
import { strayMeanings } from './reference/policy.ts';
import { untoldMoot } from './reference/questions.ts';
import { untoldEvents } from './reference/steps.ts';
import { unreadTimings, untoldBounds, untoldTimings } from './reference/timings.ts';

const FOLDER = new URL('../../docs/reference/', import.meta.url);
const BLOCK = /<!-- from the code: ([a-z ]+) -->\n[\s\S]*?<!-- \/from the code -->/g;
const textOf = (page: string): string => readFileSync(new URL(page, FOLDER), 'utf8');

describe.each(Object.entries(PAGES))('docs/reference/%s', (page, blocks) => {
  it('holds the tables of the code', async () => {
    const renewed = textOf(page).replaceAll(BLOCK, (_, name: string) => {
      const block = blocks[name];
      if (!block) throw new Error(`${page} asks for a table '${name}', which nobody makes`);
      return `<!-- from the code: ${name} -->\n\n${block()}\n\n<!-- /from the code -->`;
    });
    await expect(renewed).toMatchFileSnapshot(new URL(page, FOLDER).pathname);
  });
  it('has a place for each of them, once', () => {
    const placed = [...textOf(page).matchAll(BLOCK)].map(([, name]) => name);
    expect(placed.toSorted()).toEqual(Object.keys(blocks).toSorted());
  });
});

describe('nothing of the code is left out', () => {
  it('every page of the folder is made here, but for its index', () => {
    expect(readdirSync(FOLDER).filter((name) => name !== 'README.md')).toEqual(
      Object.keys(PAGES)
        .filter((page) => !page.startsWith('../'))
        .toSorted(),
    );
  });
  it.each([
    ['details of ends', untoldDetails],
    ['events of steps', untoldEvents],
    ['reasons why a question is moot', untoldMoot],
    ['variables of a run', untoldVariables],
    ['refusals of the wrapper', untoldStages],
    ['fields of a spec', strayMeanings],
    ['timings', untoldTimings],
    ['constants of time in the core', untoldBounds],
  ])('%s', (_, untold) => expect(untold(), 'say in test/docs/reference what these mean').toEqual([]));
  it('every timing that is promised is read by the code', () => expect(unreadTimings()).toEqual([]));
  it.each([
    ['states-and-causes.md', [...NAMES.jobStates, ...NAMES.attemptStates, ...NAMES.causes]],
    ['record.md', [...EVENTS.job, ...EVENTS.cluster]],
  ])('%s names each one', (page, names) => {
    const text = textOf(page);
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('what the pages show can be used', () => {
  const examples = Object.keys(PAGES).flatMap((page) =>
    [...textOf(page).matchAll(/```json\n([\s\S]*?)```/g)].map(([, text], i) => [`${page}, example ${i + 1}`, text!] as const),
  );
  it.each(examples)('%s is JSON, and a spec is one that is accepted', (_, text) => {
    const value = JSON.parse(text) as Record<string, unknown>;
    if ('program' in value) expect(parseSpec(value)).toMatchObject({ ok: true });
  });
});
