/**
 * What a preflight's answers say this cluster can do: one entry per capability, each with the words it was judged by.
 *
 * Invariant guarded (promise 8): `yes` only on evidence of this cluster; where its answer was missing the support is `unknown`, and
 * what this release does not do is `no`, whatever the cluster could.
 */
import { CAPABILITY_NAMES, type Capabilities, type Capability, type CapabilityName } from '../../job/capability.ts';
import { GATE_SAYS, mechanismFor, parseVersion } from './gate.ts';
import { parseConfig } from './preflight.ts';
import type { Answers } from './remote.ts';

/** What submitting and marking use beyond a POSIX sh. */
const NEEDED = ['timeout', 'sha256sum', 'base64', 'mktemp', 'dd'];

type Support = Capability['support'];
type Judged = readonly [support: Support, evidence: string];

/** `purges`: the configuration says that accounting forgets early. */
export const capabilitiesOf = (answers: Answers, probedAt: number, purges = false): Capabilities => {
  const config = parseConfig(answers.get('config')?.stdout ?? '');
  const judged = judge(answers, config, purges);
  // Without these two nothing below was really asked; a `no` would be a guess.
  const missing = (['tools', 'root'] as const).find((name) => !answers.has(name));
  const of = (name: CapabilityName): Judged =>
    missing ? ['unknown', `the preflight ended early: ${errorOf(answers, missing)}`] : judged[name];
  return Object.fromEntries(
    CAPABILITY_NAMES.map((name) => [name, { support: of(name)[0], evidence: of(name)[1].slice(0, 1024), probedAt }]),
  ) as Record<CapabilityName, Capability>;
};

const judge = (answers: Answers, config: ReadonlyMap<string, string>, purges: boolean): Record<CapabilityName, Judged> => {
  const said = (key: string): string => config.get(key) ?? 'unreadable';
  const tools = new Set((answers.get('tools')?.stdout ?? '').split('\n'));
  const has = (...names: string[]): boolean => names.every((name) => tools.has(name));
  const version = parseVersion(said('SLURM_VERSION'));
  const mechanism = mechanismFor(version, 'never');
  const controller: Judged = isOk(answers, 'squeue') ? ['yes', 'squeue answered'] : ['unknown', errorOf(answers, 'squeue')];
  const scontrol: Judged =
    isOk(answers, 'config') && has('scontrol', 'scancel')
      ? ['yes', 'scontrol and scancel are there, and scontrol answered']
      : ['unknown', errorOf(answers, 'config')];
  const accounting = accountingOf(answers, said('AccountingStorageType'));
  const memory = detectsMemory(config, said);
  const root = isOk(answers, 'root');
  const noRoot = answers.get('root')?.stdout.trim() || 'the root does not exist or cannot be written to';
  const wrapperTools = ['bash', 'awk', 'od', 'readlink'].filter((tool) => !has(tool));
  return {
    gate: mechanism
      ? ['yes', `SLURM_VERSION ${said('SLURM_VERSION')}: ${GATE_SAYS[mechanism]}`]
      : config.size === 0
        ? ['unknown', errorOf(answers, 'config')]
        : ['no', `SLURM_VERSION ${said('SLURM_VERSION')}: no recipe was ever proved there`],
    gate_self_destructs: mechanism
      ? ['yes', 'a deadline ends an unreleased job; one that may be requeued is held without a deadline instead']
      : ['no', 'no gate'],
    landing_bound: has(...NEEDED)
      ? ['yes', 'the submission reads the cluster’s clock, and `timeout` ends the submitter at the bound']
      : ['no', `missing on the login node: ${NEEDED.filter((tool) => !has(tool)).join(', ')}`],
    find_by_identity:
      controller[0] !== 'yes'
        ? controller
        : accounting[0] === 'yes'
          ? ['yes', `squeue by name; ${accounting[1]}`]
          : ['partly', `squeue by name, until the controller forgets a job (MinJobAge ${said('MinJobAge')}); ${accounting[1]}`],
    release: scontrol,
    cancel:
      said('ProctrackType') === 'proctrack/pgid'
        ? ['partly', 'ProctrackType proctrack/pgid: processes that leave their group are not ended']
        : scontrol,
    requeue_in_place: requeueInPlace(scontrol, said),
    dry_run: isOk(answers, 'dry') ? ['yes', lastLine(answers.get('dry')?.stderr)] : ['unknown', errorOf(answers, 'dry')],
    time_limit: [
      'yes',
      `--time in whole minutes, checked about every 30 s, OverTimeLimit ${said('OverTimeLimit')}; the wrapper enforces the exact limit, unless Slurm leaves the object more`,
    ],
    start_deadline: mechanism
      ? [
          'yes',
          '--deadline: a job that could no longer end before it is ended while pending (before 24.05 not while it is held or its partition is down)',
        ]
      : ['no', 'no gate'],
    containers: containers(answers, has),
    admission_check: ['no', 'Slurm has none'],
    detects_preemption:
      said('PreemptType') === 'preempt/none'
        ? ['yes', 'PreemptType preempt/none: nothing is preempted here']
        : accounting[0] === 'yes'
          ? ['yes', `PreemptType ${said('PreemptType')}, PreemptMode ${said('PreemptMode')}; the state PREEMPTED`]
          : ['partly', `the state PREEMPTED until the controller forgets it; ${accounting[1]}`],
    detects_node_loss:
      accounting[0] === 'yes'
        ? ['yes', `the state NODE_FAIL, SlurmdTimeout ${said('SlurmdTimeout')}`]
        : ['partly', `the state NODE_FAIL until the controller forgets it; ${accounting[1]}`],
    detects_out_of_memory: memory,
    detects_child_out_of_memory:
      memory[0] === 'yes' && accounting[0] !== 'yes'
        ? ['partly', `the derived exit code until the controller forgets it; ${accounting[1]}`]
        : memory,
    detects_progress: root ? ['yes', 'publications in pub/, and the size of the output'] : ['unknown', 'the root cannot be written to'],
    exact_exit_codes: ['yes', 'the wrapper’s result file; accounting subtracts 128 from codes from 128 on before 25.11'],
    outcome_survives_purge:
      accounting[0] === 'yes'
        ? purges
          ? [
              'partly',
              'the configuration says that this site removes ended jobs from its accounting early; what was not seen by then is lost',
            ]
          : ['yes', accounting[1]]
        : ['partly', `only the result file of a program that ended by itself; ${accounting[1]}`],
    says_why_pending: controller,
    counts_restarts: controller,
    excludes_nodes: ['yes', 'sbatch --exclude'],
    bulk_observation: controller[0] === 'yes' ? ['yes', 'one squeue for all jobs of the login'] : controller,
    output: root ? ['yes', 'files of the control folder, read back in pieces'] : ['no', noRoot],
    output_follow: ['no', 'a reader asks again from where it was'],
    checkpoint_files: root ? checkpointFiles(answers, wrapperTools, has('aws')) : ['no', noRoot],
    submit_allowed: submitAllowed(answers, has('sbatch'), root ? undefined : noRoot),
  };
};

const isOk = (answers: Answers, name: string): boolean => answers.get(name)?.exitCode === 0;
const lastLine = (text: string | undefined): string => (text ?? '').trim().split('\n').at(-1) ?? '';
const errorOf = (answers: Answers, name: string): string => {
  const answer = answers.get(name);
  return answer ? `${name} ended with ${answer.exitCode}: ${lastLine(answer.stderr)}` : `${name} was not answered`;
};

const accountingOf = (answers: Answers, type: string): Judged => {
  const answer = answers.get('sacct');
  if (answer?.exitCode === 0) return ['yes', `AccountingStorageType ${type}, and sacct answered`];
  if (/accounting storage is disabled/i.test(answer?.stderr ?? ''))
    return ['no', 'no accounting here: what the controller forgets is lost'];
  return ['unknown', errorOf(answers, 'sacct')];
};

const detectsMemory = (config: ReadonlyMap<string, string>, said: (key: string) => string): Judged => {
  const words = `TaskPlugin ${said('TaskPlugin')}, ConstrainRAMSpace ${said('ConstrainRAMSpace')}`;
  if (config.size === 0) return ['unknown', words];
  const detects = said('TaskPlugin').includes('task/cgroup') && said('ConstrainRAMSpace') === 'yes';
  return detects ? ['yes', words] : ['no', `${words}: a kill for memory looks like signal 9`];
};

const containers = (answers: Answers, has: (...names: string[]) => boolean): Judged => {
  if (isOk(answers, 'pyxis')) return ['yes', 'pyxis: srun knows --container-image'];
  for (const runtime of ['apptainer', 'singularity'])
    if (has(runtime)) return ['partly', `${runtime}: on the login node; compute nodes were not asked`];
  return ['no', 'neither Pyxis nor Apptainer was found'];
};

/** Files on the root, and, for `s3://` roots, what dispatch-publish needs to announce in a bucket. Compute nodes were not asked. */
const checkpointFiles = (answers: Answers, missing: readonly string[], hasAws: boolean): Judged => {
  if (missing.length > 0) return ['partly', `missing on the login node: ${missing.join(', ')}`];
  const curl = /^curl (\d+)\.(\d+)/.exec(answers.get('curl')?.stdout ?? '');
  const signs = curl !== null && Number(curl[1]) * 1000 + Number(curl[2]) >= CURL_SIGNS;
  const found = [...(signs ? [`curl ${curl[1]}.${curl[2]}`] : []), ...(hasAws ? ['aws'] : [])];
  const written = 'the root can be written to from the login node';
  return found.length > 0
    ? ['yes', `${written}; for s3:// roots it has ${found.join(' and ')}`]
    : ['partly', `${written}; s3:// roots need aws or curl from 7.75 on the nodes, and the login node has ${curl ? curl[0] : 'neither'}`];
};
/** The first that signs requests: 7.75. */
const CURL_SIGNS = 7075;

const submitAllowed = (answers: Answers, hasSbatch: boolean, noRoot: string | undefined): Judged => {
  if (!hasSbatch) return ['no', 'sbatch is not on the path of this login'];
  if (noRoot !== undefined) return ['no', noRoot];
  const dry = answers.get('dry');
  if (dry?.exitCode === 0) return ['yes', lastLine(dry.stderr)];
  // The dry run asks for the default partition and account; a job may well name others.
  return ['unknown', errorOf(answers, 'dry')];
};

/** By the scheduler: fully. By the supervisor: an ended job can be put back only if it was allowed while it ran (seen live). */
const requeueInPlace = (scontrol: Judged, said: (key: string) => string): Judged =>
  scontrol[0] === 'yes'
    ? [
        'partly',
        `by the scheduler with --requeue (JobRequeue ${said('JobRequeue')}); by the supervisor a running job, or one whose program ended by itself`,
      ]
    : scontrol;
