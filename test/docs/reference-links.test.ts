/** Links: every relative one in the docs leads to a file that is there, and to a heading that it has. A page that moved is found here. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const PAGES = ['README.md', 'statemachines/README.md', ...pagesIn('docs')].filter((page) => existsSync(join(ROOT, page)));

/** Without code: what stands there is no link and no heading. */
const proseOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '');

/** As the site that shows the docs names a heading: words in lower case, joined by dashes; a repeated one is numbered. */
const anchorsOf = (path: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of proseOf(path).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  for (const [, id] of proseOf(path).matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id!);
  return anchors;
};

const LINK = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s+(\S+)/gm;

const brokenIn = (page: string): string[] => {
  const text = proseOf(join(ROOT, page)).replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(LINK)].flatMap(([, inline, defined]) => {
    const link = (inline ?? defined)!;
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return [];
    const [path = '', anchor] = link.split('#') as [string, string | undefined];
    const target = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), decodeURIComponent(path));
    if (!existsSync(target)) return [`${page}: ${link} leads to no file`];
    if (relative(ROOT, target).startsWith('..')) return [`${page}: ${link} leads out of the repository`];
    if (anchor === undefined || statSync(target).isDirectory()) return [];
    return anchorsOf(target).has(decodeURIComponent(anchor)) ? [] : [`${page}: ${link} leads to no heading`];
  });
};

it.each(PAGES)('%s has no broken link', (page) => expect(brokenIn(page)).toEqual([]));

it('finds a broken one: the check itself is alive', () => {
  const anchors = anchorsOf(join(ROOT, 'README.md'));
  expect(anchors.has('try-it')).toBe(true);
  expect(anchors.has('no-such-heading')).toBe(false);
});
