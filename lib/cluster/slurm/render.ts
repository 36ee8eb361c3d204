/**
 * The rendering of a spec for a plan: exactly what a submission would send, with placeholders where an attempt fills in, and what
 * this cluster cannot do of what is asked (contract §6).
 */
import type { Probe } from '../../job/capability.ts';
import type { Spec } from '../../job/spec.ts';
import type { Rendering, RenderOptions } from '../port.ts';
import { runtimeOf } from './containers.ts';
import { GATE_SAYS, limitMinutes, mechanismFor, parseVersion } from './gate.ts';
import { type Buckets, bucketAt, launchOf } from './launch.ts';
import { type Gpus, gpuOptions, type SbatchFacts } from './options.ts';
import { bucketOf, type Root } from './paths.ts';
import { shell } from './remote.ts';
import { unsettable } from './wrapper.ts';

export interface RenderFacts {
  readonly at: Root;
  readonly cluster: string;
  readonly gpus: Gpus;
  readonly apiUrl: string;
  /** Buckets that the configuration names: only these can be listed. */
  readonly buckets?: Buckets;
}

type Remark = { readonly path: string; readonly says: string };

export const render = (spec: Spec, probe: Probe, options: RenderOptions, facts: RenderFacts): Rendering => {
  const version = parseVersion(probe.facts.scheduler);
  const mechanism = mechanismFor(version, options.requeue);
  const withBegin = mechanism === 'begin' || mechanism === 'begin_push';
  const withDeadline = mechanism !== undefined && mechanism !== 'hold';
  const gate = { hold: !withBegin, ...(withBegin ? { begin: 'uts{begin}' } : {}), ...(withDeadline ? { deadline: 'uts{deadline}' } : {}) };
  const refusals = refusalsOf(spec, probe, facts);
  return {
    // What no shell can hold cannot be shown as it would be sent; it is refused and never is.
    text: isSendable(spec) ? textOf(spec, probe, options, facts, gate) : 'not sent: see the refusals',
    gate: {
      mechanism: mechanism ?? 'hold',
      selfDestructs: withDeadline,
      says: mechanism ? GATE_SAYS[mechanism] : 'no gate is known for this version of Slurm',
    },
    enforces: {
      timeLimit: `Slurm after ${limitMinutes(spec.timeLimitSeconds)} min (it counts whole minutes), the wrapper after ${spec.timeLimitSeconds} s`,
      oneTaskFails: spec.program.command ? 'srun --kill-on-bad-exit=1' : 'the script itself: it calls srun',
    },
    warnings: warningsOf(spec, probe, options),
    refusals: [
      ...(mechanism ? [] : [{ path: 'cluster', says: `${probe.facts.scheduler}: no gate is known for this version` }]),
      ...refusals,
    ],
  };
};

const isSendable = (value: unknown): boolean =>
  typeof value === 'string'
    ? !value.includes('\0') && value.isWellFormed()
    : typeof value !== 'object' || value === null || Object.entries(value).every(([key, inner]) => isSendable(key) && isSendable(inner));

const textOf = (spec: Spec, probe: Probe, options: RenderOptions, facts: RenderFacts, gate: SbatchFacts['gate']): string => {
  const launch = launchOf({
    ...facts,
    ...bucketAt(spec, facts.buckets),
    job: '{job}',
    n: '{n}',
    identity: '{identity}',
    spec,
    probe,
    resources: {
      timeLimitSeconds: spec.timeLimitSeconds,
      ...(spec.resources.memoryPerNodeMi === undefined ? {} : { memoryPerNodeMi: spec.resources.memoryPerNodeMi }),
    },
    requeue: options.requeue,
    resume: '{resume}',
    excludeNodes: [],
    gate,
  });
  return `# refused on the cluster from {bound} on\n${shell(launch.arguments).replace(launch.wrapper.sha256, '{wrapper}')}\n\n${launch.wrapper.text}`;
};

const refusalsOf = (spec: Spec, probe: Probe, facts: RenderFacts): readonly Remark[] => {
  const { program, checkpoint, extensions } = spec;
  const refusals: Remark[] = [];
  const refuse = (path: string, says: string | undefined): void => void (says !== undefined && refusals.push({ path, says }));
  const { maxSeconds } = partitionOf(spec, probe) ?? {};
  if (program.image !== undefined && !runtimeOf(probe))
    refuse('program.image', `no container runtime here: ${probe.capabilities.containers.evidence}`);
  for (const [name, value] of Object.entries(program.env)) refuse(`program.env.${name}`, unsettable(name, value));
  for (const name of Object.keys(program.secrets)) refuse(`program.secrets.${name}`, unsettable(name, ''));
  if (!isSendable(spec)) refuse('program', 'the spec holds a character that no program or command line can hold');
  if (program.workdir !== undefined && !program.workdir.startsWith('/'))
    refuse('program.workdir', 'must be an absolute path on the cluster');
  const bucket = bucketOf(checkpoint?.root);
  if (bucket !== undefined) refuse('checkpoint.root', unlisted(bucket, facts.buckets ?? {}));
  else if (checkpoint?.root !== undefined && !/^\/[^\0\n]*$/.test(checkpoint.root))
    refuse('checkpoint.root', 'must be an absolute path on the cluster');
  if (program.image !== undefined && bucket === undefined && /[,:]/.test(checkpoint?.root ?? ''))
    refuse('checkpoint.root', 'must not contain , or : together with an image: both separate what is mounted');
  refuse('resources.gpuType', gpuOptions(spec, facts.gpus).wrong);
  const partition = extensions.slurm?.partition;
  if (partition !== undefined && probe.facts.partitions.length > 0 && !partitionOf(spec, probe)) {
    refuse(
      'extensions.slurm.partition',
      `no partition ${partition}; there are ${probe.facts.partitions.map((one) => one.name).join(', ')}`,
    );
  }
  if (maxSeconds !== undefined && limitMinutes(spec.timeLimitSeconds) * 60 > maxSeconds) {
    refuse('timeLimit', `beyond the partition's limit of ${maxSeconds} s`);
  }
  return refusals;
};

/** Without the configuration nobody could list what runs announce there, and nothing could ever be resumed. */
const unlisted = (bucket: string, buckets: Buckets): string | undefined => {
  const { unusable } = (Object.hasOwn(buckets, bucket) ? buckets[bucket] : undefined) ?? {};
  if (unusable !== undefined) return `bucket ${bucket} of the configuration ${unusable}`;
  if (Object.hasOwn(buckets, bucket)) return undefined;
  const names = Object.keys(buckets).join(', ');
  return `the configuration of this cluster names no bucket ${bucket}; it names ${names === '' ? 'none' : names}`;
};

/** Several may be named, as Slurm allows: then none of them is judged. */
const partitionOf = (spec: Spec, probe: Probe): Probe['facts']['partitions'][number] | undefined => {
  const name = spec.extensions.slurm?.partition;
  if (name?.includes(',')) return { name, isDefault: false, nodes: 0, up: true };
  return probe.facts.partitions.find((one) => (name === undefined ? one.isDefault : one.name === name));
};

const warningsOf = (spec: Spec, probe: Probe, options: RenderOptions): readonly Remark[] => {
  const warnings: Remark[] = [];
  const partition = partitionOf(spec, probe);
  if (partition && !partition.up) warnings.push({ path: 'extensions.slurm.partition', says: `partition ${partition.name} is not up` });
  if (partition && partition.nodes > 0 && spec.resources.nodes > partition.nodes) {
    warnings.push({
      path: 'resources.nodes',
      says: `partition ${partition.name} has ${partition.nodes} nodes: the job would wait for ever`,
    });
  }
  if (spec.program.script?.includes('\r\n'))
    warnings.push({ path: 'program.script', says: 'has DOS line ends: a shell takes the carriage return for a part of the last word' });
  if (/^#SBATCH\s/m.test(spec.program.script ?? ''))
    warnings.push({ path: 'program.script', says: 'has #SBATCH lines, which are not read: what they ask for belongs into the spec' });
  if (spec.timeLimitSeconds % 60 !== 0)
    warnings.push({ path: 'timeLimit', says: 'Slurm counts whole minutes; the wrapper enforces the seconds' });
  if (probe.capabilities.outcome_survives_purge.support !== 'yes') {
    warnings.push({
      path: 'cluster',
      says: 'accounting does not keep ended jobs here: the cause of one that the controller forgot is lost',
    });
  }
  if (options.requeue !== 'never' && Object.keys(spec.program.secrets).length > 0) {
    warnings.push({ path: 'program.secrets', says: 'a job that may be requeued keeps its file of secrets until it ends' });
  }
  return warnings;
};
