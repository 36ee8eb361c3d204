/**
 * The arguments of `sbatch`: everything is given on the command line, since lines in a script and variables of the login's
 * environment would otherwise have a say.
 *
 * Invariant: every submission carries a finite time limit (the gate needs one), its identity as job name, and an answer to whether
 * the scheduler may requeue it.
 */
import type { Resources } from '../../job/event.ts';
import type { Spec } from '../../job/spec.ts';
import type { RenderOptions } from '../port.ts';
import { limitMinutes } from './gate.ts';

/** How a kind of GPU is asked for on this cluster. */
export type Gpu = { readonly gres: string } | { readonly constraint: string };
export type Gpus = Readonly<Record<string, Gpu | { readonly nodeLabel: string }>>;

export interface SbatchFacts {
  readonly identity: string;
  readonly spec: Spec;
  readonly resources: Resources;
  readonly requeue: RenderOptions['requeue'];
  readonly excludeNodes: readonly string[];
  readonly gpus: Gpus;
  /** As text, since a rendering has placeholders where an attempt has moments. */
  readonly gate: { readonly hold: boolean; readonly begin?: string; readonly deadline?: string };
  readonly control: string;
  readonly log: string;
  readonly wrapper: string;
}

/** How the GPUs are asked for, or what is wrong with asking for them. */
export const gpuOptions = (spec: Spec, gpus: Gpus): { readonly gres?: string; readonly constraint?: string; readonly wrong?: string } => {
  const { gpusPerNode, gpuType } = spec.resources;
  if (gpusPerNode === 0) return {};
  if (gpuType === undefined) return { gres: `gpu:${gpusPerNode}` };
  const known = gpus[gpuType];
  if (known && 'gres' in known) return { gres: `${known.gres}:${gpusPerNode}` };
  if (known && 'constraint' in known) return { gres: `gpu:${gpusPerNode}`, constraint: known.constraint };
  const names = Object.keys(gpus).join(', ');
  return { wrong: `this cluster knows no GPU type ${gpuType}; it knows ${names === '' ? 'none' : names}` };
};

export const sbatchArguments = (facts: SbatchFacts): readonly string[] => {
  const { spec, resources, gate } = facts;
  const extension = spec.extensions.slurm ?? {};
  const { nodes, tasksPerNode, cpusPerTask } = spec.resources;
  const gpu = gpuOptions(spec, facts.gpus);
  const constraint = [extension.constraint, gpu.constraint]
    .filter((one) => one !== undefined)
    .map((one, _, all) => (all.length > 1 ? `(${one})` : one));
  const exclude = [...new Set([...(extension.exclude ?? []), ...facts.excludeNodes])];
  const optional = (name: string, value: string | number | undefined): string[] =>
    value === undefined || value === '' ? [] : [`--${name}=${value}`];
  return [
    'sbatch',
    '--parsable',
    `--job-name=${facts.identity}`,
    // By the supervisor: it allows the requeue itself, when it wants one; until then nobody else may.
    facts.requeue === 'scheduler' ? '--requeue' : '--no-requeue',
    `--time=${limitMinutes(resources.timeLimitSeconds)}`,
    `--nodes=${nodes}`,
    `--ntasks-per-node=${tasksPerNode}`,
    ...optional('cpus-per-task', cpusPerTask),
    ...optional('mem', resources.memoryPerNodeMi === undefined ? undefined : `${resources.memoryPerNodeMi}M`),
    ...optional('gres', gpu.gres),
    ...optional('partition', extension.partition),
    ...optional('account', extension.account),
    ...optional('qos', extension.qos),
    ...optional('constraint', constraint.join('&')),
    ...optional('reservation', extension.reservation),
    ...optional('exclude', exclude.join(',')),
    ...(gate.hold ? ['--hold'] : []),
    ...optional('begin', gate.begin),
    ...optional('deadline', gate.deadline),
    `--chdir=${facts.control}`,
    // Slurm fills in patterns such as %j here, and only here.
    `--output=${facts.log.replaceAll('%', '%%')}`,
    `--error=${facts.log.replaceAll('%', '%%')}`,
    // A second run must not erase what the first one said (C050).
    '--open-mode=append',
    '--export=ALL',
    '--kill-on-invalid-dep=yes',
    facts.wrapper,
  ];
};
