/**
 * Rig: the test cluster as tests use it: its faults, its people, and dispatch pointed at it. Every command has a time limit.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ALICE = 2001;
export const DIR =
  process.env['DISPATCH_TEST_CLUSTER'] ??
  (() => {
    throw new Error('DISPATCH_TEST_CLUSTER is not set: run `npm run test:slurm`');
  })();

const run = (file: string, args: readonly string[], seconds = 60): string =>
  execFileSync(file, args, {
    timeout: seconds * 1000,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SLURM_CONF: `${DIR}/etc/slurm.conf` },
  });

export const fault = (verb: string, node?: string): string =>
  run(join(import.meta.dirname, 'cluster/fault'), [DIR, verb, ...(node ? [node] : [])], 120);

/** What ssh says when sshd turned it away at the door, as it does while many are logging in (MaxStartups): nothing was run. */
const TURNED_AWAY = /^kex_exchange_identification: /m;
const DOOR_TRIES = 40;

/** A command as an ordinary user, over SSH, as a client would. */
export const as = (user: 'alice' | 'bob', command: string, seconds = 60): string => {
  for (let tries = 1; ; tries++) {
    try {
      return run('ssh', ['-F', `${DIR}/ssh/config`, '-p', '2222', `${user}@127.0.0.1`, command], seconds);
    } catch (error) {
      const { status, stderr } = error as { readonly status?: number | null; readonly stderr?: unknown };
      if (status !== 255 || !TURNED_AWAY.test(String(stderr)) || tries === DOOR_TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
};

/** A command as the administrator, on the machine itself. */
export const asRoot = (command: string): string => run('bash', ['-c', command]);

/** A folder of alice's own for everything that one test file makes dispatch do. */
export const rootFor = (name: string): string => {
  const root = `${DIR}/home/alice/${name}`;
  mkdirSync(root, { recursive: true });
  chownSync(root, ALICE, ALICE);
  return root;
};

/** The configuration file of a cluster `lab` for that root; `more` is laid over the cluster, `beside` stands beside the clusters. */
export const configurationFor = (
  name: string,
  root: string,
  more: Readonly<Record<string, unknown>> = {},
  beside: Readonly<Record<string, unknown>> = {},
): string => {
  const hostKey = readFileSync(`${DIR}/ssh/host_ed25519.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim();
  const configuration = {
    clusters: [
      {
        id: 'lab',
        kind: 'slurm',
        root,
        pollEverySeconds: 10,
        landingBoundSeconds: 30,
        transport: { type: 'ssh', host: '127.0.0.1', port: 2222, hostKeys: [hostKey] },
        logins: [{ id: 'default', user: 'alice', privateKeyFile: `${DIR}/ssh/id_ed25519` }],
        ...more,
      },
    ],
    ...beside,
  };
  const path = `${DIR}/run/${name}.json`;
  writeFileSync(path, JSON.stringify(configuration, null, 2));
  return path;
};

/** The seconds that tests name are those of a quiet machine; who waits for what comes later anyhow waits no longer for it. */
export const SLOW = 4;

/** Waits for something of the real world to be so; fails with what it waited for. */
export const until = async <T>(what: string, seconds: number, look: () => T | undefined | Promise<T | undefined>): Promise<T> => {
  const end = Date.now() + seconds * SLOW * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${seconds * SLOW} s in vain: ${what}`);
    await delay(100);
  }
};

/** Every mark that a run of the story's program left, as `<attempt>-<run>/<mark>`: counted by the file system, not by the record. */
export const marksOf = (root: string, job: string): string[] => {
  const exec = `${root}/checkpoints/${job}/exec`;
  if (!existsSync(exec)) return [];
  return readdirSync(exec).flatMap((attempt) =>
    readdirSync(`${exec}/${attempt}`)
      .filter((name) => name.startsWith('began-'))
      .map((name) => `${attempt}/${name}`),
  );
};

export const publicationsOf = (root: string, job: string): string[] => {
  const pub = `${root}/checkpoints/${job}/pub`;
  return existsSync(pub) ? readdirSync(pub).toSorted() : [];
};

/** bob takes all of these nodes for a while, by a partition that preempts theirs. */
export const preempt = (
  nodes: string,
  seconds: number,
  partition: 'urgent' | 'apart-urgent' | 'aside-urgent' | 'away-urgent' | 'afar-urgent' = 'urgent',
): string =>
  as(
    'bob',
    `sbatch --parsable -p ${partition} -w ${nodes} --exclusive --mem=100 --time=1 --output=/dev/null --wrap='sleep ${seconds}'`,
  ).trim();

export const nodesOf = (identity: string): string => as('alice', `squeue --me -h -n ${identity} -t R -o %N`).trim();

const SHIM = '/usr/local/bin/sbatch';

/**
 * Makes a deployment's sbatch wait, on the cluster, at the moment when it would have been executed, until it is let go. The real sbatch
 * runs then: this only decides when. A dry run passes, and so does what other deployments send meanwhile.
 */
export const holdSbatch = (tag: string): { reached: () => boolean; letGo: () => void; remove: () => void } => {
  const [hold, reached] = [`${DIR}/run/hold-sbatch`, `${DIR}/home/alice/sbatch-reached`];
  rmSync(reached, { force: true });
  writeFileSync(hold, '');
  writeFileSync(
    SHIM,
    `#!/bin/sh\ncase " $* " in *" --test-only "*) exec /usr/bin/sbatch "$@" ;; *"=d${tag}-"*) ;; *) exec /usr/bin/sbatch "$@" ;; esac\nif [ -e ${hold} ]; then : > ${reached}; while [ -e ${hold} ]; do sleep 0.05; done; fi\nexec /usr/bin/sbatch "$@"\n`,
    { mode: 0o755 },
  );
  return {
    reached: () => existsSync(reached),
    letGo: () => rmSync(hold, { force: true }),
    remove: () => {
      rmSync(hold, { force: true });
      rmSync(SHIM, { force: true });
    },
  };
};
