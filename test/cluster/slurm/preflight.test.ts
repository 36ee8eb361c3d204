import { describe, expect, it } from 'vitest';
import { capabilitiesOf } from '../../../lib/cluster/slurm/capabilities.ts';
import { credentialLife, factsOf, parseCodes, parseConfig, parsePartitions, parseSlurmTime } from '../../../lib/cluster/slurm/preflight.ts';
import { type Answer, readAnswers } from '../../../lib/cluster/slurm/remote.ts';
import { CAPABILITY_NAMES } from '../../../lib/job/capability.ts';

const CONFIG = `Configuration data as of 2026-11-29T21:47:29
AccountingStorageType   = accounting_storage/slurmdbd
AuthInfo                = socket=/run/munge.sock
JobRequeue              = 1
MinJobAge               = 300 sec
OverTimeLimit           = 0 min
PreemptMode             = REQUEUE
PreemptType             = preempt/partition_prio
ProctrackType           = proctrack/cgroup
RequeueExit             = 88
RequeueExitHold         = 89-90
SLURM_VERSION           = 22.05.8
SlurmdTimeout           = 300 sec
TaskPlugin              = task/affinity,task/cgroup

Cgroup Support Configuration:
ConstrainRAMSpace       = yes
`;
const PARTITIONS = `PartitionName=batch AllowGroups=ALL Default=YES MaxTime=7-01:00:00 Nodes=n[1-3] State=UP TotalCPUs=6 TotalNodes=3
PartitionName=old AllowGroups=ALL Default=NO MaxTime=UNLIMITED State=DOWN TotalNodes=1
`;
const ok = (stdout = '', stderr = ''): Answer => ({ exitCode: 0, stdout, stderr });
const bad = (stderr: string, exitCode = 1): Answer => ({ exitCode, stdout: '', stderr });
const TOOLS = 'sbatch squeue sacct scontrol scancel srun timeout sha256sum base64 mktemp dd awk od setsid bash readlink'
  .split(' ')
  .join('\n');
const site = (over: Record<string, Answer> = {}): ReadonlyMap<string, Answer> =>
  new Map(
    Object.entries({
      clock: ok('1800000000\n'),
      id: ok('uid=2001(alice) gid=2001(alice) groups=2001(alice)\n'),
      config: ok(CONFIG),
      partitions: ok(PARTITIONS),
      squeue: ok(),
      sacct: ok(),
      tools: ok(`${TOOLS}\n`),
      pyxis: bad(''),
      root: ok(),
      dry: ok('', 'sbatch: Job 47 to start at 1 using 1 processors on nodes n3 in partition batch\n'),
      ...over,
    }),
  );
const support = (over: Record<string, Answer>, name: (typeof CAPABILITY_NAMES)[number]) => capabilitiesOf(site(over), 5)[name].support;
const without = (key: string, value = ''): Record<string, Answer> => ({
  config: ok(CONFIG.replace(new RegExp(`^${key} .*\n`, 'm'), value)),
});

describe('contract §7: capabilities with their evidence', () => {
  it('each has a support, evidence and the time of the probe', () => {
    const capabilities = capabilitiesOf(site(), 5);
    expect(Object.keys(capabilities).sort()).toEqual([...CAPABILITY_NAMES].sort());
    for (const capability of Object.values(capabilities))
      expect(capability).toMatchObject({ evidence: expect.stringMatching(/\S/), probedAt: 5 });
  });

  it.each([
    ['gate', {}, 'yes'],
    ['gate', without('SLURM_VERSION', 'SLURM_VERSION = 20.11.9\n'), 'no'],
    ['gate', { config: bad('Unable to contact slurm controller') }, 'unknown'],
    ['landing_bound', { tools: ok(TOOLS.replace('timeout\n', '')) }, 'no'],
    ['find_by_identity', {}, 'yes'],
    ['find_by_identity', { sacct: bad('Slurm accounting storage is disabled') }, 'partly'],
    ['outcome_survives_purge', { sacct: bad('Slurm accounting storage is disabled') }, 'partly'],
    ['detects_preemption', { sacct: bad('Slurm accounting storage is disabled') }, 'partly'],
    ['detects_preemption', { ...without('PreemptType', 'PreemptType = preempt/none\n'), sacct: bad('disabled') }, 'yes'],
    ['detects_out_of_memory', {}, 'yes'],
    ['detects_out_of_memory', without('ConstrainRAMSpace', 'ConstrainRAMSpace = no\n'), 'no'],
    ['detects_out_of_memory', { config: bad('') }, 'unknown'],
    ['cancel', without('ProctrackType', 'ProctrackType = proctrack/pgid\n'), 'partly'],
    ['requeue_in_place', {}, 'partly'],
    ['containers', {}, 'no'],
    ['containers', { pyxis: ok() }, 'yes'],
    ['containers', { tools: ok(`${TOOLS}\napptainer\n`) }, 'partly'],
    ['submit_allowed', {}, 'yes'],
    ['submit_allowed', { root: bad('') }, 'no'],
    ['submit_allowed', { dry: bad('allocation failure: Invalid account') }, 'unknown'],
    ['submit_allowed', { tools: ok(TOOLS.replace('sbatch\n', '')) }, 'no'],
    ['checkpoint_files', { root: bad('') }, 'no'],
    ['checkpoint_files', { tools: ok(TOOLS.replace('awk\n', '')) }, 'partly'],
    // P8.1: an s3:// root needs aws, or a curl that signs.
    ['checkpoint_files', {}, 'partly'],
    ['checkpoint_files', { curl: ok('curl 7.61.1 (x86_64-redhat-linux-gnu) libcurl/7.61.1\n') }, 'partly'],
    ['checkpoint_files', { curl: ok('curl 7.75.0 (x86_64) libcurl/7.75.0\n') }, 'yes'],
    ['checkpoint_files', { curl: ok('curl 8.5.0 (x86_64) libcurl/8.5.0\n') }, 'yes'],
    ['checkpoint_files', { tools: ok(`${TOOLS}\naws\n`) }, 'yes'],
    ['output', {}, 'yes'],
    ['output', { root: bad('') }, 'no'],
    ['admission_check', {}, 'no'],
  ] as const)('%s', (name, over, expected) => expect(support(over as Record<string, Answer>, name)).toBe(expected));

  it('C007: a site that purges its accounting early never says yes to what survives a purge, and the configuration alone makes no yes', () => {
    expect(capabilitiesOf(site(), 5).outcome_survives_purge.support).toBe('yes');
    expect(capabilitiesOf(site(), 5, true).outcome_survives_purge).toMatchObject({
      support: 'partly',
      evidence: expect.stringContaining('the configuration says'),
    });
    const none = { sacct: bad('Slurm accounting storage is disabled') };
    expect(capabilitiesOf(site(none), 5, false).outcome_survives_purge.support).toBe('partly');
  });

  it('a preflight that ended early knows nothing', () => {
    for (const capability of Object.values(capabilitiesOf(new Map(), 5))) expect(capability.support).toBe('unknown');
  });
});

describe('facts', () => {
  it('are those of the controller', () => {
    expect(factsOf(site(), 1_800_000_000_500)).toEqual({
      scheduler: 'slurm 22.05.8',
      credentialLifeSeconds: 300,
      clockOffsetMs: -500,
      partitions: [
        { name: 'batch', isDefault: true, maxSeconds: 7 * 86_400 + 3600, nodes: 3, up: true },
        { name: 'old', isDefault: false, nodes: 1, up: false },
      ],
      requeueExitCodes: [88, 89, 90],
      user: 'alice',
    });
    expect(factsOf(new Map(), 0)).toMatchObject({ scheduler: 'slurm unknown', credentialLifeSeconds: 300, partitions: [] });
  });

  it.each([
    ['socket=/x,ttl=20', 20],
    ['ttl=600', 600],
    ['ttl=0', 300],
    ['cred_expire=20', 300],
    ['(null)', 300],
  ])('P3.1: a request lives as long as its credential: %s', (info, seconds) => {
    expect(credentialLife(parseConfig(`AuthInfo                = ${info}\n`))).toBe(seconds);
  });

  it.each([
    ['01:00:00', 3600],
    ['1-00:00:01', 86_401],
    ['UNLIMITED', undefined],
    ['NONE', undefined],
  ])('time %s', (text, seconds) => expect(parseSlurmTime(text)).toBe(seconds));

  it('odd text is no partition and no code', () => {
    expect(parsePartitions('No partitions in the system\n\n')).toEqual([]);
    expect(parseCodes('(null)')).toEqual([]);
    expect(parseCodes('1,3-5,250-999')).toEqual([1, 3, 4, 5, 250, 251, 252, 253, 254, 255]);
  });
});

describe('answers of one program', () => {
  const NONCE = 'abc';
  const text = (name: string, code: number, stdout: string, stderr: string): string =>
    `\n\x1c${NONCE} ${name}\n${stdout}\n\x1c${NONCE} ${code} ${name}\n${stderr}`;
  it('C045: what stands before the first mark, or looks like another mark, is nobody’s answer', () => {
    const read = readAnswers(
      `banner\n\x1cxyz clock\n1\n${text('clock', 0, '2\n', '')}${text('squeue', 1, 'rows\n\x1cxyz 0 sacct\n', 'why')}`,
      NONCE,
    );
    expect([...read]).toEqual([
      ['clock', { exitCode: 0, stdout: '2\n', stderr: '' }],
      ['squeue', { exitCode: 1, stdout: 'rows\n\x1cxyz 0 sacct\n', stderr: 'why' }],
    ]);
  });
  it('C049: a section that never ended is no answer', () => {
    expect(readAnswers(text('clock', 0, '2', '').slice(0, 12), NONCE).size).toBe(0);
  });
});
