/**
 * parseSpec: what a user wrote, read into the normalized Spec or refused with every fault and its path (contract §4).
 * Guards the boundary: beyond it durations are seconds, memory is MiB, every default is filled in, nothing is unknown, and
 * nothing is larger than a record can hold. It never throws, whatever JSON it is given.
 */
import { canonical } from './canonical.ts';
import { withinBounds } from './parse-bounds.ts';
import { policy } from './parse-policy.ts';
import { checkpoint, program } from './parse-program.ts';
import { duration, instant, memory } from './parse-quantity.ts';
import { checked, isObject, LABEL, label, listOf, object, optional, type Read, required, whole, withDefault, word } from './parse-value.ts';
import { bytesOf, childPath, counted, kindOf, noFaults, quote, type Refusal, refusalsOf, refuse } from './refusal.ts';
import { EXTENSION_KINDS, type Spec } from './spec.ts';
import { TIMING } from './timing.ts';

export const MOST_LABELS = 10;
export const LABEL_CHARACTERS = 63;
/** The spec as its first event holds it, without the script: with plan and facts beside it, it must fit one commit (300 KiB). */
export const SPEC_BYTES = 192 * 1024;

export type ParsedSpec = { readonly ok: true; readonly spec: Spec } | { readonly ok: false; readonly refusals: Refusal[] };
/** `kind`: what schedules the cluster that the spec names, where the caller knows it. */
export interface ParseOptions {
  readonly kind?: 'slurm' | 'kubernetes' | 'memory';
}

const resources: Read<Spec['resources']> = checked(
  object({
    nodes: required(whole(1, 100_000)),
    tasksPerNode: withDefault(whole(1, 1024), () => 1),
    gpusPerNode: withDefault(whole(0, 64), () => 0),
    gpuType: optional(word),
    cpusPerTask: optional(whole(1, 1024)),
    memoryPerNode: optional(memory),
  }),
  ({ memoryPerNode, ...rest }, path, faults) => {
    if (rest.gpuType !== undefined && rest.gpusPerNode === 0)
      return refuse(faults, childPath(path, 'gpuType'), 'conflict', 'names a type of zero GPUs; set gpusPerNode or leave it out');
    return { ...rest, ...(memoryPerNode !== undefined && { memoryPerNodeMi: memoryPerNode }) };
  },
);

const labelText = (value: string): string | undefined =>
  value.length > LABEL_CHARACTERS
    ? `has ${counted(value.length)} characters; at most ${LABEL_CHARACTERS} are allowed`
    : LABEL.pattern.test(value)
      ? undefined
      : `${quote(value)} must be ${LABEL.says}`;

const labels: Read<Spec['labels']> = (value, path, faults) => {
  if (!isObject(value)) return refuse(faults, path, 'wrong_type', `is ${kindOf(value)}; write an object of texts`);
  const names = Object.keys(value);
  if (names.length > MOST_LABELS)
    return refuse(faults, path, 'too_many', `has ${counted(names.length)} labels; at most ${MOST_LABELS} are allowed`);
  const before = faults.met;
  for (const name of names) {
    const at = childPath(path, name);
    const held = value[name];
    const fault = labelText(name);
    if (fault) refuse(faults, at, name.length > LABEL_CHARACTERS ? 'too_long' : 'malformed', `the name ${fault}`);
    else if (typeof held !== 'string') refuse(faults, at, 'wrong_type', `is ${kindOf(held)}; write text`);
    else if (labelText(held)) refuse(faults, at, held.length > LABEL_CHARACTERS ? 'too_long' : 'malformed', `the value ${labelText(held)}`);
  }
  return faults.met === before ? (Object.fromEntries(Object.entries(value)) as Spec['labels']) : undefined;
};

const anything: Read<unknown> = (value) => value;

const extensions: Read<Spec['extensions']> = object({
  slurm: optional(
    object({
      partition: optional(word),
      account: optional(word),
      qos: optional(word),
      constraint: optional(word),
      reservation: optional(word),
      exclude: optional(listOf(word, 256, 0)),
    }),
  ),
  kubernetes: optional(
    object({ namespace: optional(word), runtimeRef: optional(word), queue: optional(word), priorityClass: optional(word) }),
  ),
  memory: optional(object({ script: required(anything) })),
});

const extensionsOf =
  (kind: ParseOptions['kind']): Read<Spec['extensions']> =>
  (value, path, faults) => {
    const given = isObject(value) ? EXTENSION_KINDS.filter((name) => Object.hasOwn(value, name)) : [];
    for (const name of given)
      if (kind !== undefined && name !== kind)
        refuse(faults, childPath(path, name), 'wrong_cluster_kind', `the cluster is of kind ${kind}; leave it out or name another cluster`);
    // A spec names one cluster, so at most one of them can be meant, whatever its kind.
    if (kind === undefined && given.length > 1)
      refuse(faults, childPath(path, given[1]!), 'wrong_cluster_kind', `stands beside ${given[0]}; keep the one of the cluster's kind`);
    return extensions(value, path, faults);
  };

const specOf = (kind: ParseOptions['kind']): Read<Spec> =>
  checked(
    object({
      name: required(label),
      project: optional(label),
      cluster: required(label),
      login: optional(label),
      resources: required(resources, '{"nodes": ...}'),
      program: required(program, '{"command": [...]} or {"script": ...}'),
      timeLimit: required(duration(), 'a duration such as 90m or 12h'),
      deadline: optional(instant),
      patience: withDefault(duration(), () => TIMING.patienceSeconds as number),
      checkpoint: optional(checkpoint),
      policy: required(policy, '{"rules": [...], "unmatched": ..., "limits": ...}'),
      labels: withDefault(labels, () => ({}) as Spec['labels']),
      extensions: withDefault(extensionsOf(kind), () => ({}) as Spec['extensions']),
    }),
    ({ timeLimit, patience, ...rest }) => ({ ...rest, timeLimitSeconds: timeLimit, patienceSeconds: patience }),
  );

export const parseSpec = (input: unknown, options: ParseOptions = {}): ParsedSpec => {
  const faults = noFaults();
  const readable = withinBounds(input, faults);
  const spec = readable ? specOf(options.kind)(input, '', faults) : undefined;
  if (spec && faults.total === 0) {
    const { script: _, ...rest } = spec.program;
    const bytes = bytesOf(canonical({ ...spec, program: rest }));
    if (bytes <= SPEC_BYTES) return { ok: true, spec };
    refuse(faults, '', 'too_large', `the spec has ${counted(bytes)} bytes without its script; at most ${counted(SPEC_BYTES)} are allowed`);
  }
  return { ok: false, refusals: refusalsOf(faults) };
};
