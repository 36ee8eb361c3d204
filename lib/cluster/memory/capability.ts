/**
 * What the memory cluster can do, per shape, as a probe of it says. Guards promise 2: nothing is claimed here that
 * test/contract/adapter does not see it do.
 */
import type { Capabilities, Capability, CapabilityName, Probe } from '../../job/capability.ts';
import { CAPABILITY_NAMES } from '../../job/capability.ts';
import { clusterNow, type Settings, type State } from './state.ts';

type Claim = readonly [Capability['support'], string];

const BOTH: Partial<Record<CapabilityName, Claim>> = {
  gate: ['yes', 'an unreleased object never starts'],
  find_by_identity: ['yes', 'objects are indexed by name'],
  release: ['yes', 'lifts the gate'],
  cancel: ['yes', 'ends an object in any state'],
  dry_run: ['no', 'nothing is checked before it is sent'],
  time_limit: ['yes', 'a program is ended at its limit'],
  containers: ['yes', 'programs are scripted; the image is not looked at'],
  admission_check: ['no', 'there is no admission'],
  detects_preemption: ['yes', 'the ending says so'],
  detects_node_loss: ['yes', 'the ending names the nodes'],
  detects_out_of_memory: ['yes', 'the ending says so'],
  detects_child_out_of_memory: ['yes', 'the ending says so, with its scope'],
  detects_progress: ['yes', 'output sizes are read for any number of jobs at once'],
  exact_exit_codes: ['yes', 'as scripted'],
  says_why_pending: ['yes', 'a waiting object has a reason'],
  excludes_nodes: ['yes', 'excluded nodes are not used'],
  bulk_observation: ['yes', 'one look for any number of jobs'],
  output: ['yes', 'a dot for every second of its running'],
  output_follow: ['no', 'a reader asks again from where it was'],
  checkpoint_files: ['yes', 'publications are kept per job'],
};

const claimsOf = (settings: Settings): Record<CapabilityName, Claim> => {
  const slurm = settings.shape === 'slurm';
  const own: Partial<Record<CapabilityName, Claim>> = {
    gate_self_destructs: slurm
      ? ['yes', 'a begin time past a deadline; not for requeueable objects, which are held']
      : ['no', 'a suspended object stays'],
    landing_bound: slurm
      ? ['yes', 'the submitter checks the bound by the cluster’s clock']
      : ['no', 'not needed: a create by name happens once'],
    requeue_in_place: slurm ? ['yes', 'the same object, run + 1'] : ['no', 'an eviction ends the attempt'],
    start_deadline: slurm
      ? ['yes', 'the gate’s deadline also ends a released object that found no room']
      : ['no', 'nothing ends a waiting object'],
    outcome_survives_purge: survives(settings),
    counts_restarts: slurm ? ['yes', 'runs are counted'] : ['no', 'there is one run per attempt'],
    submit_allowed: settings.readOnly ? ['no', 'the cluster is read-only'] : ['yes', 'the login may submit'],
  };
  return { ...BOTH, ...own } as Record<CapabilityName, Claim>;
};

const survives = ({ accounting, purgeSeconds }: Settings): Claim => {
  if (accounting) return ['yes', 'accounting remembers what was purged'];
  return purgeSeconds === undefined
    ? ['yes', 'ended objects are never purged']
    : ['no', `no accounting, and purged after ${purgeSeconds} s`];
};

export const probeOf = (state: State, login: string, nowMs: number): Probe => {
  const { settings } = state;
  const claims = claimsOf(settings);
  const capabilities = Object.fromEntries(
    CAPABILITY_NAMES.map((name): [CapabilityName, Capability] => [
      name,
      { support: claims[name][0], evidence: claims[name][1], probedAt: nowMs },
    ]),
  ) as Capabilities;
  const partition = { name: 'memory', isDefault: true, nodes: 100_000, up: true };
  return {
    capabilities,
    facts: {
      scheduler: `memory ${settings.shape}`,
      credentialLifeSeconds: settings.shape === 'slurm' ? settings.credentialLifeSeconds : 0,
      clockOffsetMs: clusterNow(state) - nowMs,
      partitions: [settings.maxSeconds === undefined ? partition : { ...partition, maxSeconds: settings.maxSeconds }],
      requeueExitCodes: [],
      user: login,
    },
    probedAt: nowMs,
  };
};
