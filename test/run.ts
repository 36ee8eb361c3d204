/**
 * `npm test`: everything that needs no daemon: types, lint and every test file, one after the other, whatever failed before.
 * Closes with `N passed, N failed`; exits 1 unless all passed and at least one test ran.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MINUTES = 60;

const run = (name: string, args: readonly string[]): boolean => {
  process.stdout.write(`\n== ${name}\n`);
  const { status, error } = spawnSync(process.execPath, args, { stdio: 'inherit', timeout: MINUTES * 60_000 });
  if (error) process.stdout.write(`${name}: ${error.message}\n`);
  return status === 0;
};

const bin = (path: string): string => join('node_modules', path);

/** What vitest counted, from its own report; a report that is missing or empty counts as a failure. */
const counted = (file: string): { passed: number; failed: number } => {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numTotalTests: number;
      numPendingTests: number;
    };
    const notRun = report.numTotalTests - report.numPassedTests - report.numFailedTests;
    if (notRun > 0) process.stdout.write(`${notRun} tests did not run: that is a failure here\n`);
    return { passed: report.numPassedTests, failed: report.numFailedTests + notRun + (report.numTotalTests === 0 ? 1 : 0) };
  } catch (error) {
    process.stdout.write(`no report of the tests: ${String(error)}\n`);
    return { passed: 0, failed: 1 };
  }
};

const folder = mkdtempSync(join(tmpdir(), 'dispatch-test-'));
const report = join(folder, 'report.json');
const types = run('types', [bin('typescript/bin/tsc'), '--noEmit']);
const lint = run('lint', [bin('@biomejs/biome/bin/biome'), 'check', '.']);
const tests = run('tests', [bin('vitest/vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile=${report}`]);
const { passed, failed } = counted(report);
rmSync(folder, { recursive: true, force: true });

const checks = [types, lint];
const good = checks.filter(Boolean).length;
// A run that failed without a failed test (an unhandled error, a file that could not be loaded) is a failure of its own.
const broken = tests || failed > 0 ? 0 : 1;
const bad = failed + checks.length - good + broken;
process.stdout.write(`\n${passed + good} passed, ${bad} failed\n`);
process.exitCode = bad === 0 && passed > 0 ? 0 : 1;
