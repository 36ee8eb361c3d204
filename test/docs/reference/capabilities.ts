/** Capabilities, as docs/reference/capabilities.md prints them: what each means, and what the code makes of one that is missing. */
import { probeOf as probeOfMemory } from '../../../lib/cluster/memory/capability.ts';
import { createMemoryCluster } from '../../../lib/cluster/memory/world.ts';
import { CAPABILITY_NAMES, type CapabilityName, type ClusterFacts, capabilitySchema, type Probe } from '../../../lib/job/capability.ts';
import { CAUSE_NAMES } from '../../../lib/job/cause.ts';
import { PROBED_BY, type ProbedBy, probeSchema } from '../../../lib/job/cluster-event.ts';
import { reliedOn } from '../../../lib/job/cluster-reliance.ts';
import { detectionOf } from '../../../lib/job/plan-detect.ts';
import { TIMING } from '../../../lib/job/timing.ts';
import type { View } from '../../../lib/job/view.ts';
import { BY_SCHEDULER, type Given, parsed, planned, policy, written } from '../../job/plan-given.ts';
import { code, codes, duration, table } from './markdown.ts';
import { fieldRows } from './shapes.ts';

const MEANS: Readonly<Record<CapabilityName, string>> = {
  gate: 'an attempt can be created so that it cannot start before it is released',
  gate_self_destructs: 'an attempt that is never released ends by itself',
  landing_bound: 'a submission refuses itself on the cluster after a given moment of the cluster’s clock',
  find_by_identity: 'an attempt can be found by its name, also where its submission was never answered',
  release: 'the gate of an attempt can be opened',
  cancel: 'an attempt can be ended, in whatever state',
  requeue_in_place: 'the same object can be put back in its queue',
  dry_run: 'a submission can be checked without being made',
  time_limit: 'the cluster ends a program at its time limit',
  start_deadline: 'the cluster itself ends an attempt that does not start in time',
  containers: 'programs can run in an image',
  admission_check: 'admission to the cluster can be made to wait for dispatch',
  detects_preemption: 'an end by preemption is told apart',
  detects_node_loss: 'the loss of a node is told apart',
  detects_out_of_memory: 'a kill for memory is told apart',
  detects_child_out_of_memory: 'also one of a process inside the program, which the program may survive',
  detects_progress: 'publications and the growth of output can be seen',
  exact_exit_codes: 'the program’s own exit code or signal is known',
  outcome_survives_purge: 'how an attempt ended can be told after its scheduler has forgotten it',
  says_why_pending: 'what waits is said to wait for a reason',
  counts_restarts: 'runs of one object are counted',
  excludes_nodes: 'an attempt can be kept off given nodes',
  bulk_observation: 'one look shows every attempt, however many there are',
  output: 'what a run wrote can be read',
  output_follow: 'what a run writes is sent as it comes; without it a reader asks again from where it was',
  checkpoint_files: 'nodes can write and announce checkpoints',
  submit_allowed: 'the login may submit',
};

const toldBy = (name: CapabilityName): string => {
  const causes = CAUSE_NAMES.filter((cause) =>
    detectionOf({ on: [cause], do: { stop: {} } }, [cause], undefined).by.some(({ by }) => by === name),
  );
  return causes.length === 0 ? '' : codes(causes);
};

export const capabilities = (): string =>
  table(
    ['capability', 'tells apart', 'means'],
    CAPABILITY_NAMES.map((name) => [code(name), toldBy(name), MEANS[name]]),
  );

/** A spec that counts with as much as one can. */
const RICH = written({
  checkpoint: { root: 's3://saves/run' },
  program: { command: ['./train'], image: 'train.sif' },
  policy: policy(
    [
      { on: ['preempted'], do: BY_SCHEDULER },
      { on: ['node_lost'], do: BY_SCHEDULER },
      { on: ['boot_failed', 'launch_failed'], do: BY_SCHEDULER },
      { on: ['out_of_memory'], when: { scope: 'step' }, do: { stop: {} } },
      { on: ['out_of_memory'], when: { scope: 'child' }, do: { stop: {} } },
      { on: ['stalled'], do: { relaunch: { max: 2, from: 'checkpoint', excludeNodes: {} } } },
      { on: ['time_limit'], do: { stop: {} } },
      { on: ['exited'], do: { stop: {} } },
      { on: ['budget'], do: { stop: {} } },
      { on: ['never_landed'], do: { stop: {} } },
      { on: ['cancelled_by_admin'], do: { stop: {} } },
    ],
    { limits: { attempts: 9, stalledAfter: '45m' } },
  ),
});
const PLAIN = written({ checkpoint: undefined });

const linesOf = (given: Given): { readonly refused: Set<string>; readonly warned: Set<string> } => {
  const { refusals, warnings } = planned(given);
  const lines = (all: typeof refusals): Set<string> => new Set(all.map(({ path, says }) => `${path}: ${says}`));
  return { refused: lines(refusals), warned: lines(warnings) };
};

const adds = (before: ReadonlySet<string>, after: ReadonlySet<string>): boolean => [...after].some((line) => !before.has(line));

/** What a plan says of a cluster where this one is `no`, beside what it says of one that can do everything. */
const withoutIt = (name: CapabilityName): string => {
  const says = (spec: typeof RICH): string => {
    const [before, after] = [linesOf({ spec }), linesOf({ spec, can: { [name]: 'no' } })];
    if (adds(before.refused, after.refused)) return 'refused';
    return adds(before.warned, after.warned) ? 'warned of' : '';
  };
  const plain = says(PLAIN);
  if (plain !== '') return `every job is ${plain}`;
  const rich = says(RICH);
  return rich === '' ? 'nothing' : `jobs that need it are ${rich}`;
};

/** Whether people are asked when a probe no longer finds it. */
const whenLost = (name: CapabilityName): string => {
  const relies = (spec: typeof RICH): boolean => reliedOn({ spec: parsed(spec) } as unknown as View).includes(name);
  if (relies(PLAIN)) return 'asked, by any active job';
  return relies(RICH) ? 'asked, by an active job that needs it' : 'recorded';
};

const memory = (shape: 'slurm' | 'kubernetes'): Probe =>
  probeOfMemory(createMemoryCluster({ shape, clock: { now: () => 0 }, random: () => 0.5 }).state, 'alice', 0);

export const dependents = (): string => {
  const [slurm, kubernetes] = [memory('slurm'), memory('kubernetes')];
  return table(
    ['capability', 'a plan where it is `no`', 'when a probe finds it lost', 'memory, slurm', 'memory, kubernetes'],
    CAPABILITY_NAMES.map((name) => [
      code(name),
      withoutIt(name),
      whenLost(name),
      slurm.capabilities[name].support,
      kubernetes.capabilities[name].support,
    ]),
  );
};

/** How the probe of a Slurm cluster judges each (lib/cluster/slurm/capabilities.ts). */
const ON_SLURM: Readonly<Record<CapabilityName, string>> = {
  gate: '`yes` from 21.08 on, by the version that the controller says; `no` where no recipe was ever proved',
  gate_self_destructs: '`yes` where there is a gate; jobs that may be requeued are held without a deadline instead',
  landing_bound: '`yes` with `timeout`, `sha256sum`, `base64`, `mktemp` and `dd` on the login node',
  find_by_identity: '`yes` where `squeue` and accounting answer; `partly` without accounting, until the controller forgets a job',
  release: '`yes` where `scontrol` answers and `scancel` is there',
  cancel: 'the same; `partly` with `proctrack/pgid`, which does not end processes that leave their group',
  requeue_in_place:
    '`partly` where `scontrol` answers: the scheduler requeues; the supervisor only what runs, or whose program ended by itself',
  dry_run: '`yes` where `sbatch --test-only` succeeds',
  time_limit: '`yes`: `--time` in whole minutes, and the wrapper to the second',
  start_deadline: '`yes` where there is a gate: `--deadline`',
  containers: '`yes` with Pyxis; `partly` with Apptainer or Singularity on the login node, since compute nodes are not asked',
  admission_check: '`no`: Slurm has none',
  detects_preemption: '`yes` with accounting, or where nothing is preempted; `partly` until the controller forgets a job',
  detects_node_loss: '`yes` with accounting; `partly` until the controller forgets a job',
  detects_out_of_memory: '`yes` with `task/cgroup` and `ConstrainRAMSpace=yes`; else `no`: such a kill looks like signal 9',
  detects_child_out_of_memory: 'the same; `partly` without accounting',
  detects_progress: '`yes` where the root can be written to',
  exact_exit_codes: '`yes`: the wrapper’s result file',
  outcome_survives_purge:
    '`yes` with accounting; `partly` without, or where the configuration says that the site removes ended jobs early (`purges`): a program that ended by itself left its result file',
  says_why_pending: '`yes` where `squeue` answers',
  counts_restarts: '`yes` where `squeue` answers',
  excludes_nodes: '`yes`: `--exclude`',
  bulk_observation: '`yes` where `squeue` answers: one for all jobs of the login',
  output: '`yes` where the root can be written to',
  output_follow: '`no`',
  checkpoint_files:
    '`yes` where the root can be written to, `bash`, `awk`, `od` and `readlink` are on the login node, and `aws` or `curl` from 7.75 for `s3://` roots; `partly` when some are missing',
  submit_allowed:
    '`yes` with `sbatch`, a root that can be written to, and a dry run that succeeds, with the login’s defaults; `unknown` when only that fails',
};

export const onSlurm = (): string =>
  table(
    ['capability', 'found'],
    CAPABILITY_NAMES.map((name) => [code(name), ON_SLURM[name]]),
  );

const CAPABILITY: Readonly<Record<keyof typeof capabilitySchema.shape, string>> = {
  support: '`unknown`: it could not be asked',
  evidence: 'what it was judged by, in the cluster’s words',
  probedAt: 'when, by dispatch’s clock',
};

export const capabilityFields = (): string =>
  table(
    ['field', 'holds', 'means'],
    fieldRows(capabilitySchema.shape, (name) => CAPABILITY[name as keyof typeof CAPABILITY], 'capability'),
  );

const FACTS: Readonly<Record<keyof ClusterFacts, string>> = {
  scheduler: 'which scheduler and version, in its own words',
  credentialLifeSeconds: 'how long a request may still be honoured after its sender died',
  clockOffsetMs: 'the cluster’s clock minus dispatch’s',
  partitions: 'their names, longest time limits, sizes, and whether they are up',
  requeueExitCodes: 'exit codes by which the cluster requeues a job by itself',
  user: 'as whom it was asked',
};

export const factFields = (): string =>
  table(
    ['fact', 'holds', 'means'],
    fieldRows(probeSchema.shape.facts.shape, (name) => FACTS[name as keyof ClusterFacts], 'facts'),
  );

const WHY: Readonly<Record<ProbedBy, string>> = {
  first: 'somebody planned or submitted, and there was none',
  age: `it was needed, and older than ${duration(TIMING.probeSeconds)}`,
  configuration: 'it was needed, and the cluster’s configuration had changed',
  hand: 'a person asked: `POST /clusters/{id}/preflight`',
  blocked: 'a blocked login was tried again',
};

export const probedBy = (): string =>
  table(
    ['`by`', 'why'],
    PROBED_BY.map((by) => [code(by), WHY[by]]),
  );
