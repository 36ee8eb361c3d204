/**
 * The one synthesis as `npm run synth` makes it: by the command, with every function bundled, under CDK's own rules and AwsSolutions, in
 * processes that cannot open a connection.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../infra/bundle.ts';
import { FUNCTION_NAMES } from '../../lib/aws/doors.ts';
import { deploymentOf, EXAMPLE, example, least, type Resource } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'dispatch-synth-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scripts = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts;

/** Nothing of this process's own: neither an account, nor a region, nor a way out. */
const environment = (): NodeJS.ProcessEnv => ({
  PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
  HOME: folder,
  NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'test/infra/offline.ts')).href}`,
});

const run = (command: string, more: NodeJS.ProcessEnv = {}) =>
  spawnSync('sh', ['-c', command], { cwd: ROOT, env: { ...environment(), ...more }, encoding: 'utf8', timeout: 300_000 });

describe('npm run synth', () => {
  const out = join(folder, 'out');
  const { status, stderr, stdout } = run(`${scripts['synth']} --output ${out}`);
  const template = (name: string) =>
    JSON.parse(readFileSync(join(out, `${name}.template.json`), 'utf8')) as { Resources: Record<string, Resource> };

  it('works offline, on nothing but what is installed, and no rule has a finding', () => {
    expect(status, `${stdout}\n${stderr}`).toBe(0);
    expect(`${stdout}${stderr}`).not.toMatch(/^(ERROR|WARNING)/m);
    expect(readdirSync(out)).toEqual(expect.arrayContaining(['State.template.json', 'App.template.json']));
  });

  it('every function has code of its own, with its handler, and what it reads beside it', () => {
    const code = Object.values(template('App').Resources).filter((one) => one.Type === 'AWS::Lambda::Function');
    const keys = new Set(code.map((one) => String(one.Properties.Code.S3Key).replace('.zip', '')));
    expect(keys.size).toBe(FUNCTION_NAMES.length);
    for (const one of code) {
      const files = readdirSync(join(out, `asset.${String(one.Properties.Code.S3Key).replace('.zip', '')}`));
      const told = one.Properties.Environment.Variables.DISPATCH_CONFIG !== undefined;
      // Beside the code, of which there may be several files.
      const beside = files.filter((file) => !file.endsWith('.mjs') || file === 'index.mjs');
      expect(beside.sort()).toEqual(told ? ['clusters.json', 'dispatch-publish.sh', 'index.mjs'] : ['index.mjs']);
      if (told)
        expect(readFileSync(join(out, `asset.${String(one.Properties.Code.S3Key).replace('.zip', '')}`, 'clusters.json'), 'utf8')).toBe(
          deploymentOf(example()).clustersText,
        );
    }
  });

  it('knows neither account nor region, so that one synthesis is good for any', () => {
    const text = readFileSync(join(out, 'App.template.json'), 'utf8') + readFileSync(join(out, 'State.template.json'), 'utf8');
    expect(text).not.toMatch(/[^0-9]111122223333[^0-9]:(?!role)/);
    expect(readdirSync(ROOT)).not.toContain('cdk.context.json');
  });

  it('a diff of the same commit is empty: made anew, code included, the app is what it was', { timeout: 300_000 }, () => {
    const context = scripts['synth']?.split(' --context ')[1];
    const again = `--output ${join(folder, 'again')} --context ${context}`;
    const said = run(`cdk diff App --exclusively --fail --template ${join(out, 'App.template.json')} ${again}`);
    expect(said.status, `${said.stdout}\n${said.stderr}`).toBe(0);
    expect(`${said.stdout}${said.stderr}`).toContain('Number of stacks with differences: 0');
  });

  it('stays far below what one stack may hold', () => {
    expect(Object.keys(template('App').Resources).length).toBeLessThan(300);
    expect(readFileSync(join(out, 'App.template.json')).length).toBeLessThan(500_000);
  });
});

describe('a deployment that is none', () => {
  const refused = (context: Record<string, unknown>) => run('node infra/app.ts', { CDK_CONTEXT_JSON: JSON.stringify(context) });

  it('is refused in one line that names file, place and fix, and nothing is synthesised', () => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify(least({ tags: 'k7m2' })));
    const { status, stderr, stdout } = refused({ deployment: file });
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `${file}: tags: unknown key; did you mean 'tag'?\n` });
  });

  it('is missing', () => {
    const file = join(folder, 'missing.json');
    const { status, stderr } = refused({ deployment: file });
    expect({ status, stderr }).toEqual({ status: 2, stderr: `${file}: cannot be read (ENOENT); docs/deploy.md shows what it holds\n` });
  });
});

describe('scripts', () => {
  it('deploy and diff read `deployment.json`, synth the example; each another one when told', () => {
    const read = (name: string) => /--context deployment=\$\{DISPATCH_DEPLOYMENT:-([\w./-]+)\}$/.exec(scripts[name] ?? '')?.[1];
    expect([read('deploy'), read('diff'), read('synth')]).toEqual(['deployment.json', 'deployment.json', EXAMPLE.slice(ROOT.length + 1)]);
  });
});
