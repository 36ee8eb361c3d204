/** Bundled: the functions as they are deployed, the two clients alone by the same options, and what of a folder is read at its start. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundleFunction, bundleOptions, ROOT } from '../../infra/bundle.ts';
import { FUNCTION_NAMES } from '../../lib/aws/doors.ts';

export interface Bundled {
  readonly name: string;
  readonly folder: string;
  /** What the platform loads. */
  readonly entry: string;
  /** Of all code in the folder. */
  readonly bytes: number;
  /** Of the code that is read before the first call: the entry and all that it imports, but for what it imports when it is needed. */
  readonly firstBytes: number;
}

/** The two clients alone, as the bundler makes one file unless told otherwise. */
export const PLAIN = 'the two clients';
/** The two clients alone, with the options of the functions. */
export const ALIKE = 'the two clients bundled alike';
/** One cluster behind SSH and one in memory: every adapter there is could be needed. */
export const CLUSTERS = JSON.stringify({
  clusters: [
    {
      ...{ id: 'lab', kind: 'slurm', root: '/srv/dispatch' },
      transport: { type: 'ssh', host: 'login.example.org', hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
      logins: [{ id: 'default', user: 'alice', privateKeyFile: 'dispatch/lab' }],
    },
  ],
});

const bundled = (name: string, folder: string): Bundled => {
  const files = readdirSync(folder).filter((file) => /\.m?js$/.test(file));
  const entry = files.find((file) => /^index\.m?js$/.test(file))!;
  const first = new Set([entry]);
  for (const file of first)
    for (const [, other] of readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)\s*"\.\/([^"]+\.m?js)"/g)) first.add(other!);
  const bytesOf = (some: Iterable<string>): number => [...some].reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  return { name, folder, entry: join(folder, entry), bytes: bytesOf(files), firstBytes: bytesOf(first) };
};

const ENTRY = join(ROOT, 'test/bench/clients-alone.ts');
const PLAIN_OPTIONS = { bundle: true, minify: true, platform: 'node', format: 'cjs', absWorkingDir: ROOT, logLevel: 'silent' } as const;

export const bundleEach = (folder: string): readonly Bundled[] => {
  const [plain, alike] = [join(folder, 'plain'), join(folder, 'alike')];
  buildSync({ ...PLAIN_OPTIONS, entryPoints: [ENTRY], outfile: join(plain, 'index.js') });
  writeFileSync(join(plain, 'package.json'), '{"type":"commonjs"}');
  buildSync(bundleOptions(ENTRY, alike));
  const functions = FUNCTION_NAMES.map((name) => {
    bundleFunction(name, join(folder, name), CLUSTERS);
    return bundled(name, join(folder, name));
  });
  return [bundled(PLAIN, plain), bundled(ALIKE, alike), ...functions];
};
