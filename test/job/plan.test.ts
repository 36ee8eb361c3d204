import { describe, expect, test } from 'vitest';
import { plan, planSchema } from '../../lib/job/plan.ts';
import { planText } from '../../lib/job/plan-text.ts';
import {
  BY_SCHEDULER,
  EXAMPLE,
  type Given,
  inputOf,
  NOW,
  planned,
  policy,
  probeOf,
  RELAUNCH,
  SCALED,
  STOP,
  said,
  sha256,
  written,
} from './plan-given.ts';

const refusals = (given: Given): string[] => said(planned(given).refusals);
const warnings = (given: Given): string[] => said(planned(given).warnings);
const program = (changes: Record<string, unknown>) => written({ program: { command: ['./train'], ...changes } });
const partition = (name: string, changes: Record<string, unknown> = {}) =>
  written({ extensions: { slurm: { partition: name } }, ...changes });
const SCRIPT = { program: { script: '#!/bin/sh\nsrun ./train\n' } };

describe('a plan of the example', () => {
  test('can be submitted, fits its schema, and names an enforcer for every rule', () => {
    const made = planned({ spec: EXAMPLE });
    expect(planSchema.parse(made)).toEqual(made);
    expect(made.refusals).toEqual([]);
    expect(made.rules.map(({ do: action, enforcer, detects }) => [action, enforcer, detects.support])).toEqual([
      ['relaunch', 'supervisor', 'yes'],
      ['relaunch', 'supervisor', 'yes'],
      ['relaunch', 'supervisor', 'yes'],
      ['escalate', 'supervisor', 'yes'],
    ]);
    expect(made.gate).toEqual({
      mechanism: 'begin',
      selfDestructs: true,
      says: 'begin time after its deadline',
      expiresAfterSeconds: 604_800,
    });
    expect(made.login).toEqual({ id: 'default', user: 'mara' });
    expect(made.submission).toContain('{identity}');
    expect(made.facts).toEqual({ kind: 'slurm', landingBoundSeconds: 90, credentialLifeSeconds: 300, pollEverySeconds: 60 });
  });

  test('says who enforces time limit, deadline, patience, stalls and cancellation', () => {
    expect(planned({ spec: EXAMPLE }).enforces).toEqual({
      timeLimit: 'the scheduler, by --time',
      oneTaskFails: 'srun --kill-on-bad-exit',
      deadline: 'the supervisor cancels what lives at 2030-03-01T00:00:00Z and asks no rule',
      patience:
        'the scheduler ends an attempt that did not start within 7d; where it does not look (held, partition down) the supervisor, 10 min later',
      stalls: 'the supervisor cancels a run that published nothing and wrote nothing for 45m',
      cancellation: 'the supervisor asks the scheduler, repeats it, and waits until the end is seen',
    });
  });

  test('a gate that does not destroy an unreleased attempt leaves patience to the supervisor', () => {
    const input = inputOf({ spec: written({ policy: policy([{ on: ['infrastructure'], do: BY_SCHEDULER }]) }) });
    const gate = { mechanism: 'hold' as const, selfDestructs: false, says: 'held' };
    const made = plan({ ...input, rendering: { ...input.rendering!, gate } }, sha256);
    expect(made.gate).toEqual(gate);
    expect(made.requeue).toBe('scheduler');
    expect(made.enforces.patience).toMatch(/^the supervisor cancels .* the cluster does not$/);
  });
});

describe('the digest covers what is promised (contract §6)', () => {
  const digest = (given: Given) => planned(given).digest;
  const base = digest({ spec: EXAMPLE, can: { outcome_survives_purge: 'no' } });

  test.each<[string, Given]>([
    ['a later moment', { input: { now: NOW + 3_600_000 } }],
    ['other words of the same probe', { evidence: 'seen again' }],
    ['another clock offset', { facts: { clockOffsetMs: -3 } }],
  ])('%s does not change it', (_, given) => expect(digest({ spec: EXAMPLE, can: { outcome_survives_purge: 'no' }, ...given })).toBe(base));

  test.each<[string, Given]>([
    ['another name', { spec: { ...EXAMPLE, name: 'other' } }],
    ['another label', { spec: { ...EXAMPLE, labels: {} } }],
    ['a capability lost', { can: { outcome_survives_purge: 'no', detects_preemption: 'partly' } }],
    ['another user', { input: { login: { id: 'default', user: 'noor' } } }],
    ['a longer credential life', { facts: { credentialLifeSeconds: 600 } }],
    ['a deadline that has passed', { input: { now: Date.UTC(2031, 0, 1) } }],
  ])('%s changes it', (_, given) => expect(digest({ spec: EXAMPLE, can: { outcome_survives_purge: 'no' }, ...given })).not.toBe(base));
});

describe('what cannot be submitted', () => {
  test.each<[string, Given, string]>([
    [
      'a cluster that was never probed',
      { input: { probe: undefined, rendering: undefined } },
      'cluster: alps was never probed under this login; run a preflight first',
    ],
    ['a read-only cluster', { readOnly: true }, 'cluster: alps is read only: it is looked at, never written to'],
    ['no login', { input: { login: undefined } }, 'login: no login of alps allows you; ask who operates it to add you to one'],
    ['no submission allowed', { can: { submit_allowed: 'no' } }, 'cluster: alps cannot take the job: submit_allowed is "no"'],
    ['no gate', { can: { gate: 'no' } }, 'cluster: alps cannot take the job: gate is "no"'],
    ['an extension of another kind', { kind: 'memory', spec: partition('gpu') }, 'extensions.slurm: alps is of kind memory; leave it out'],
    [
      'an unknown partition',
      { spec: partition('gpus') },
      'extensions.slurm.partition: alps has no partition gpus; did you mean "gpu"? known: gpu, long, debug',
    ],
    [
      'no default partition',
      { facts: { partitions: [{ name: 'gpu', isDefault: false, nodes: 4, up: true }] } },
      'extensions.slurm.partition: alps has no default partition; name one of gpu',
    ],
    [
      'a time limit above the partition’s',
      { spec: written({ timeLimit: '86401s' }) },
      'timeLimit: 86401s is longer than partition gpu allows, 1d; lower it',
    ],
    [
      'more nodes than the partition has',
      { spec: written({ resources: { nodes: 33 } }) },
      'resources.nodes: 33 nodes are more than partition gpu has, 32; ask for fewer',
    ],
    [
      'an image without containers',
      { spec: program({ image: 'a:1' }), can: { containers: 'no' } },
      'program.image: alps runs no containers; leave it out',
    ],
    [
      'an image, containers not known',
      { spec: program({ image: 'a:1' }), can: { containers: 'unknown' } },
      'program.image: alps runs no containers; leave it out',
    ],
    ['no image on Kubernetes', { kind: 'kubernetes' }, 'program.image: is required on Kubernetes'],
    [
      'a script on Kubernetes',
      { kind: 'kubernetes', spec: written({ program: { ...SCRIPT.program, image: 'a:1' } }) },
      'program.script: cannot run on Kubernetes; use command',
    ],
    [
      'a deadline that has passed',
      { spec: written({ deadline: '2029-12-31T23:59:59Z' }) },
      'deadline: has already passed; choose a later one',
    ],
    ['a deadline of now', { spec: written({ deadline: '2030-01-01T00:00:00Z' }) }, 'deadline: has already passed; choose a later one'],
    [
      'progress without checkpoint',
      { spec: written({ checkpoint: undefined, policy: policy([], { limits: { attempts: 3, attemptsWithoutProgress: 2 } }) }) },
      'policy.limits.attemptsWithoutProgress: progress is told by publications; add checkpoint or leave it out',
    ],
    [
      'stalls that nobody sees',
      { spec: written({ policy: policy([], { limits: { attempts: 3, stalledAfter: '1h' } }) }), can: { detects_progress: 'no' } },
      'policy.limits.stalledAfter: nobody can enforce it: no progress is seen here; leave it out',
    ],
  ])('%s', (_, given, refusal) => {
    expect(refusals(given)).toEqual([refusal]);
    expect(planText(planned(given)).at(-1)).toBe('cannot be submitted: 1 refusal');
  });

  test('what the adapter refuses, a GPU type it does not know, is passed on', () => {
    const input = inputOf();
    const refused = { path: 'resources.gpuType', says: 'no b300 here; known: a100' };
    const made = plan({ ...input, rendering: { ...input.rendering!, refusals: [refused, refused] } }, sha256);
    expect(made.refusals).toEqual([refused]);
  });

  test('C061: a submission that is too large, with the numbers', () => {
    const input = inputOf();
    const made = plan({ ...input, rendering: { ...input.rendering!, text: 'x'.repeat(262_145) } }, sha256);
    expect(said(made.refusals)).toEqual(['program: the submission has 262,145 characters; at most 262,144 are allowed']);
    expect(planSchema.safeParse(made).success).toBe(true);
    expect(plan({ ...input, rendering: { ...input.rendering!, text: 'x'.repeat(262_144) } }, sha256).refusals).toEqual([]);
  });
});

describe('what is accepted', () => {
  test.each<[string, Given]>([
    ['a time limit of exactly the partition’s', { spec: written({ timeLimit: '1d' }) }],
    ['as many nodes as the partition has', { spec: written({ resources: { nodes: 32 } }) }],
    ['a longer limit in a partition that allows it', { spec: partition('long', { timeLimit: '3d' }) }],
    ['an image where containers run', { spec: program({ image: 'a:1' }) }],
    ['a memory cluster without partitions', { kind: 'memory', facts: { partitions: [] } }],
    ['Kubernetes with image and command', { kind: 'kubernetes', spec: program({ image: 'a:1' }), facts: { partitions: [] } }],
    ['a script on Slurm', { spec: written(SCRIPT) }],
  ])('%s', (_, given) => {
    expect(refusals(given)).toEqual([]);
    expect(warnings(given)).toEqual([]);
  });
});

describe('what a plan warns of', () => {
  test.each<[string, Given, string]>([
    ['C007 no accounting', { can: { outcome_survives_purge: 'no' } }, 'cluster: the cause of a job that alps has purged is lost'],
    ['C007 partly accounting', { can: { outcome_survives_purge: 'partly' } }, 'cluster: the cause of a job that alps has purged is lost'],
    ['a release that nobody tried', { can: { release: 'unknown' } }, 'cluster: release is not known of alps'],
    [
      'a secret in env',
      { spec: program({ env: { HF_TOKEN: 'x' } }) },
      'program.env.HF_TOKEN: its name contains TOKEN, and env is kept in the record; put it into secrets',
    ],
    [
      'a password in env',
      { spec: program({ env: { db_password: 'x' } }) },
      'program.env.db_password: its name contains PASSWORD, and env is kept in the record; put it into secrets',
    ],
    [
      'a deadline before one time limit',
      { spec: written({ deadline: '2030-01-01T11:59:59Z' }) },
      'deadline: comes before one whole time limit, 12h, could pass',
    ],
    [
      'a wall clock below one time limit',
      { spec: written({ policy: policy([], { limits: { attempts: 2, wallClock: '11h' } }) }) },
      'policy.limits.wallClock: is shorter than one whole time limit, 12h, queueing not counted',
    ],
    [
      'relaunch_once with one attempt',
      { spec: written({ policy: policy([], { unmatched: 'relaunch_once', limits: { attempts: 1 } }) }) },
      'policy.unmatched: relaunch_once never happens: limits.attempts is 1',
    ],
    [
      'a bucket that nodes may not reach',
      { spec: written({ checkpoint: { root: 's3://bucket/runs' } }), can: { checkpoint_files: 'no' } },
      'checkpoint.root: nodes may not reach it: checkpoint_files is "no" here; publications may fail',
    ],
    ['a partition that is down', { spec: partition('debug', { timeLimit: '10m' }) }, 'cluster: partition debug is down: the job will wait'],
    [
      'a limit above one of two partitions',
      { spec: partition('gpu,long', { timeLimit: '3d' }) },
      'timeLimit: 3d is longer than one of the partitions gpu, long allows, 1d',
    ],
  ])('%s', (_, given, warning) => {
    expect(warnings(given)).toEqual([warning]);
    expect(refusals(given)).toEqual([]);
  });

  test('the evidence stands beside the sentence, cut', () => {
    const [warning] = planned({ can: { outcome_survives_purge: 'no' }, evidence: 'x'.repeat(900) }).warnings;
    expect(warning?.evidence).toHaveLength(256);
  });
});

describe('planText: a plan for people', () => {
  test('per rule who enforces it and why, the gate, the limits, warnings', () => {
    const spec = {
      ...EXAMPLE,
      policy: policy([
        { on: ['preempted'], do: RELAUNCH },
        { on: ['out_of_memory'], do: SCALED },
        { on: ['exited'], do: STOP },
      ]),
    };
    const text = planText(planned({ spec, can: { detects_child_out_of_memory: 'no' } }));
    expect(text.map((line) => line.replace(/digest .*/, 'digest …'))).toEqual([
      'llama-70b-run-4 on alps (slurm) as mara: 16 nodes × 4 a100, 240Gi per node, 1d each, at most 10 attempts',
      '',
      'rule 0  preempted      supervisor  relaunches from the latest checkpoint, at most 3 times, after at most 30s ×2 to 15m',
      '                                   told apart: yes',
      'rule 1  out_of_memory  supervisor  relaunches from the latest checkpoint, at most 2 times, after at most 30s ×2 to 15m, memory ×1.5 to 480Gi',
      '                                   told apart: partly (detects_child_out_of_memory no: seen: detects_child_out_of_memory)',
      'rule 2  exited         supervisor  ends the job with this outcome',
      '                                   told apart: yes',
      'else                   supervisor  ends the job with its outcome',
      '',
      'gate            begin: begin time after its deadline',
      'time limit      the scheduler, by --time',
      'deadline        the supervisor cancels what lives at 2030-03-01T00:00:00Z and asks no rule',
      'patience        the scheduler ends an attempt that did not start within 7d; where it does not look (held, partition down) the supervisor, 10 min later',
      'stalls          nobody: policy.limits.stalledAfter is not set',
      'cancel          the supervisor asks the scheduler, repeats it, and waits until the end is seen',
      'one task fails  srun --kill-on-bad-exit',
      '',
      'warning  policy.rules[1].on  out_of_memory: detects_child_out_of_memory is "no" here; it may read as another cause (seen: detects_child_out_of_memory)',
      '',
      'can be submitted as planned; digest …',
    ]);
  });

  test('words of a cluster steer no terminal', () => {
    const text = planText(planned({ can: { outcome_survives_purge: 'no' }, evidence: '\u001b[2Jgone' }));
    expect(text.join('')).not.toContain('\u001b');
  });

  test('nothing is claimed of a cluster that was never probed', () => {
    const made = planned({ spec: EXAMPLE, input: { probe: undefined, rendering: undefined, login: undefined } });
    expect(planSchema.safeParse(made).success).toBe(true);
    expect(made.rules.map((rule) => rule.detects.support)).toEqual(['unknown', 'unknown', 'partly', 'unknown']);
    expect(made.gate).toBeUndefined();
    expect(planText(made).at(-1)).toBe('cannot be submitted: 2 refusals');
  });
});

test('the probe is read, never changed', () => {
  const probe = probeOf();
  const before = structuredClone(probe);
  planned({ input: { probe } });
  expect(probe).toEqual(before);
});
