/**
 * A login node to run the adapter's remote programs on, under a real sh: clients of Slurm that print what a test tells them to, a clock that
 * stands still, and one submission to vary. What a real Slurm does with the programs is the business of the contract suite.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Submission, Target } from '../../../lib/cluster/port.ts';
import { createSlurmAdapter, type SlurmOptions } from '../../../lib/cluster/slurm/adapter.ts';
import { FIELD } from '../../../lib/cluster/slurm/squeue.ts';
import { shellTransport } from '../../../lib/cluster/slurm/transport/shell.ts';
import type { Probe } from '../../../lib/job/capability.ts';
import { identityOf, newJobId } from '../../../lib/job/identity.ts';
import type { Spec } from '../../../lib/job/spec.ts';
import { seeded } from './seeded.ts';

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** The day is fixed by a `date` of our own, so that bounds and marks are exact. */
export const NOW = 1_800_000_000;
export const TAG = 'tst0';

export interface Site {
  readonly root: string;
  /** A client of Slurm as sh text; `$*` are its arguments. Every call is kept. */
  client(name: string, text: string): void;
  calls(): string[];
  /** What an adapter there is made with. */
  options(): SlurmOptions;
  open(over?: Partial<SlurmOptions>): ReturnType<ReturnType<typeof createSlurmAdapter>['connect']>;
}

export const site = (): Site => {
  const base = mkdtempSync(join(tmpdir(), 'site-'));
  roots.push(base);
  const root = join(base, "ro 'ot'");
  const bin = join(base, 'bin');
  mkdirSync(root);
  mkdirSync(bin);
  const made: Site = {
    root,
    client: (name, text) => {
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${base}/calls\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    calls: () => (existsSync(join(base, 'calls')) ? readFileSync(join(base, 'calls'), 'utf8').trim().split('\n') : []),
    options: () => ({
      id: 'c1',
      tag: TAG,
      root,
      now: () => 42,
      random: seeded(1),
      transports: () =>
        shellTransport(
          { env: { PATH: `${bin}:/usr/bin:/bin`, HOME: base, SBATCH_WAIT: '1' } },
          { random: (n) => randomBytes(n), nowMs: () => performance.now() },
        ),
    }),
    open: (over = {}) => createSlurmAdapter({ ...made.options(), ...over }).connect('alice'),
  };
  made.client('date', `echo ${NOW}`);
  made.client('squeue', ':');
  made.client('sacct', ':');
  made.client('scontrol', 'exit 1');
  made.client('sbatch', 'echo 77');
  made.client('scancel', ':');
  return made;
};

export const PROBE = {
  probedAt: 0,
  facts: {
    scheduler: 'slurm 22.05.8',
    credentialLifeSeconds: 300,
    clockOffsetMs: 0,
    partitions: [],
    requeueExitCodes: [88],
    user: 'alice',
  },
  capabilities: {
    containers: { support: 'no', evidence: '', probedAt: 0 },
    outcome_survives_purge: { support: 'yes', evidence: '', probedAt: 0 },
  },
} as unknown as Probe;

export const spec = (over: Partial<Spec> = {}): Spec => ({
  name: 'x',
  cluster: 'c1',
  resources: { nodes: 1, tasksPerNode: 1, gpusPerNode: 0 },
  program: { script: 'echo "it\'s é"\n', env: {}, secrets: {} },
  timeLimitSeconds: 60,
  patienceSeconds: 600,
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  labels: {},
  extensions: {},
  ...over,
});
export const job = newJobId(NOW * 1000, seeded(2));
export const identity = identityOf(TAG, job, 1);
export const submission = (over: Partial<Submission> = {}): Submission => ({
  job,
  n: 1,
  identity,
  spec: spec(),
  probe: PROBE,
  gate: { mechanism: 'begin', selfDestructs: true, clusterExpiresAt: (NOW + 600) * 1000 },
  requeue: 'never',
  resume: { epoch: 0, step: -1, path: '' },
  resources: { timeLimitSeconds: 60 },
  excludeNodes: [],
  patienceSeconds: 600,
  clusterNow: NOW * 1000,
  clusterBoundAt: (NOW + 90) * 1000,
  ...over,
});
export const shown = (over: { name?: string; submit?: number; id?: string } = {}): string =>
  `echo "JobId=${over.id ?? 77} JobName=${over.name ?? identity} UserId=alice(1)  SubmitTime=${over.submit ?? NOW + 3} EligibleTime=1 "`;
export const receipt = { cluster: 'c1', login: 'alice', schedulerId: '77', identity, submittedAt: NOW * 1000 };
export const row = (id: string, name: string, state: string, submit = NOW, reason = 'None', run = 0): string =>
  `${[id, name, state, reason, 0, 0, run, submit, submit, submit, submit, 'N/A', 'N/A', 'n1', 'n1', 'batch'].join(FIELD)}\x1e`;
export const accounted = (id: string, name: string, state: string, submit = NOW): string =>
  [id, 1, name, state, '0:0', '0:0', submit, submit, submit, submit + 5, 5, 'n1', 'batch'].join(FIELD);
export const say = (...lines: string[]): string => `cat <<'EOF'\n${lines.join('\n')}\nEOF`;
export const target = (over: Partial<Target> = {}): Target => ({
  job,
  n: 1,
  receipt,
  released: true,
  requeueable: false,
  run: 0,
  seen: 'running.0.',
  timeLimitSeconds: 60,
  ...over,
});
