/** What docs/operate.md tells people to ask of the logs while something is wrong: fields that lines have, and words that the code says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FUNCTION_NAMES } from '../../lib/aws/doors.ts';
import { createLog } from '../../lib/aws/log.ts';
import { least, synthesise } from '../infra/world.ts';
import { fencesOf } from './page.ts';
import { pageText } from './site.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = pageText('docs/operate.md');
const QUERIES = fencesOf(PAGE).filter(({ info }) => info.includes('a query of Logs Insights'));

const SOURCES = ['lib/app', 'lib/aws', 'lib/api', 'functions']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, folder, name)))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
/** What lines are given where they are said (`n` shows as `attempt`), and what all lines of an invocation have. */
const SAID = [...SOURCES.matchAll(/\blog\([\s\S]*?\);/g), ...SOURCES.matchAll(/const ABOUT = .*|log\.begin\(.*/g)]
  .map(([text]) => text)
  .join('\n');
const isSaid = (field: string): boolean => new RegExp(`\\b${field === 'attempt' ? 'n: ' : field}\\b`).test(SAID);

let lines: string[] = [];
beforeEach(() => {
  lines = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((chunk: unknown) => {
      lines.push(String(chunk));
      return true;
    });
});
afterEach(() => vi.restoreAllMocks());

const fieldsOfLine = (): readonly string[] => {
  const { log, begin } = createLog('dispatch-k7m2');
  const invocation = { functionName: 'jobs', functionVersion: '$LATEST', invokedFunctionArn: 'arn', memoryLimitInMB: '512' };
  begin({ ...invocation, awsRequestId: 'r', getRemainingTimeInMillis: () => 1 }, {});
  log('info', 'x', {});
  return Object.keys(JSON.parse(lines.find((line) => line.includes('"message":"x"')) ?? '{}') as object);
};

const accessFields = (): readonly string[] => {
  const [stage] = synthesise(least()).app.of('AWS::ApiGatewayV2::Stage');
  return Object.keys(JSON.parse(stage![1].Properties.AccessLogSettings.Format as string) as object);
};

const WORDS = 'filter sort display stats limit fields by as and or not like asc desc count max'.split(' ');
const namesIn = (query: string): readonly string[] =>
  [...query.replaceAll(/"[^"]*"/g, '').matchAll(/@?[A-Za-z_]\w*/g)].map(([name]) => name).filter((name) => !WORDS.includes(name));

describe('queries', () => {
  it('there are some', () => expect(QUERIES.length).toBeGreaterThan(5));

  it.each(QUERIES.map(({ line, text }) => ({ line, text })))('line $line asks for fields that there are', ({ text }) => {
    const named = [...text.matchAll(/\bas (\w+)/g)].map(([, name]) => name);
    const known = new Set([...fieldsOfLine(), ...accessFields(), ...named, '@timestamp']);
    expect(namesIn(text).filter((name) => !known.has(name) && !isSaid(name))).toEqual([]);
  });

  it('a message that is looked for is one that is said', () => {
    const messages = [...PAGE.matchAll(/message = "([^"]+)"/g)].map(([, message]) => message!);
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.filter((message) => !SOURCES.includes(`'${message}'`))).toEqual([]);
  });

  it('every field of the table is one', () => {
    const rows = PAGE.split('| field ')[1]!
      .split('\n\n')[0]!
      .matchAll(/^\| (`[^|]+`)\s*\|/gm);
    const fields = [...rows].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
    expect(fields.length).toBeGreaterThan(10);
    const known = fieldsOfLine();
    expect(fields.filter((name) => !known.includes(name) && !isSaid(name))).toEqual([]);
  });
});

it('a function is found by its logical id', () => {
  const ids = synthesise(least())
    .app.of('AWS::Lambda::Function')
    .map(([id]) => id);
  for (const name of FUNCTION_NAMES) expect(ids.filter((id) => id.includes(`Functions${name}Function`))).toHaveLength(1);
  for (const [, name] of PAGE.matchAll(/\$\(fn (\w+)\)/g)) expect(FUNCTION_NAMES).toContain(name);
});
