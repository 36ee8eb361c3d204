/** The spec, the policy and the plan, as docs/reference/policy-and-plan.md prints them. */
import * as z from 'zod';
import { writtenSpecSchema } from '../../../lib/api/schema/spec.ts';
import { GATE_SAYS, mechanismFor, parseVersion } from '../../../lib/cluster/slurm/gate.ts';
import { CAUSE_NAMES } from '../../../lib/job/cause.ts';
import { MESSAGE_CHARACTERS, MOST_ATTEMPTS, MOST_RULES, SCOPES } from '../../../lib/job/parse-policy.ts';
import { COMMAND_BYTES, ENVIRONMENT_BYTES, ENVIRONMENT_NAMES, SCRIPT_BYTES } from '../../../lib/job/parse-program.ts';
import { LABEL_CHARACTERS, MOST_LABELS, SPEC_BYTES } from '../../../lib/job/parse-spec.ts';
import { missingDetail } from '../../../lib/job/plan-match.ts';
import { ENFORCERS } from '../../../lib/job/plan-rules.ts';
import { type Plan, planSchema } from '../../../lib/job/plan-schema.ts';
import type { Rule } from '../../../lib/job/policy.ts';
import { parsed, policy as policyOf, RELAUNCH, written } from '../../job/plan-given.ts';
import { bytes, code, codes, counted, duration, table } from './markdown.ts';
import { fieldRows, typeOf } from './shapes.ts';

type Shape = Readonly<Record<string, z.core.$ZodType>>;

interface Leaf {
  readonly path: string;
  readonly optional: boolean;
  readonly schema: z.core.$ZodType;
}

/** Every field below an object, by its path; `stop` are printed elsewhere. */
const leaves = (shape: Shape, stop: readonly string[], under = ''): Leaf[] =>
  Object.entries(shape).flatMap(([name, schema]): Leaf[] => {
    const path = under === '' ? name : `${under}.${name}`;
    if (stop.includes(path)) return [];
    const optional = schema instanceof z.ZodOptional;
    const inner = optional ? (schema.def.innerType as z.core.$ZodType) : schema;
    if (inner instanceof z.ZodObject) return leaves(inner.shape as Shape, stop, path);
    return [{ path, optional, schema: inner }];
  });

const SPEC: Readonly<Record<string, string>> = {
  name: 'what the job is called',
  project: 'a group of the caller; the first one unless told',
  cluster: 'where it runs',
  login: 'as which login; the first that allows the caller unless told',
  'resources.nodes': 'how many nodes',
  'resources.tasksPerNode': 'how many tasks on each',
  'resources.gpusPerNode': 'how many GPUs on each',
  'resources.gpuType': 'a kind of GPU that the cluster’s configuration knows; only beside `gpusPerNode`',
  'resources.cpusPerTask': 'how many CPUs for each task',
  'resources.memoryPerNode': 'memory of each node',
  'program.script': 'the text of a script, run once, on the first node; not on Kubernetes',
  'program.command': 'a program and its arguments, run once per task. One of `script` and `command`, never both',
  'program.image': 'the container it runs in',
  'program.workdir': 'an absolute path on the cluster; its exec folder unless told',
  'program.env': 'variables; kept in the record. No name begins with `DISPATCH_`',
  'program.secrets': 'variables whose values are read from the store of secrets when it is sent, and are never recorded',
  timeLimit: 'how long each attempt may run',
  deadline: 'when the job ends, whatever it does: an instant, RFC 3339',
  patience: 'how long each attempt may wait for its first start, time behind its gate included',
  'checkpoint.root': 'an absolute path on the cluster, or `s3://bucket/prefix`; `<cluster root>/checkpoints` unless told',
  'checkpoint.completionMarker': 'what proves a save complete, where `dispatch-publish` is not told otherwise',
  'checkpoint.required': 'no attempt from a checkpoint begins from nothing: without a publication a limit is reached',
  labels: `at most ${MOST_LABELS}, of ${LABEL_CHARACTERS} characters each`,
  'extensions.slurm.partition': '`--partition`; several, with commas, as Slurm allows',
  'extensions.slurm.account': '`--account`',
  'extensions.slurm.qos': '`--qos`',
  'extensions.slurm.constraint': '`--constraint`',
  'extensions.slurm.reservation': '`--reservation`',
  'extensions.slurm.exclude': '`--exclude`, beside the nodes that a rule excludes',
  'extensions.kubernetes.namespace': 'for a cluster of that kind',
  'extensions.kubernetes.runtimeRef': 'for a cluster of that kind',
  'extensions.kubernetes.queue': 'for a cluster of that kind',
  'extensions.kubernetes.priorityClass': 'for a cluster of that kind',
  'extensions.memory.script': 'what a [memory cluster](../memory-cluster.md) plays',
};

/** What an omitted field becomes: read from the spec that nothing optional was written in. */
const defaults = (): Readonly<Record<string, string>> => {
  const spec = parsed({ ...written(), checkpoint: {}, resources: { nodes: 1 } });
  return {
    'resources.tasksPerNode': String(spec.resources.tasksPerNode),
    'resources.gpusPerNode': String(spec.resources.gpusPerNode),
    patience: duration(spec.patienceSeconds),
    'checkpoint.required': spec.checkpoint?.required ? 'yes' : 'no',
  };
};

/** An object that may be left out as a whole makes none of its fields optional by itself. */
const needed = ({ path, optional }: Leaf): string => {
  const known = defaults()[path];
  if (known !== undefined) return known;
  if (path === 'program.script' || path === 'program.command') return 'one of the two';
  return optional || path.startsWith('extensions.') ? '' : 'required';
};

export const specFields = (): string =>
  table(
    ['field', 'holds', 'default', 'means'],
    leaves(writtenSpecSchema.shape as Shape, ['policy']).map((leaf) => {
      const means = SPEC[leaf.path];
      if (means === undefined) throw new Error(`the reference says nothing of the spec's ${leaf.path}`);
      return [code(leaf.path), typeOf(leaf.schema), needed(leaf), means];
    }),
  );

/** Names that are explained and that no schema has. */
export const strayMeanings = (): string[] => {
  const known = leaves(writtenSpecSchema.shape as Shape, ['policy']).map(({ path }) => path);
  return Object.keys(SPEC).filter((path) => !known.includes(path));
};

export const specLimits = (): string =>
  table(
    ['what', 'at most'],
    [
      ['the spec without its script', bytes(SPEC_BYTES)],
      ['`program.script`', bytes(SCRIPT_BYTES)],
      ['`program.command`', bytes(COMMAND_BYTES)],
      ['`program.env` and `program.secrets` together', `${counted(ENVIRONMENT_NAMES)} names`],
      ['names and values of `program.env`', bytes(ENVIRONMENT_BYTES)],
      ['`labels`', `${counted(MOST_LABELS)}, of ${counted(LABEL_CHARACTERS)} characters`],
      ['`policy.rules`', counted(MOST_RULES)],
      ['`policy.limits.attempts`, a rule’s `max`', counted(MOST_ATTEMPTS)],
      ['`when.message`', `${counted(MESSAGE_CHARACTERS)} characters`],
    ],
  );

const ruleOf = (when: Rule['when']): Rule => ({ on: ['any'], do: { stop: {} }, ...(when && { when }) });
const carrying = (when: NonNullable<Rule['when']>): string =>
  codes(CAUSE_NAMES.filter((cause) => missingDetail(ruleOf(when), cause).length === 0));

export const conditions = (): string =>
  table(
    ['`when`', 'holds', 'can be met by', 'means'],
    [
      ['`exitCode`', '0 to 255, one or a list', carrying({ exitCode: [1] }), 'the program’s exit code is one of these'],
      ['`signal`', '1 to 64, one or a list', carrying({ signal: [1] }), 'it was killed by one of these signals'],
      ['`scope`', SCOPES.map(code).join(' · '), carrying({ scope: ['job'] }), 'whose memory ran out'],
      ['`message`', `text, at most ${counted(MESSAGE_CHARACTERS)}`, 'every cause', 'the evidence holds this text; capital letters count'],
    ],
  );

/** Of an action as it was read from a rule that says no more than it must. */
const relaunchDefaults = () => {
  const rule = parsed(written({ policy: policyOf([{ on: ['any'], do: { relaunch: { ...RELAUNCH.relaunch, excludeNodes: {} } } }]) })).policy
    .rules[0]!;
  if (!('relaunch' in rule.do)) throw new Error('the rule was read as another one');
  return rule.do.relaunch;
};
const questionDefault = (): number => {
  const escalate = { escalate: { options: ['stop'], onExpiry: 'stop' } };
  const rule = parsed(written({ policy: policyOf([{ on: ['any'], do: escalate }]) })).policy.rules[0]!;
  if (!('escalate' in rule.do)) throw new Error('the rule was read as another one');
  return rule.do.escalate.expiresAfterSeconds;
};

export const actions = (): string => {
  const { backoff, excludeNodes } = relaunchDefaults();
  return table(
    ['action', 'key', 'holds', 'default', 'means'],
    [
      ['`relaunch`', '`max`', `1 to ${counted(MOST_ATTEMPTS)}`, 'required', 'how often this rule may act'],
      ['', '`from`', '`checkpoint` · `scratch`', 'required', 'the latest checkpoint, or nothing: a new branch begins'],
      ['', '`backoff.initial`', '[duration](#quantities)', duration(backoff.initialSeconds), 'the first wait is at most so long'],
      ['', '`backoff.factor`', '1 to 10', String(backoff.factor), 'by which that grows with each use'],
      ['', '`backoff.max`', '[duration](#quantities)', duration(backoff.maxSeconds), 'beyond which it does not grow'],
      [
        '',
        '`excludeNodes.max`',
        '1 to 64',
        String(excludeNodes?.max),
        'avoid so many of the nodes that evidence names as failed, the newest',
      ],
      ['', '`scale.memoryPerNode`', '`{by, upTo}`', 'none', 'multiply the memory by `by`, to `upTo` at most'],
      ['', '`scale.timeLimit`', '`{by, upTo}`', 'none', 'the same of the time limit'],
      ['`requeue`', '`max`', `1 to ${counted(MOST_ATTEMPTS)}`, 'required', 'how often the object may be put back in its queue'],
      ['', '`by`', '`scheduler` · `supervisor`', 'required', 'who does it'],
      ['`escalate`', '`options`', '[answers](escalations.md#answers)', 'required', 'what people may answer'],
      ['', '`onExpiry`', 'one of them', 'required', 'what counts when nobody answers'],
      ['', '`expiresAfter`', '[duration](#quantities), at most 30 d', duration(questionDefault()), 'when that is'],
      ['`stop`', '', '', '', 'ends the job with this outcome'],
    ],
  );
};

const UNMATCHED: Readonly<Record<Plan['summary']['unmatched'], string>> = {
  escalate: 'people are asked; also when a rule or a limit is used up',
  stop: 'the job ends with this outcome',
  relaunch_once:
    'once per job it is relaunched from the latest checkpoint, within the limits; after that the job ends, or of class evidence asks',
};

export const unmatched = (): string =>
  table(
    ['`unmatched`', 'means'],
    Object.entries(UNMATCHED).map(([name, says]) => [code(name), says]),
  );

export const limits = (): string =>
  table(
    ['limit', 'holds', 'when it is reached'],
    [
      ['`attempts`', `1 to ${counted(MOST_ATTEMPTS)}, required`, 'no further attempt is planned'],
      ['`wallClock`', '[duration](#quantities)', 'counted from the submission: what lives is cancelled, no rule is asked, the job ends'],
      [
        '`attemptsWithoutProgress`',
        `1 to ${counted(MOST_ATTEMPTS)}`,
        'so many attempts in a row whose greatest listed training step is not above the one that they resumed from; those that never ran neither count nor end the row',
      ],
      [
        '`stalledAfter`',
        '[duration](#quantities)',
        'a run that published nothing and wrote nothing for so long is cancelled, and ends as `stalled`',
      ],
    ],
  );

const ENFORCER: Readonly<Record<(typeof ENFORCERS)[number], string>> = {
  scheduler: 'the cluster’s scheduler, by itself; dispatch watches and counts',
  supervisor: 'dispatch',
  job: 'the wrapper around the program; no rule is enforced by it in this release',
  nobody: 'nothing ever comes to this rule, or this cluster cannot tell its causes apart, or nobody here can requeue',
};

export const enforcers = (): string =>
  table(
    ['enforcer', 'who that is'],
    ENFORCERS.map((name) => [code(name), ENFORCER[name]]),
  );

const PLAN: Readonly<Record<keyof Plan, string>> = {
  digest: 'of everything here but `plannedAt` and what probes said in their own words',
  specDigest: 'of the normalized spec, with its script',
  summary: 'name, project, size and limits, for a reader',
  cluster: 'where, and what schedules it',
  login: 'as whom; absent where no login allows the caller',
  requeue: 'how it is submitted: whether, and by whom, it may be put back in its queue',
  rules: 'one line per rule: who enforces it, whether its causes can be told apart here, by what, and what is done',
  gate: 'what keeps an attempt from starting until it is released; absent where nothing could be rendered',
  enforces: 'who enforces time limit, deadline, patience, silence and cancels, and what happens when one task fails',
  submission: 'what will be sent, with placeholders such as `{identity}`, `{begin}`, `{deadline}`, `{bound}` where an attempt fills in',
  warnings: 'what its author should know',
  refusals: 'why it cannot be submitted',
  plannedAt: 'when it was made',
  facts: 'what the job will count with, whatever a later probe says',
};

const short = (schema: z.core.$ZodType): string => {
  const inner = schema instanceof z.ZodOptional ? (schema.def.innerType as z.core.$ZodType) : schema;
  if (inner instanceof z.ZodArray) return 'list';
  return inner instanceof z.ZodObject ? 'object' : typeOf(inner);
};

export const planFields = (): string =>
  table(
    ['field', 'holds', 'means'],
    Object.entries(planSchema.shape).map(([name, schema]) => [
      code(schema instanceof z.ZodOptional ? `${name}?` : name),
      short(schema),
      PLAN[name as keyof Plan],
    ]),
  );

const LINE: Readonly<Record<keyof Plan['rules'][number], string>> = {
  index: 'which rule, from 0',
  on: 'its causes and classes, as written',
  do: 'its action',
  enforcer: 'see [enforcers](#enforcers)',
  detects: 'whether this cluster tells its causes apart: all in all, and per teller with the causes and what the probe said',
  says: 'what will be done, in words',
};

export const ruleLine = (): string =>
  table(
    ['field', 'means'],
    fieldRows((planSchema.shape.rules.element as z.ZodObject).shape, (name) => LINE[name as keyof typeof LINE], 'rule').map(
      ([name, , says]) => [name!, says!],
    ),
  );

const VERSIONS = ['20.11', '21.08', '22.05', '23.02', '23.11', '24.05', '24.11', '25.05', '25.11'];

/** As the recipe is chosen from a controller's version. */
export const gates = (): string => {
  const of = (version: string, requeue: 'never' | 'scheduler'): string => {
    const mechanism = mechanismFor(parseVersion(version), requeue);
    return mechanism === undefined ? 'none: refused' : code(mechanism);
  };
  return table(
    ['Slurm', 'gate', 'gate of a job that may be requeued'],
    VERSIONS.map((version) => [version, of(version, 'never'), of(version, 'scheduler')]),
  );
};

export const gateMeanings = (): string =>
  table(
    ['gate', 'means'],
    Object.entries({ ...GATE_SAYS, suspend: 'created suspended: the way of Kubernetes' }).map(([name, says]) => [code(name), says]),
  );
