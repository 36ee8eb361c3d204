/** The tables of docs/api.md and docs/errors.md, from the code that they describe. `npx vitest run test/api/reference.test.ts -u` renews them. */
import { PROBLEMS } from '../../lib/api/problem.ts';
import type { Route } from '../../lib/api/route.ts';
import { ROUTES } from '../../lib/api/routes.ts';

/** Columns of equal width, as the formatter of the docs wants them. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
};

export const problemTable = (): string =>
  table(
    ['status', '`code`', 'what it says', 'what to do'],
    Object.entries(PROBLEMS).map(([code, { status, title, fix }]) => [String(status), `\`${code}\``, title, fix]),
  );

const accessOf = ({ access }: Route): string =>
  access === 'anyone' ? 'none' : access === 'attempt' ? 'the attempt’s token' : `\`${access}\``;

export const routeTable = (): string =>
  table(
    ['route', 'scope', 'what it does'],
    ROUTES.map((one) => [`\`${one.method.toUpperCase()} ${one.path}\``, accessOf(one), one.says]),
  );
