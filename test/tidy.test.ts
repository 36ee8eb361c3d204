/**
 * The rules of docs and style that a machine can check. Each test says why its rule exists; a new exception is written down here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCE = ['lib', 'functions', 'infra', 'test'].filter((folder) => existsSync(join(ROOT, folder)));

const walk = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'fixtures') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });

const files = SOURCE.flatMap((folder) => walk(join(ROOT, folder)))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }));

const importsOf = (file: { path: string; text: string }): string[] =>
  [...file.text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name]) =>
    name!.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file.path), name!)) : name!,
  );

const within = (folder: string) => files.filter((file) => file.path.startsWith(folder));
const offenders = (of: readonly { path: string; text: string }[], bad: (name: string) => boolean): string[] =>
  of.flatMap((file) =>
    importsOf(file)
      .filter(bad)
      .map((name) => `${file.path} imports ${name}`),
  );

describe('import directions', () => {
  it('lib/job is pure: it imports only zod and itself, so that facts go in and the next step comes out', () => {
    expect(offenders(within('lib/job/'), (name) => name !== 'zod' && !name.startsWith('lib/job/'))).toEqual([]);
  });
  it('lib/app reaches effects only through ports: no AWS, no SSH, no file system', () => {
    const allowed = [
      'zod',
      'node:crypto',
      'node:util',
      'lib/app/',
      'lib/job/',
      'lib/record/port.ts',
      'lib/cluster/port.ts',
      'lib/cluster/failure.ts',
      // The pure part of checkpoints: what is picked, late, or collected, and who may say so.
      ...['collect', 'marker', 'report', 'resolve', 'token'].map((name) => `lib/checkpoint/${name}.ts`),
    ];
    expect(offenders(within('lib/app/'), (name) => !allowed.some((prefix) => name.startsWith(prefix)))).toEqual([]);
  });
  it('an adapter knows the core and its port, never the record, the use cases or another kind', () => {
    for (const kind of ['slurm', 'memory']) {
      const foreign = (name: string): boolean =>
        name.startsWith('lib/') &&
        !name.startsWith('lib/job/') &&
        !name.startsWith('lib/checkpoint/') &&
        !name.startsWith(`lib/cluster/${kind}/`) &&
        !/^lib\/cluster\/(port|failure)\.ts$/.test(name);
      expect(offenders(within(`lib/cluster/${kind}/`), foreign)).toEqual([]);
    }
  });
  it('files that build commands or read answers import no transport', () => {
    const pure = within('lib/cluster/slurm/').filter((file) =>
      /\/(squeue|sacct|classify|reasons|words|gate|control-files|live|signatures)\.ts$/.test(file.path),
    );
    expect(pure.length).toBeGreaterThan(5);
    expect(offenders(pure, (name) => name.includes('/transport/') && !name.endsWith('quote.ts'))).toEqual([]);
  });
  it('production code imports nothing of the tests', () => {
    expect(offenders([...within('lib/'), ...within('functions/')], (name) => name.startsWith('test/'))).toEqual([]);
  });
});

describe('no hidden inputs', () => {
  it('nothing below the wiring reads a clock, a timer or a random number of its own', () => {
    const hidden = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bsetInterval\b|\bprocess\.env\b|\bperformance\.now\b/;
    const pure = [
      ...within('lib/job/'),
      ...within('lib/app/'),
      ...within('lib/record/'),
      ...within('lib/cluster/memory/'),
      ...within('lib/local/engine/'),
    ];
    expect(pure.filter((file) => hidden.test(stripComments(file.text))).map((file) => file.path)).toEqual([]);
  });
  it('only the wiring and the commands read the environment', () => {
    const allowed = /^(lib\/aws\/|lib\/cli\/|lib\/cluster\/open\.ts|lib\/local\/|test\/)/;
    expect(files.filter((file) => /process\.env/.test(file.text) && !allowed.test(file.path)).map((file) => file.path)).toEqual([]);
  });
});

const stripComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:])\/\/.*$/gm, '$1');

describe('names and traces', () => {
  it('no file is a drawer for anything', () => {
    const drawer = /\b(utils?|helpers?|common|manager|service|base|impl|misc)\b/;
    expect(
      files.map((file) => file.path).filter((path) => drawer.test(path.split('/').at(-1)!.replaceAll('-', ' ').replace('.ts', ''))),
    ).toEqual([]);
  });
  it('no test is focused or skipped: what does not run proves nothing', () => {
    const focused = /\b(it|test|describe)\.(only|skip|todo|fails)\b|\b(xit|xdescribe|fdescribe|fit)\(/;
    expect(
      within('test/')
        .filter((file) => !file.path.endsWith('tidy.test.ts') && focused.test(file.text))
        .map((file) => file.path),
    ).toEqual([]);
  });
  it('zod is imported as a namespace: the other form adds 264 KB of locales to every bundle', () => {
    expect(
      files
        .filter((file) => /import\s*\{\s*z\s*\}\s*from\s*'zod'/.test(file.text) && !file.path.endsWith('tidy.test.ts'))
        .map((file) => file.path),
    ).toEqual([]);
  });
  it('no empty catch: an error is handled, or it travels', () => {
    expect(
      files
        .filter((file) => /catch\s*(\([^)]*\))?\s*\{\s*\}/.test(file.text) && !file.path.endsWith('tidy.test.ts'))
        .map((file) => file.path),
    ).toEqual([]);
  });
  it('every module opens with what it is and why it exists', () => {
    const bare = [...within('lib/'), ...within('functions/')].filter((file) => !file.text.replace(/^#!.*\n/, '').startsWith('/**'));
    expect(bare.map((file) => file.path)).toEqual([]);
  });
  it('no file of production code is longer than a reader can hold', () => {
    const LONGEST = 260;
    const long = [...within('lib/'), ...within('functions/')].filter((file) => file.text.split('\n').length > LONGEST);
    expect(long.map((file) => `${file.path}: ${file.text.split('\n').length} lines`)).toEqual([]);
  });
});
