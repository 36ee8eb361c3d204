/** The tables of docs/api.md and docs/errors.md, from the code that they describe. `npx vitest run test/api/reference.test.ts -u` renews them. */
import { PROBLEMS } from '../../lib/api/problem.ts';
import type { Route } from '../../lib/api/route.ts';
import { ROUTES } from '../../lib/api/routes.ts';
import { table } from '../docs/reference/markdown.ts';

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
