/** Site: which pages there are, and which of them a reader is meant to follow with own hands: those are run, from top to bottom. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Folders whose Markdown belongs to nobody's docs. */
const ELSEWHERE = new Set(['node_modules', 'test', '.git', '.dispatch', 'cdk.out']);

const markdownIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ELSEWHERE.has(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });

export const pageText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every page, by its path from the root. */
export const PAGES: readonly string[] = markdownIn(ROOT).sort();

const FOLLOWED = /^docs\/(README|tutorial|how-to\/[^/]+|explanation\/[^/]+)(\.md)$/;
/** All blocks of these pages are commands, their answers, or marked as not run. */
export const FOLLOWED_PAGES = PAGES.filter((path) => FOLLOWED.test(path));
export const OTHER_PAGES = PAGES.filter((path) => !FOLLOWED.test(path));
