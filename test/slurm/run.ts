/**
 * `npm run test:slurm`: brings a real Slurm up (test/slurm/cluster), runs every test of this folder against it as an ordinary
 * user over a real sshd, and takes it down again. Needs Debian and root; where it cannot run it says so and fails.
 *
 *   npm run test:slurm -- [--keep] [FILTER…]     --keep leaves the cluster up for a look by hand
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const keep = process.argv.includes('--keep');
const filters = process.argv.slice(2).filter((word) => word !== '--keep');

const cannot = (says: string): never => {
  process.stdout.write(`\nCANNOT RUN: ${says}\nNothing was proved about Slurm.\n\n0 passed, 1 failed\n`);
  process.exit(1);
};
if (process.getuid?.() !== 0) cannot('the test cluster needs root (it makes accounts and starts daemons)');

const rig = (program: string, ...args: string[]): boolean =>
  spawnSync(join(HERE, 'cluster', program), args, { stdio: 'inherit', timeout: 900_000 }).status === 0;

// Under /srv and not under a private temporary folder: the job's user must be able to enter it, and its path must be short.
const dir = mkdtempSync('/srv/dispatch-test-');
const report = join(dir, '..', `${dir.split('/').at(-1)}.json`);
let exit = 1;
try {
  // Credentials live 40 s here, so that the settling of a lost answer takes two minutes and not six, and a thaw within half a minute is in time.
  if (!rig('up', dir, '--set', `AuthInfo=socket=${dir}/run/munge.sock,ttl=40`)) cannot('the test cluster did not come up; see above');
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/slurm/vitest.config.ts',
    '--reporter=verbose',
    '--reporter=json',
  ];
  const ran = spawnSync(process.execPath, [...vitest, `--outputFile=${report}`, ...filters], {
    stdio: 'inherit',
    timeout: 45 * 60_000,
    env: { ...process.env, DISPATCH_TEST_CLUSTER: dir, SLURM_CONF: `${dir}/etc/slurm.conf` },
  });
  const { numPassedTests: passed, numFailedTests: failed, numTotalTests: total } = JSON.parse(readFileSync(report, 'utf8'));
  const notPassed = Math.max(total - passed, ran.status === 0 && total > 0 ? 0 : 1, failed);
  process.stdout.write(`\n${passed} passed, ${notPassed} failed\n`);
  exit = notPassed === 0 ? 0 : 1;
} finally {
  rmSync(report, { force: true });
  if (keep) process.stdout.write(`the cluster is left up: test/slurm/cluster/down ${dir}\n`);
  else rig('down', dir);
}
process.exitCode = exit;
