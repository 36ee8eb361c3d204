/**
 * Show: `node test/docs/show.ts PAGE` prints what each command block of a page answers now, and where that differs from the page. With
 * `--fill`, every answer on the page that is only a `?` is written from what was printed. It is how the answers in the docs are made:
 * run, with `…` for what differs from run to run; nobody types them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { differs } from './matches.ts';
import { type Block, blocksOf } from './page.ts';
import { runPage } from './run-page.ts';

const WIDTH = 130;

/** As the pages show JSON: what fits on a line stays on one. */
const pretty = (value: unknown, indent = ''): string => {
  const flat = JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/\[ | \]/g, (bracket) => bracket.trim());
  if (typeof value !== 'object' || value === null || flat.length + indent.length <= WIDTH) return flat;
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => `${deeper}${pretty(item, deeper)}`)
    : Object.entries(value).map(([name, item]) => `${deeper}${JSON.stringify(name)}: ${pretty(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
};

const JOB_ID = /\b(?=[a-z]*\d)[0-9a-hjkmnp-tv-z]{16}\b/g;
const GENERAL: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{64}\b/g, '…'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '…'],
  [/\b1[78]\d{11}\b/g, '…'],
  [/\bd[0-9a-z]{4}-(?=[0-9a-z]{16}\b)/g, 'd…-'],
  [JOB_ID, '…'],
];

const shownAs = (answer: Block, printed: string): string => {
  const text = answer.language === 'json' ? pretty(JSON.parse(printed)) : printed;
  return GENERAL.reduce((made, [what, by]) => made.replaceAll(what, by), text);
};

const [path, option] = process.argv.slice(2).sort((a, b) => Number(a.startsWith('--')) - Number(b.startsWith('--')));
if (path === undefined) throw new Error('name a page: node test/docs/show.ts [--fill] docs/tutorial.md');
const page = readFileSync(path, 'utf8');
const blocks = blocksOf(page);
const lines = page.split('\n');
for (const block of blocks) if (block.kind === 'fault') process.stdout.write(`line ${block.line}: ${block.says}\n`);
const began = performance.now();
await runPage(blocks, (line, { printed, wrong }) => {
  const answer = blocks[blocks.findIndex((block) => block.line === line) + 1];
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`\n== line ${line}, ${seconds} s${wrong === undefined ? '' : ` WRONG: ${wrong}`}\n${printed}\n`);
  if (answer?.kind !== 'answer') return;
  const blank = answer.text.trim() === '?';
  if (blank && option === '--fill' && wrong === undefined) lines[answer.line] = shownAs(answer, printed);
  const difference = blank ? undefined : differs(answer.language, answer.text, printed);
  if (difference !== undefined) process.stdout.write(`DIFFERS (line ${answer.line}): ${difference}\n`);
});
if (option === '--fill') writeFileSync(path, lines.join('\n'));
