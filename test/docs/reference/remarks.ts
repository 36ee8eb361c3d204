/** Warnings and refusals of a plan, one per place in the code that makes one, in the words that plans of real specs hold. */
import { renderingOf } from '../../../lib/cluster/memory/gate.ts';
import { worldScriptSchema } from '../../../lib/cluster/memory/script.ts';
import type { Settings } from '../../../lib/cluster/memory/state.ts';
import { render } from '../../../lib/cluster/slurm/render.ts';
import type { Spec } from '../../../lib/job/spec.ts';
import {
  BY_SCHEDULER,
  BY_SUPERVISOR,
  type Given,
  inputOf,
  NOW,
  parsed,
  planned,
  policy,
  probeOf,
  RELAUNCH,
  SCALED,
  STOP,
  written,
} from '../../job/plan-given.ts';
import { code, table } from './markdown.ts';
import { isOf, type Site, sites } from './remark-sites.ts';

interface Remark {
  readonly level: 'warning' | 'refusal';
  readonly path: string;
  readonly says: string;
}

type Written = Record<string, unknown>;
type RuleWritten = { readonly on: readonly string[]; readonly when?: Written; readonly do: unknown };

const withRules = (rules: readonly RuleWritten[], changes: Written = {}, more: Omit<Given, 'spec'> = {}): Given => ({
  spec: written({ policy: policy(rules, changes) }),
  ...more,
});
const relaunch = (changes: Written): Written => ({ relaunch: { max: 3, from: 'checkpoint', ...changes } });
const kubernetes = { program: { command: ['./train'], image: 'registry.example/train' } };

/** Each is a spec, or a cluster, about which a plan has something to say. */
const GIVEN: readonly Given[] = [
  { readOnly: true },
  { input: { login: undefined, probe: undefined, rendering: undefined } },
  { spec: written({ extensions: { slurm: { partition: 'gpu' } }, ...kubernetes }), kind: 'kubernetes' },
  { can: { gate: 'no', release: 'unknown', outcome_survives_purge: 'no' } },
  { spec: written({ extensions: { slurm: { partition: 'gpux' } } }) },
  { spec: written({ extensions: { slurm: { partition: 'gpu,debug' } } }) },
  { spec: written({ extensions: { slurm: { partition: 'debug' } }, timeLimit: '2h', resources: { nodes: 4 } }) },
  { facts: { partitions: [{ name: 'gpu', isDefault: false, nodes: 32, up: true }] } },
  { spec: written({ program: { script: '#!/bin/sh\n./train\n' } }), kind: 'kubernetes' },
  { spec: written(kubernetes), can: { containers: 'no' } },
  { spec: written({ program: { command: ['./train'], env: { HF_TOKEN: 'x' } } }) },
  { spec: written({ deadline: new Date(NOW - 1000).toISOString() }) },
  { spec: written({ deadline: new Date(NOW + 3_600_000).toISOString() }) },
  withRules([], { limits: { attempts: 1, wallClock: '1h' }, unmatched: 'relaunch_once' }),
  {
    spec: written({ checkpoint: { root: 's3://saves/run' }, policy: policy([{ on: ['preempted'], do: BY_SUPERVISOR }]) }),
    can: { checkpoint_files: 'no' },
  },
  { spec: written({ checkpoint: undefined, policy: policy([], { limits: { attempts: 3, attemptsWithoutProgress: 2 } }) }) },
  withRules([], { limits: { attempts: 3, stalledAfter: '45m' } }, { can: { detects_progress: 'no' } }),
  withRules([{ on: ['stalled'], do: RELAUNCH }]),
  { input: { rendering: { ...inputOf().rendering!, text: 'x'.repeat(300_000) } } },
  withRules([{ on: ['success'], do: STOP }]),
  withRules([{ on: ['deadline'], do: STOP }]),
  withRules([{ on: ['preempted'], when: { exitCode: 3 }, do: RELAUNCH }]),
  withRules([
    { on: ['any'], do: RELAUNCH },
    { on: ['preempted'], do: STOP },
  ]),
  withRules([{ on: ['vanished'], do: STOP }], { unmatched: 'escalate' }),
  withRules([{ on: ['preempted'], do: RELAUNCH }], { limits: { attempts: 1 } }),
  withRules([{ on: ['out_of_memory'], do: RELAUNCH }]),
  withRules([{ on: ['time_limit'], do: relaunch({ from: 'scratch' }) }]),
  withRules([{ on: ['node_lost'], do: relaunch({ excludeNodes: {} }) }], {}, { can: { excludes_nodes: 'no' } }),
  { spec: written({ checkpoint: undefined, policy: policy([{ on: ['preempted'], do: RELAUNCH }]) }) },
  { spec: written({ resources: { nodes: 2 }, policy: policy([{ on: ['out_of_memory'], do: SCALED }]) }) },
  withRules([{ on: ['out_of_memory'], do: relaunch({ scale: { memoryPerNode: { by: 2, upTo: '120Gi' } } }) }]),
  withRules([{ on: ['time_limit'], do: relaunch({ scale: { timeLimit: { by: 2, upTo: '6h' } } }) }]),
  withRules([{ on: ['preempted'], do: RELAUNCH }], {}, { can: { detects_preemption: 'no' } }),
  withRules([{ on: ['preempted', 'node_lost'], do: RELAUNCH }], {}, { can: { detects_preemption: 'unknown' } }),
  withRules([{ on: ['preempted'], do: BY_SUPERVISOR }], {}, { can: { requeue_in_place: 'no' } }),
  withRules([{ on: ['preempted'], do: BY_SUPERVISOR }], {}, { can: { requeue_in_place: 'partly' } }),
  withRules([{ on: ['out_of_memory'], do: BY_SCHEDULER }]),
  withRules([{ on: ['preempted', 'out_of_memory'], do: BY_SCHEDULER }]),
  withRules([
    { on: ['preempted'], do: BY_SCHEDULER },
    { on: ['node_lost'], do: RELAUNCH },
  ]),
  withRules([{ on: ['preempted'], do: BY_SCHEDULER }], { unmatched: 'relaunch_once' }),
  withRules([], {}, { facts: { requeueExitCodes: [79, 100] } }),
  withRules([{ on: ['exited'], do: RELAUNCH }], {}, { facts: { requeueExitCodes: [100] } }),
  withRules([{ on: ['exited'], when: { exitCode: 100 }, do: RELAUNCH }], {}, { facts: { requeueExitCodes: [100] } }),
];

const remarksOf = (of: {
  readonly warnings: readonly Omit<Remark, 'level'>[];
  readonly refusals: readonly Omit<Remark, 'level'>[];
}): Remark[] => [
  ...of.refusals.map(({ path, says }) => ({ level: 'refusal' as const, path, says })),
  ...of.warnings.map(({ path, says }) => ({ level: 'warning' as const, path, says })),
];

const FACTS = { at: { root: '/srv/dispatch', tag: 'tst0' }, cluster: 'alps', gpus: { a100: { gres: 'gpu:a100' } }, apiUrl: '' };
const specOf = (changes: Written = {}): Spec => parsed(written(changes));
const onSlurm = (spec: Spec, given: Given = {}, requeue: 'never' | 'supervisor' = 'never'): Remark[] =>
  remarksOf(render(spec, probeOf(given), { requeue, patienceSeconds: spec.patienceSeconds }, FACTS));
const program = (changes: Partial<Spec['program']>): Spec => ({ ...specOf(), program: { ...specOf().program, ...changes } });
const image = { image: 'train.sif', command: ['./train'] };

const slurmRemarks = (): Remark[] => [
  ...onSlurm(specOf(), { facts: { scheduler: 'slurm 20.11.9' } }),
  ...onSlurm(program(image), { can: { containers: 'no' } }),
  ...onSlurm(program({ workdir: 'here', script: '#!/bin/sh\r\n#SBATCH --nodes=9\r\n./train\r\n' })),
  ...onSlurm(program({ command: ['\0'] })),
  ...onSlurm(specOf({ checkpoint: { root: 's3://saves/run' } })),
  ...onSlurm(specOf({ checkpoint: { root: '/scratch/a,b' }, program: image })),
  ...onSlurm(specOf({ extensions: { slurm: { partition: 'gpux' } } })),
  ...onSlurm(specOf({ timeLimit: '90061s' })),
  ...onSlurm(specOf({ extensions: { slurm: { partition: 'debug' } }, timeLimit: '20m', resources: { nodes: 4 } })),
  ...onSlurm(specOf({ resources: { nodes: 1, gpusPerNode: 1, gpuType: 'h100' } })),
  ...onSlurm(specOf({ program: { command: ['./train'], env: { UID: '0' } } })),
  ...onSlurm(
    specOf({ program: { command: ['./train'], secrets: { KEY: { ref: 'k' } } } }),
    { can: { outcome_survives_purge: 'no' } },
    'supervisor',
  ),
];

const memoryRemarks = (): Remark[] => {
  const settings = { shape: 'slurm', script: worldScriptSchema.parse({}), maxSeconds: 3600 } as unknown as Settings;
  const spec = specOf({ cluster: 'demo', extensions: { memory: { script: [{ runs: 3 }] } } });
  return remarksOf(renderingOf(settings, spec, { requeue: 'never', patienceSeconds: 60 }));
};

/** Sentences that one file makes and another passes on: they are no place of their own in the files that are looked through. */
const PASSED_ON: readonly Site[] = [
  { file: 'lib/cluster/slurm/render.ts', parts: ['this cluster knows no GPU type '] },
  { file: 'lib/cluster/slurm/render.ts', parts: ['cannot be set under Slurm: '] },
  { file: 'lib/cluster/slurm/render.ts', parts: [' names no bucket '] },
  { file: 'lib/cluster/memory/gate.ts', parts: ['script'] },
];

const allRemarks = (): ReadonlyMap<string, readonly Remark[]> => {
  const core = GIVEN.flatMap((given) => remarksOf(planned(given)));
  return new Map([
    ['core', core],
    ['lib/cluster/slurm/render.ts', slurmRemarks()],
    ['lib/cluster/memory/gate.ts', memoryRemarks()],
  ]);
};

/** One remark per place; throws for a place that no case here brings to speak. */
const shown = (): readonly (Remark & { readonly by: string })[] => {
  const all = allRemarks();
  const rows = [...sites(), ...PASSED_ON].map((site) => {
    const remark = (all.get(site.file) ?? all.get('core')!).find(({ says }) => isOf(site, says));
    if (!remark) throw new Error(`no case of the reference shows what ${site.file} says: "${site.parts.join(' … ')}"`);
    return { ...remark, by: BY[site.file] ?? 'every plan' };
  });
  const seen = new Set<string>();
  return rows
    .filter(({ says, by }) => !seen.has(`${by} ${says}`) && seen.add(`${by} ${says}`))
    .toSorted((a, b) => MAKERS.indexOf(a.by) - MAKERS.indexOf(b.by));
};

const BY: Readonly<Record<string, string>> = { 'lib/cluster/slurm/render.ts': 'Slurm', 'lib/cluster/memory/gate.ts': 'memory' };
const MAKERS = ['every plan', 'Slurm', 'memory'];

const remarkTable = (level: Remark['level']): string =>
  table(
    ['on', 'at', 'says, for example'],
    shown()
      .filter((remark) => remark.level === level)
      .map(({ by, path, says }) => [by, code(path), says]),
  );

export const refusals = (): string => remarkTable('refusal');
export const warnings = (): string => remarkTable('warning');
