/** Every event of both kinds of record with its fields, from the schemas, as docs/reference/record.md prints them. */
import { CLUSTER_EVENT_TYPES, type ClusterEventOf, type ClusterEventType, clusterEventSchema } from '../../../lib/job/cluster-event.ts';
import {
  actionSchema,
  becauseSchema,
  decidedBySchema,
  EVENT_TYPES,
  type EventOf,
  type EventType,
  eventSchema,
  findingSchema,
  gateSchema,
  lookSchema,
  pointSchema,
  receiptSchema,
  resourcesSchema,
  runSchema,
} from '../../../lib/job/event.ts';
import { code, table } from './markdown.ts';
import { fieldRows } from './shapes.ts';

type FieldOf<E, Left extends string> = Exclude<keyof E & string, Left>;

interface Told<T extends string> {
  readonly says: string;
  readonly by: string;
  readonly fields: Readonly<Record<T, string>>;
}

const SUPERVISOR = '`supervisor`';
const POLLER = '`poller:<cluster>`';
const n = 'which attempt, from 1';
const look = 'which look taught it';

/** `n` and `look` mean the same wherever they stand. */
export const JOB_EVENTS: { readonly [T in EventType]: Told<FieldOf<EventOf<T>, 'type' | 'n' | 'look'>> } = {
  job_submitted: {
    says: 'The first event of a job that dispatch runs.',
    by: '`user:<principal>`',
    fields: {
      spec: 'what was asked for, every default filled in; a script is replaced by `sha256:<hex>` of its blob',
      planDigest: 'the plan that it was accepted under',
      idempotencyKey: 'the caller’s, or one of its own',
      principal: 'who submitted it: its owner',
      project: 'to which project it belongs',
      login: 'under which login of the cluster it runs',
      facts: 'what its plan counted with; a later probe does not change them',
    },
  },
  job_adopted: {
    says: 'The first event of a job that somebody else submitted and dispatch only watches.',
    by: '`user:<principal>`',
    fields: {
      name: 'the object’s own',
      principal: 'who asked to watch it',
      project: 'to which project it belongs',
      receipt: 'which object it is',
    },
  },
  attempt_planned: {
    says: 'The intention to send an attempt. Only the one whose commit is the latest of these may send it, and once.',
    by: SUPERVISOR,
    fields: {
      try: '1 for the first sending; only a deferral allows another',
      identity: 'the name under which it can be found',
      cluster: 'where',
      login: 'as which login',
      gate: 'what keeps it from starting until it is released',
      requeueable: 'it is submitted as one that may be put back in its queue',
      clusterNow: 'the cluster’s clock when it was planned',
      clusterBoundAt: 'the landing bound: after it the submission refuses itself, by the cluster’s clock',
      clusterSettleAt: 'when its absence becomes final, by the cluster’s clock',
      resume: 'from where run 0 resumes',
      resources: 'what scaling may have changed',
      excludeNodes: 'nodes that it avoids',
      rendering: 'digest of the plan that shows what is sent',
    },
  },
  attempt_bound: { says: 'An object on the cluster is this attempt.', by: SUPERVISOR, fields: { receipt: 'which object' } },
  attempt_submission_deferred: {
    says: 'Nothing was sent, or the scheduler said “not now”: the same attempt is sent again later.',
    by: SUPERVISOR,
    fields: { reason: 'why', notBefore: 'when it may be sent again' },
  },
  attempt_uncertain: {
    says: 'It was sent, and whether it landed is not known.',
    by: SUPERVISOR,
    fields: { sent: 'what was sent', answer: 'what was answered, if anything' },
  },
  attempt_refused: { says: 'The scheduler certainly refused it.', by: SUPERVISOR, fields: { outcome: 'its end' } },
  attempt_never_landed: {
    says: 'It is proved that the submission never reached the scheduler.',
    by: SUPERVISOR,
    fields: { proof: 'the look-ups that prove it', outcome: 'its end: `never_landed`' },
  },
  release_intended: { says: 'From now on its mark may be on the cluster.', by: SUPERVISOR, fields: {} },
  attempt_released: { says: 'Its gate was asked to open. Only a look shows that it did.', by: SUPERVISOR, fields: {} },
  attempt_observed: {
    says: 'A look at an attempt that is alive found its state, its run, its pending group or a finding changed.',
    by: `${POLLER}; \`supervisor\`, right after a release`,
    fields: {
      state: 'its state now',
      run: 'which run, from 0',
      pending: 'why it waits, as [a group](states-and-causes.md#why-an-attempt-waits) and in the scheduler’s words',
      finding: 'what others did to it, or that it is silent',
      lastRunCause: 'why the run before this one ended, where the cluster said so',
    },
  },
  requeue_intended: { says: 'The supervisor is about to put the object back in its queue.', by: SUPERVISOR, fields: {} },
  attempt_requeued: {
    says: 'The next run was seen: the attempt is open again.',
    by: `${POLLER}, ${SUPERVISOR}`,
    fields: { run: 'the run that began' },
  },
  requeue_refused: { says: 'It was not put back, which uses its rule up.', by: SUPERVISOR, fields: { reason: 'why' } },
  cancel_intended: {
    says: 'The cluster is about to be asked to end it.',
    by: SUPERVISOR,
    fields: { why: '[the reason](states-and-causes.md#our-own-cancels)', said: 'the same in the words of whoever said it' },
  },
  attempt_cancel_sent: { says: 'The cluster was asked. Repeats are not recorded.', by: SUPERVISOR, fields: {} },
  attempt_ended: {
    says: 'It has an outcome. One of class evidence may be replaced by a second such event while nothing was decided on it.',
    by: `${POLLER}; \`supervisor\`, of what was never sent`,
    fields: {
      outcome: 'how it ended',
      processes: 'whether anything of it may still run: `gone` or `unknown`',
      runs: 'what each run resumed from and published; the last 400 at most',
    },
  },
  duplicate_found: {
    says: 'Another object of the job was found beside the bound one.',
    by: `${SUPERVISOR}, ${POLLER}`,
    fields: { receipt: 'which object', running: 'it was seen running' },
  },
  duplicate_discarded: { says: 'A complete look no longer saw it.', by: SUPERVISOR, fields: { schedulerId: 'which object' } },
  recovery_decided: {
    says: 'What follows an end.',
    by: '`supervisor`; with an answer, whoever gave it',
    fields: { by: 'the rule, the answer, or `unmatched`', action: 'what will be done', notBefore: 'and not before when' },
  },
  escalation_raised: {
    says: 'People are asked.',
    by: SUPERVISOR,
    fields: {
      id: 'its id within the job: `q1`, `q2`, …',
      kind: '[the kind](escalations.md#kinds)',
      episode: 'which question of this kind about this attempt, from 1',
      blocks: 'the job waits for the answer',
      options: 'what may be answered',
      onExpiry: 'what counts when nobody does',
      expiresAt: 'when that is',
      says: 'one sentence: what happened',
    },
  },
  escalation_answered: {
    says: 'The first valid answer.',
    by: '`user:<principal>`, `token`',
    fields: { id: 'which question', answer: 'one of its options', by: 'who: a principal, or `token`' },
  },
  escalation_expired: { says: 'Nobody answered in time.', by: SUPERVISOR, fields: { id: 'which question', answer: 'its default' } },
  escalation_withdrawn: {
    says: 'Something made it pointless; it stands in the commit that did.',
    by: 'whoever commits what makes it so',
    fields: { id: 'which question', moot: '[why](escalations.md#withdrawal)' },
  },
  cancel_requested: {
    says: 'The job is to end. It wins against every intention that is not yet committed.',
    by: '`user:<principal>`',
    fields: { principal: 'who asked', reason: 'why' },
  },
  checkpoint_published: {
    says: 'A program reported a save that it had announced. A report, until a listing sees its marker.',
    by: '`attempt:<n>`',
    fields: {
      epoch: 'of which execution: attempt × 1,000,000 + run',
      step: 'the program’s training step',
      path: 'of the save, below the job’s checkpoint root',
      sizeBytes: 'its size, where it was told',
      late: 'a later run had its resume point by then; recorded once per run',
    },
  },
  job_ended: {
    says: 'The end. Nothing follows it.',
    by: SUPERVISOR,
    fields: { outcome: 'how the job ended', because: '[what ended it](states-and-causes.md#how-a-job-ends)' },
  },
};

const CLUSTER_ANY = '`poller:<cluster>`, `supervisor` or `system`: whoever met it';

export const CLUSTER_EVENTS: { readonly [T in ClusterEventType]: Told<FieldOf<ClusterEventOf<T>, 'type'>> } = {
  cluster_probed: {
    says: 'A probe of one login.',
    by: '`system`',
    fields: {
      login: 'which login',
      by: '[why it was made](capabilities.md#probes)',
      configuration: 'digest of the configuration that it was made under',
      probedAt: 'when, by dispatch’s clock',
      clockOffsetMs: 'the cluster’s clock minus dispatch’s',
      credentialLifeSeconds: 'as in the facts of a probe',
      probe: 'what it found; absent where that is what the last one found',
    },
  },
  cluster_unreachable: {
    says: 'It does not answer. Once per outage.',
    by: CLUSTER_ANY,
    fields: { login: 'which login', says: 'what was met' },
  },
  cluster_reachable: {
    says: 'It answers again; lifts a block, too.',
    by: '`poller:<cluster>`, `system`',
    fields: { login: 'which login' },
  },
  cluster_blocked: {
    says: 'It refuses dispatch, or shows another host key than is pinned: only a preflight connects to it.',
    by: CLUSTER_ANY,
    fields: {
      login: 'which login',
      why: 'which of the two',
      says: 'what was met',
      configuration: 'digest of the configuration that was tried',
      secret: 'digest of the key that was tried',
      presented: 'fingerprint of the key that the host showed',
      pinned: 'fingerprints that are configured',
    },
  },
  escalation_raised: {
    says: 'People are asked about the cluster.',
    by: '`poller:<cluster>`, `supervisor` or `system`: whoever comes by',
    fields: {
      id: 'its id within the cluster',
      kind: '[the kind](escalations.md#about-a-cluster)',
      episode: 'which question of this kind, from 1',
      options: 'what may be answered',
      onExpiry: 'what counts when nobody does',
      expiresAt: 'when that is',
      says: 'one sentence: what happened',
      lost: 'of `capability_lost`: which login, and which capabilities',
    },
  },
  escalation_answered: {
    says: 'The first valid answer.',
    by: '`user:<principal>`',
    fields: { id: 'which question', answer: 'one of its options', by: 'who' },
  },
  escalation_expired: {
    says: 'Nobody answered in time.',
    by: '`poller:<cluster>`, `supervisor` or `system`: whoever comes by',
    fields: { id: 'which question', answer: 'its default' },
  },
  escalation_withdrawn: {
    says: 'Something made it pointless.',
    by: CLUSTER_ANY,
    fields: { id: 'which question', moot: '[why](escalations.md#withdrawal)' },
  },
};

const section = (type: string, told: Told<string>, shape: Parameters<typeof fieldRows>[0]): string => {
  const meanings: Readonly<Record<string, string>> = { n, look, ...told.fields };
  const rows = fieldRows(shape, (name) => meanings[name], type);
  const fields = rows.length === 0 ? 'It has no fields.' : table(['field', 'holds', 'means'], rows);
  return `### \`${type}\`\n\n${told.says} By ${told.by}.\n\n${fields}`;
};

export const jobEvents = (): string =>
  eventSchema.options.map((option) => section(option.shape.type.value, JOB_EVENTS[option.shape.type.value], option.shape)).join('\n\n');

export const clusterEvents = (): string =>
  clusterEventSchema.options
    .map((option) => {
      const type = option.shape.type.value;
      const text = section(type, CLUSTER_EVENTS[type], option.shape);
      // Both kinds of record have questions: a heading of its own for each.
      return type.startsWith('escalation') ? text.replace(`\`${type}\``, `\`${type}\` about a cluster`) : text;
    })
    .join('\n\n');

const SHAPES = {
  point: [
    pointSchema,
    'From where an execution resumes: a publication, or *nothing* (step −1, no path).',
    { epoch: 'of the execution that saved it', step: 'its training step', path: 'of the save, below the job’s checkpoint root' },
  ],
  receipt: [
    receiptSchema,
    'Which object of a cluster an attempt is.',
    {
      cluster: 'where',
      login: 'as which login',
      schedulerId: 'the scheduler’s id of it',
      identity: 'its name',
      submittedAt: 'when it was submitted, by the cluster’s clock and never later than the scheduler has it',
    },
  ],
  gate: [
    gateSchema,
    'What keeps an attempt from starting. The mechanisms are told [with the plan](policy-and-plan.md#gates).',
    {
      mechanism: 'which recipe',
      selfDestructs: 'unreleased, it ends by itself',
      clusterExpiresAt: 'the last moment at which it may start, by the cluster’s clock',
    },
  ],
  resources: [
    resourcesSchema,
    'What of an attempt’s resources a rule may scale.',
    { memoryPerNodeMi: 'memory of each node, MiB', timeLimitSeconds: 'its time limit' },
  ],
  look: [
    lookSchema,
    'Which look taught something.',
    { fence: 'of the poll’s lease', clusterStartedAt: 'when the look began, by the cluster’s clock' },
  ],
  run: [
    runSchema,
    'One run of an attempt, as its end tells of it.',
    {
      run: 'which, from 0',
      base: 'what it resumed from',
      latest: 'its greatest publication that could be picked',
      publications: 'how many it announced',
    },
  ],
  finding: [
    findingSchema,
    '',
    { kind: '[which](states-and-causes.md#findings)', since: 'since when, by the clock of who says it', said: 'in its words' },
  ],
} as const;

export const shapes = (): string =>
  Object.entries(SHAPES)
    .map(([name, [schema, says, meanings]]) => {
      const rows = fieldRows(schema.shape, (field) => (meanings as Readonly<Record<string, string>>)[field], name);
      return `### ${name}\n\n${says === '' ? '' : `${says}\n\n`}${table(['field', 'holds', 'means'], rows)}`;
    })
    .join('\n\n');

const CHOICES: readonly (readonly [
  name: string,
  schema: typeof decidedBySchema | typeof actionSchema | typeof becauseSchema,
  says: Readonly<Record<string, string>>,
])[] = [
  [
    'decider',
    decidedBySchema,
    { rule: 'a rule of the policy', unmatched: '`unmatched: relaunch_once`', answer: 'an answer, or its default' },
  ],
  ['action', actionSchema, { relaunch: 'another attempt', requeue: 'another run of the same object' }],
  [
    'because',
    becauseSchema,
    {
      completed: 'it succeeded',
      rule: 'a rule says `stop`',
      unmatched: 'no rule matched',
      limit: 'a limit is used up: which, in words',
      answer: 'an answer, or its default',
      cancel: 'a person cancelled it',
      deadline: 'its deadline passed',
      wall_clock: 'its wall clock limit passed',
      observed: 'it was only watched',
    },
  ],
];

/** Unions by their `kind`: each choice with the fields that it carries. */
export const choices = (): string =>
  CHOICES.map(([name, schema, says]) => {
    const rows = schema.options.map((option) => {
      const kind = option.shape.kind.value as string;
      const meaning = says[kind];
      if (meaning === undefined) throw new Error(`the reference says nothing of ${name} ${kind}`);
      const carried = Object.keys(option.shape).filter((field) => field !== 'kind');
      return [code(kind), carried.length === 0 ? '' : carried.map(code).join(', '), meaning];
    });
    return `### ${name}\n\n${table(['kind', 'carries', 'means'], rows)}`;
  }).join('\n\n');

export const EVENTS = { job: EVENT_TYPES, cluster: CLUSTER_EVENT_TYPES };
