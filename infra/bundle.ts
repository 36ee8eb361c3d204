/**
 * Bundle: one function as the folder that is deployed. The only place that says how code is bundled: the deployment, the benchmarks and
 * the harness that runs the deployed code locally all use it, so what is measured and tried is what runs.
 * Guards: the same sources give the same bytes, since the folder's hash decides whether a deploy changes a function.
 *
 * ES modules in several files, since only these can be split: what a function imports when it is needed (adapters, ssh2, clients of other
 * services) lies in files of its own, which a cold start neither reads nor compiles; a start takes three quarters of the time of one file that
 * holds everything. ssh2 is CommonJS and looks for `require` and `__dirname`; its two native parts are optional and stay outside.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { FUNCTION_NAMES, type FunctionName } from '../lib/aws/doors.ts';
import { variablesOf } from '../lib/aws/environment.ts';
import { PUBLISHER } from '../lib/checkpoint/publisher.ts';

export const ROOT = resolve(import.meta.dirname, '..');
/** The function's entry point, as the platform calls it. */
export const HANDLER = 'index.handler';
/** The configuration of clusters, beside the code of every function that is told of it. */
export const CLUSTERS_FILE = 'clusters.json';

/** What CommonJS packages expect to find in their module. */
const COMMONJS = [
  `import{createRequire as dispatchRequire}from'node:module';`,
  `const require=dispatchRequire(import.meta.url),__dirname=import.meta.dirname,__filename=import.meta.filename;`,
].join('');

/** `index.mjs` in that folder, and beside it the files that it imports. */
export const bundleOptions = (entry: string, folder: string): BuildOptions => ({
  absWorkingDir: ROOT,
  entryPoints: { index: entry },
  outdir: folder,
  // Beside the entry: what a module keeps beside itself is copied there.
  chunkNames: '[name]-[hash]',
  outExtension: { '.js': '.mjs' },
  banner: { js: COMMONJS },
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  // Packages as ES modules, of which only what is used is kept: a fifth less than their CommonJS.
  mainFields: ['module', 'main'],
  external: ['cpu-features', '*.node'],
  // A map of 1.5 MB would be read at every cold start; errors carry their code, and the build can be repeated.
  sourcemap: false,
  legalComments: 'none',
  logLevel: 'silent',
});

/**
 * `clusters`: the text of the configuration. Makes `folder` where it is missing: the code, and the files that it reads beside itself.
 * Throws what esbuild finds wrong.
 */
export const bundleFunction = (name: FunctionName, folder: string, clusters: string): void => {
  mkdirSync(folder, { recursive: true });
  buildSync(bundleOptions(`functions/${name}.ts`, folder));
  if (!variablesOf(name).required.includes('DISPATCH_CONFIG')) return;
  writeFileSync(join(folder, CLUSTERS_FILE), clusters);
  // Opening a Slurm cluster reads it, also in functions that then never connect.
  copyFileSync(join(ROOT, 'lib/checkpoint', `${PUBLISHER}.sh`), join(folder, `${PUBLISHER}.sh`));
};

/** All of them, each in a folder of its own name. */
export const bundleAll = (folder: string, clusters: string): void => {
  for (const name of FUNCTION_NAMES) bundleFunction(name, join(folder, name), clusters);
};
