/**
 * A place to run the real wrapper in without a Slurm: a control folder, a checkpoint root, a fake srun, and the environment that
 * Slurm would give. Waits of the wrapper are one second here.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WrapperFacts, wrapperText } from '../../../lib/cluster/slurm/wrapper.ts';

export const SHELLS = ['dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0);

export interface Place {
  readonly root: string;
  readonly control: string;
  readonly checkpoints: string;
  file(path: string): string | undefined;
  list(path: string): string[];
  put(path: string, text: string): void;
  release(n: number, id: number | string): void;
  facts(over?: Partial<WrapperFacts>): WrapperFacts;
  script(text: string): WrapperFacts['program'];
  remove(): void;
}

/** `odd` names the folder: paths with spaces, quotes and dollars must all work. */
export const place = (odd = "a 'b' $c"): Place => {
  const root = join(mkdtempSync(join(tmpdir(), 'wrapper-')), odd);
  const control = join(root, 'control');
  const checkpoints = join(root, 'ck pt');
  for (const folder of ['release', 'bin']) mkdirSync(join(control, folder), { recursive: true });
  mkdirSync(join(checkpoints, 'pub'), { recursive: true });
  mkdirSync(join(root, 'bin'));
  // Like srun with one task per node: says how it was called, then runs the program for each node.
  const srun = `#!/bin/sh
printf '%s\\n' "$*" >> ${JSON.stringify(join(root, 'srun.calls')).replaceAll('$', '\\$')}
while :; do case $1 in --*) shift ;; *) break ;; esac; done
for node in 0 1; do SLURM_NODEID=$node "$@" || exit $?; done
`;
  writeFileSync(join(root, 'bin', 'srun'), srun);
  chmodSync(join(root, 'bin', 'srun'), 0o755);
  return {
    root,
    control,
    checkpoints,
    file: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined),
    list: (path) => (existsSync(join(root, path)) ? readdirSync(join(root, path)).sort() : []),
    put: (path, text) => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    release: (n, id) => writeFileSync(join(control, 'release', String(n)), `${id} 1800000000\n`),
    facts: (over = {}) => ({
      job: '0123456789abcdef',
      cluster: 'c1',
      n: 1,
      control,
      checkpoints,
      resume: { epoch: 0, step: -1, path: '' },
      nodes: 2,
      tasksPerNode: 1,
      timeLimitSeconds: 60,
      apiUrl: 'https://api.example',
      env: {},
      program: { kind: 'script', path: join(root, 'script') },
      within: [],
      srunOptions: [],
      allowRequeue: false,
      requeueExitCodes: [],
      timing: { lateViewSeconds: 1, lookAgainSeconds: 1, watchSeconds: 1, graceSeconds: 1 },
      ...over,
    }),
    script: (text) => {
      writeFileSync(join(root, 'script'), text);
      return { kind: 'script', path: join(root, 'script') };
    },
    remove: () => rmSync(join(root, '..'), { recursive: true, force: true }),
  };
};

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Starts the wrapper as Slurm's batch step would; `id` and `run` are what Slurm says they are. */
export const start = (shell: string, at: Place, facts: WrapperFacts, id: number | string = 7, run = 0): Running => {
  const file = join(at.root, `wrapper-${facts.n}.sh`);
  // Never rewritten: another wrapper may be reading it.
  if (!existsSync(file)) writeFileSync(file, wrapperText(facts));
  const child = spawn(shell, [file], {
    cwd: at.control,
    env: {
      PATH: `${join(at.root, 'bin')}:/usr/bin:/bin`,
      HOME: at.root,
      LC_ALL: 'C',
      SLURM_JOB_ID: String(id),
      ...(run > 0 ? { SLURM_RESTART_COUNT: String(run) } : {}),
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return { child, ended };
};

export const run = (shell: string, at: Place, facts: WrapperFacts, id: number | string = 7, count = 0): Promise<Ended> =>
  start(shell, at, facts, id, count).ended;

/** Resolves as soon as the file exists; its folder must. */
export const appears = (path: string): Promise<void> =>
  new Promise((resolve) => {
    const folder = join(path, '..');
    mkdirSync(folder, { recursive: true });
    const watcher = watch(folder, () => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    });
    if (existsSync(path)) {
      watcher.close();
      resolve();
    }
  });

/** Whether a process still does anything; one that only waits to be reaped does not. */
export const isAlive = (pid: number): boolean => {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8'));
};
