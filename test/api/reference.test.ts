/** The reference says what the code does: its tables are made from it, and differ only until they are renewed. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemTable, routeTable } from './reference.ts';

test.each([
  ['api.md', routeTable()],
  ['errors.md', problemTable()],
])('docs/%s holds the table of the code', async (file, table) => {
  const path = new URL(`../../docs/${file}`, import.meta.url);
  const [open, close] = ['<!-- from the code -->', '<!-- /from the code -->'];
  const text = readFileSync(path, 'utf8');
  const renewed = `${text.slice(0, text.indexOf(open))}${open}\n\n${table}\n\n${text.slice(text.indexOf(close))}`;
  expect(renewed).toContain(table);
  await expect(renewed).toMatchFileSnapshot(path.pathname);
});
