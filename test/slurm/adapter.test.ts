/**
 * The adapter contract on the real Slurm, as alice over SSH. Cases run beside each other; what would disturb a neighbour has
 * nodes of its own: a lost node is n4 (partition `forever`), a preempted attempt fills n12 (`afar`).
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createSlurmAdapter } from '../../lib/cluster/slurm/adapter.ts';
import { sshTransport } from '../../lib/cluster/slurm/transport/ssh.ts';
import type { Cause } from '../../lib/job/cause.ts';
import type { Receipt } from '../../lib/job/event.ts';
import { newJobId } from '../../lib/job/identity.ts';
import type { Spec } from '../../lib/job/spec.ts';
import type { Attempt, Facts, Harness, Program, Provocation } from '../contract/adapter/harness.ts';
import { adapterContract } from '../contract/adapter/suite.ts';
import { as, asRoot, DIR, fault, preempt, rootFor, SLOW, until } from './rig.ts';

const TAG = 'adap';
const LOGIN = 'default';
const root = rootFor('adapter');

const BEGIN = `#!/bin/bash
set -eu
mkdir -p "$DISPATCH_EXEC_DIR"
env -0 > "$DISPATCH_EXEC_DIR/environment-$(date +%s%N)-$$"
publish() {
  save=exec/$DISPATCH_ATTEMPT/step-$1
  mkdir -p "$DISPATCH_CHECKPOINT_ROOT/$save" "$DISPATCH_CHECKPOINT_ROOT/pub"
  name=$(printf '%020d-%020d-%s' "$DISPATCH_EPOCH" "$1" "$(printf %s "$save" | base32 -w0 | tr -d = | tr A-Z a-z)")
  ( set -C; : > "$DISPATCH_CHECKPOINT_ROOT/pub/$name" )
}
`;
const base = '$' + '{DISPATCH_RESUME_STEP:-0}';
const PROGRAMS: Record<Program, string> = {
  quick: 'sleep 1\n',
  publishes: `publish $((${base} + 5)); publish $((${base} + 10)); sleep 1\n`,
  long: 'for i in $(seq 300); do echo "second $i"; sleep 1; done\n',
  waits: 'sleep 1\n',
};

const specOf = (
  program: string,
  overrides: Partial<Spec> = {},
  slurm: NonNullable<Spec['extensions']['slurm']> = { partition: 'batch' },
): Spec => ({
  name: 'contract',
  cluster: 'lab',
  resources: { nodes: 1, tasksPerNode: 1, gpusPerNode: 0, memoryPerNodeMi: 100 },
  program: { script: BEGIN + program, env: {}, secrets: {} },
  timeLimitSeconds: 300,
  patienceSeconds: 3600,
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  labels: {},
  extensions: { slurm },
  ...overrides,
});

const whole = { resources: { nodes: 1, tasksPerNode: 2, gpusPerNode: 0, memoryPerNodeMi: 100 } };

const causeOf = (cause: Cause): Provocation => {
  switch (cause) {
    case 'completed':
      return { spec: specOf('true\n') };
    case 'exited':
      return { spec: specOf('exit 3\n'), detail: { code: 3 } };
    case 'signalled':
      return { spec: specOf('kill -9 $$\n'), detail: { signal: 9 } };
    case 'out_of_memory':
      return { spec: specOf(`srun python3 -c 'x = bytearray(2**29)'\n`), detail: { scope: 'step' } };
    case 'time_limit':
      return { spec: specOf('sleep 200\n', { timeLimitSeconds: 60 }) };
    case 'preempted':
      return {
        spec: specOf(PROGRAMS.long, whole, { partition: 'afar' }),
        provoke: async (attempt) => void preempt(nodeOf(attempt.receipt), 5, 'afar-urgent'),
      };
    case 'node_lost':
      return {
        spec: specOf(PROGRAMS.long, {}, { partition: 'forever' }),
        provoke: async () => {
          fault('node-down', 'n4');
          fault('node-up', 'n4');
        },
        detail: { failedNodes: ['n4'] },
      };
    case 'cancelled_by_admin':
      return { spec: specOf(PROGRAMS.long), provoke: async ({ receipt }) => void asRoot(`scancel ${receipt.schedulerId}`) };
    case 'rejected':
      return { spec: specOf('true\n', {}, { partition: 'nosuchpartition' }) };
    default:
      throw new Error(`not provoked here: ${cause}`);
  }
};

const nodeOf = (receipt: Receipt): string => as('alice', `squeue -h -j ${receipt.schedulerId} -o %N`).trim();

const execFolders = ({ job, n }: Attempt): string[] => {
  const exec = `${root}/checkpoints/${job}/exec`;
  return existsSync(exec)
    ? readdirSync(exec)
        .filter((name) => name.startsWith(`${n}-`))
        .map((name) => `${exec}/${name}`)
        .toSorted()
    : [];
};
const environmentsOf = (attempt: Attempt): string[] =>
  execFolders(attempt).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.startsWith('environment-'))
      .map((name) => `${folder}/${name}`),
  );

const environmentOf = async (attempt: Attempt): Promise<Record<string, string> | undefined> => {
  const file = environmentsOf(attempt).at(-1);
  if (!file) return undefined;
  const lines = readFileSync(file, 'utf8')
    .split('\0')
    .filter((line) => line.includes('='));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
};

const open = async (): Promise<Harness> => {
  const hostKey = readFileSync(`${DIR}/ssh/host_ed25519.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim();
  const sources = { random: (bytes: number) => randomBytes(bytes), nowMs: () => performance.now() };
  const ssh = {
    host: '127.0.0.1',
    port: 2222,
    user: 'alice',
    hostKeys: [hostKey],
    privateKey: async () => readFileSync(`${DIR}/ssh/id_ed25519`, 'utf8'),
    totalSeconds: 3000,
    readyTimeoutSeconds: 60,
  };
  const adapter = createSlurmAdapter({
    id: 'lab',
    tag: TAG,
    root,
    transports: () => sshTransport(ssh, sources),
    random: Math.random,
    wrapperTiming: { lateViewSeconds: 6, lookAgainSeconds: 1, watchSeconds: 3 },
  });
  return {
    // Everybody begins at once: sshd may turn some away.
    adapter: { ...adapter, connect: (login) => until('a connection', 45, () => adapter.connect(login).catch(() => undefined)) },
    ...{ tag: TAG, cluster: 'lab', login: LOGIN },
    newJob: () => newJobId(Date.now(), Math.random),
    makeSpec: (program, overrides = {}) => specOf(PROGRAMS[program], overrides, { partition: program === 'waits' ? 'down' : 'batch' }),
    advance: (seconds) => delay(seconds * 1000),
    async until(predicate, seconds) {
      const end = Date.now() + seconds * SLOW * 1000;
      while (!(await predicate())) {
        if (Date.now() > end) throw new Error(`still not so after ${seconds * SLOW} s`);
        await delay(700);
      }
    },
    now: Date.now,
    cause: causeOf,
    environmentOf,
    nodeOf: async (attempt) => (await environmentOf(attempt))?.['SLURM_JOB_NODELIST'] ?? '',
    executionsOf: async (attempt) => environmentsOf(attempt).length,
    others: {
      submit: async (name) =>
        receiptOf(as('alice', `sbatch --parsable --hold --time=2 -J ${name} --output=/dev/null --wrap='sleep 1'`).trim(), name),
      // The same wrapper under the same name, not gated: what a sender would have made that nobody knows of.
      submitAgain: async ({ receipt }) => {
        const command = /Command=(\S+)/.exec(as('alice', `scontrol show job ${receipt.schedulerId}`))?.[1];
        const id = as(
          'alice',
          `sbatch --parsable --no-requeue --time=2 --mem=100 -p batch -J ${receipt.identity} --output=/dev/null --error=/dev/null ${command}`,
        ).trim();
        return receiptOf(id, receipt.identity);
      },
      isAlive: async ({ schedulerId }) =>
        /^(PD|R|CG|CF|S)$/m.test(as('alice', `squeue --me -h -t all -o '%i %t' | sed -n 's/^${schedulerId} //p'`)),
    },
    limits: { startSeconds: 90, endSeconds: 60, watchSeconds: 20, gateSeconds: 30, expireSeconds: 110, requeueSeconds: 140 },
  };
};

const receiptOf = (schedulerId: string, identity: string): Receipt => {
  const submitted = /SubmitTime=(\S+)/.exec(as('alice', `SLURM_TIME_FORMAT=%s scontrol show job ${schedulerId}`))?.[1];
  return { cluster: 'lab', login: LOGIN, schedulerId, identity, submittedAt: Number(submitted) * 1000 };
};

const facts: Facts = {
  supports: new Set([
    'marks',
    'landing_bound',
    'queued',
    'second_object',
    'foreign',
    'gate_self_destructs',
    'requeue_in_place',
    'excludes_nodes',
    'output_bytes',
  ]),
  causes: ['completed', 'exited', 'signalled', 'out_of_memory', 'time_limit', 'preempted', 'node_lost', 'cancelled_by_admin', 'rejected'],
  unexercised: {
    start_deadline: 'shown by recordings: what waits in a partition that is down is not evaluated at all',
    dry_run: 'shown by the probe itself',
    outcome_survives_purge: 'MinJobAge is 10 s here: every end that a case waits for is read after the purge or just before it',
    detects_child_out_of_memory: 'a step is the child here: out_of_memory with scope step',
    output: 'read by offset in the API of outputs',
    output_follow: 'read by offset in the API of outputs',
  },
  timeoutMs: 1_500_000,
  concurrent: true,
  open,
};

adapterContract('Slurm 22.05, as an ordinary user over SSH', facts);
