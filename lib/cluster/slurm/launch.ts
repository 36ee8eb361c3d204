/**
 * What one submission consists of: files to upload and the submitter's arguments. A rendering (for the plan) and a submission go
 * through the same function, so that what was shown is what is sent.
 *
 * Invariant: files are named by the hash of their content; nothing is piped to the submitter, which would take a cut text for a
 * whole one (seen live: COMPLETED with half of its script).
 */
import { createHash } from 'node:crypto';
import type { Probe } from '../../job/capability.ts';
import type { Point, Resources } from '../../job/event.ts';
import { completionMarkerOf, type Spec } from '../../job/spec.ts';
import type { RenderOptions } from '../port.ts';
import { containerWords } from './containers.ts';
import { type Gpus, type SbatchFacts, sbatchArguments } from './options.ts';
import { bucketOf, checkpointsOf, controlOf, isBucket, logOf, type Root } from './paths.ts';
import { interpreterOf, type WrapperFacts, wrapperText } from './wrapper.ts';

export interface LaunchFacts {
  readonly at: Root;
  readonly cluster: string;
  readonly job: string;
  /** A number, or its placeholder in a rendering. */
  readonly n: number | string;
  readonly identity: string;
  readonly spec: Spec;
  readonly probe: Probe;
  readonly resources: Resources;
  readonly requeue: RenderOptions['requeue'];
  readonly resume: Point | string;
  readonly excludeNodes: readonly string[];
  readonly gate: SbatchFacts['gate'];
  readonly gpus: Gpus;
  readonly apiUrl: string;
  /** Where the bucket of the checkpoint root is, if it is in one. */
  readonly bucket?: NonNullable<WrapperFacts['bucket']>;
  readonly timing?: WrapperFacts['timing'];
}

/** `unusable`: why dispatch cannot list it. */
export type Buckets = Readonly<Record<string, NonNullable<WrapperFacts['bucket']> & { readonly unusable?: string }>>;

/** Where the bucket of this spec is, by the configuration. */
export const bucketAt = (spec: Spec, buckets: Buckets | undefined): Pick<LaunchFacts, 'bucket'> => {
  const name = bucketOf(spec.checkpoint?.root);
  const bucket = name !== undefined && buckets && Object.hasOwn(buckets, name) ? buckets[name] : undefined;
  return bucket ? { bucket } : {};
};

export interface UploadedFile {
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

export interface Launch {
  readonly control: string;
  readonly checkpoints: string;
  readonly arguments: readonly string[];
  readonly wrapper: UploadedFile;
  readonly script?: UploadedFile;
  readonly secretsPath?: string;
}

export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const named = (folder: string, text: string, suffix = ''): UploadedFile => {
  const hash = sha256(text);
  return { path: `${folder}/${hash}${suffix}`, text, sha256: hash };
};

export const launchOf = (facts: LaunchFacts): Launch => {
  const { spec, job, n, at } = facts;
  const control = controlOf(at, job);
  const checkpoints = checkpointsOf(at, job, spec.checkpoint?.root);
  const { program } = spec;
  const script = program.script === undefined ? undefined : named(`${control}/files`, program.script);
  const secretsPath = Object.keys(program.secrets).length > 0 ? `${control}/secrets/${n}` : undefined;
  const mounts = isBucket(checkpoints) ? [control] : [control, checkpoints];
  const container = containerWords(program.image, facts.probe, mounts, program.command !== undefined);
  const text = wrapperText({
    job,
    cluster: facts.cluster,
    n,
    control,
    checkpoints,
    ...(facts.bucket ? { bucket: facts.bucket } : {}),
    completionMarker: completionMarkerOf(spec),
    ...(program.workdir === undefined ? {} : { workdir: program.workdir }),
    resume: facts.resume,
    nodes: spec.resources.nodes,
    tasksPerNode: spec.resources.tasksPerNode,
    ...(spec.resources.cpusPerTask === undefined ? {} : { cpusPerTask: spec.resources.cpusPerTask }),
    timeLimitSeconds: facts.resources.timeLimitSeconds,
    apiUrl: facts.apiUrl,
    env: program.env,
    ...(secretsPath === undefined ? {} : { secrets: { path: secretsPath, keep: facts.requeue !== 'never' } }),
    program: script
      ? { kind: 'script', path: script.path, ...interpreterOf(script.text) }
      : { kind: 'command', words: program.command ?? [] },
    ...container,
    allowRequeue: facts.requeue === 'supervisor',
    requeueExitCodes: facts.probe.facts.requeueExitCodes,
    ...(facts.timing ? { timing: facts.timing } : {}),
  });
  const wrapper = named(`${control}/files`, text, '.sh');
  return {
    control,
    checkpoints,
    wrapper,
    ...(script ? { script } : {}),
    ...(secretsPath === undefined ? {} : { secretsPath }),
    arguments: sbatchArguments({
      identity: facts.identity,
      spec,
      resources: facts.resources,
      requeue: facts.requeue,
      excludeNodes: facts.excludeNodes,
      gpus: facts.gpus,
      gate: facts.gate,
      control,
      log: logOf(control, n),
      wrapper: wrapper.path,
    }),
  };
};
