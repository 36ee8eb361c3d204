/** Given: a spec as a user writes it, a cluster that can do everything, and a plan made of both. */
import { createHash } from 'node:crypto';
import { CAPABILITY_NAMES, type Capabilities, type CapabilityName, type ClusterFacts, type Probe } from '../../lib/job/capability.ts';
import { parseSpec } from '../../lib/job/parse-spec.ts';
import { type Plan, plan } from '../../lib/job/plan.ts';
import type { PlanInput, Support } from '../../lib/job/plan-input.ts';
import type { Spec } from '../../lib/job/spec.ts';

export const NOW = Date.UTC(2030, 0, 1);
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Written = Record<string, unknown>;

export const RELAUNCH = { relaunch: { max: 3, from: 'checkpoint' } };
export const SCALED = { relaunch: { max: 2, from: 'checkpoint', scale: { memoryPerNode: { by: 1.5, upTo: '480Gi' } } } };
export const BY_SCHEDULER = { requeue: { max: 3, by: 'scheduler' } };
export const BY_SUPERVISOR = { requeue: { max: 3, by: 'supervisor' } };
export const STOP = { stop: {} };

/** Sixteen nodes, preemption, memory, node loss, and a question: the example of the docs. */
export const EXAMPLE: Written = {
  name: 'llama-70b-run-4',
  project: 'language',
  cluster: 'alps',
  resources: { nodes: 16, tasksPerNode: 4, gpusPerNode: 4, gpuType: 'a100', cpusPerTask: 16, memoryPerNode: '240Gi' },
  program: {
    command: ['python', '-m', 'train', '--config', 'run4.yaml'],
    workdir: '/home/mara/llama',
    env: { OMP_NUM_THREADS: '16' },
    secrets: { WANDB_API_KEY: { ref: 'wandb/mara' } },
  },
  timeLimit: '24h',
  deadline: '2030-03-01T00:00:00Z',
  checkpoint: { root: '/scratch/llama', completionMarker: 'torch-dcp', required: true },
  policy: {
    rules: [
      { on: ['preempted'], do: { relaunch: { max: 50, from: 'checkpoint' } } },
      { on: ['out_of_memory'], do: SCALED },
      {
        on: ['node_lost', 'boot_failed'],
        do: { relaunch: { max: 5, from: 'checkpoint', backoff: { initial: '1m', factor: 2, max: '30m' }, excludeNodes: { max: 4 } } },
      },
      {
        on: ['exited', 'signalled'],
        do: { escalate: { options: ['stop', 'relaunch', 'relaunch_from_scratch'], expiresAfter: '24h', onExpiry: 'stop' } },
      },
    ],
    unmatched: 'escalate',
    limits: { attempts: 60, wallClock: '30d', attemptsWithoutProgress: 3, stalledAfter: '45m' },
  },
  labels: { team: 'language', run: '4' },
  extensions: { slurm: { partition: 'gpu', account: 'lp42' } },
};

/** The smallest spec with these changes at the top. */
export const written = (changes: Written = {}): Written => ({
  name: 'train',
  cluster: 'alps',
  resources: { nodes: 2, memoryPerNode: '240Gi' },
  program: { command: ['./train'] },
  timeLimit: '12h',
  checkpoint: {},
  policy: policy([]),
  ...changes,
});

export const policy = (rules: readonly unknown[], changes: Written = {}): Written => ({
  rules,
  unmatched: 'stop',
  limits: { attempts: 10 },
  ...changes,
});

export const parsed = (input: unknown): Spec => {
  const result = parseSpec(input);
  if (!result.ok) throw new Error(JSON.stringify(result.refusals));
  return result.spec;
};

const FACTS: ClusterFacts = {
  scheduler: 'slurm 23.11.4',
  credentialLifeSeconds: 300,
  clockOffsetMs: 12,
  partitions: [
    { name: 'gpu', isDefault: true, maxSeconds: 86_400, nodes: 32, up: true },
    { name: 'long', isDefault: false, maxSeconds: 604_800, nodes: 4, up: true },
    { name: 'debug', isDefault: false, maxSeconds: 1800, nodes: 2, up: false },
  ],
  requeueExitCodes: [],
  user: 'mara',
};

export interface Given {
  readonly spec?: Written;
  readonly kind?: 'memory' | 'slurm' | 'kubernetes';
  readonly can?: Partial<Record<CapabilityName, Support>>;
  readonly facts?: Partial<ClusterFacts>;
  readonly input?: Partial<PlanInput>;
  readonly readOnly?: boolean;
  readonly evidence?: string;
}

export const probeOf = (given: Given = {}): Probe => {
  const capabilities = Object.fromEntries(
    CAPABILITY_NAMES.map((name) => [
      name,
      { support: given.can?.[name] ?? 'yes', evidence: `${given.evidence ?? 'seen'}: ${name}`, probedAt: NOW - 60_000 },
    ]),
  ) as Capabilities;
  return { capabilities, facts: { ...FACTS, ...given.facts }, probedAt: NOW - 60_000 };
};

export const inputOf = (given: Given = {}): PlanInput => ({
  spec: parsed(given.spec ?? written()),
  cluster: { id: 'alps', kind: given.kind ?? 'slurm', readOnly: given.readOnly ?? false, landingBoundSeconds: 90, pollEverySeconds: 60 },
  login: { id: 'default', user: 'mara' },
  probe: probeOf(given),
  rendering: {
    text: 'sbatch --job-name={identity} --deadline={deadline}',
    gate: { mechanism: 'begin', selfDestructs: true, says: 'begin time after its deadline' },
    enforces: { timeLimit: 'the scheduler, by --time', oneTaskFails: 'srun --kill-on-bad-exit' },
    warnings: [],
    refusals: [],
  },
  now: NOW,
  ...given.input,
});

export const planned = (given: Given = {}): Plan => plan(inputOf(given), sha256);

/** `path: says` of every remark, for tables. */
export const said = (remarks: Plan['warnings']): string[] => remarks.map(({ path, says }) => `${path}: ${says}`);
