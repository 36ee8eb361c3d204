/** The table: its items, its indexes, the head, and the bounds of all of it, as docs/reference/record.md and stores.md print them. */
import { LOG_PUBLICATIONS_STOP } from '../../../lib/app/publish-checkpoint.ts';
import { CLUSTER_SCHEMA } from '../../../lib/job/cluster-event.ts';
import { SCHEMA } from '../../../lib/job/event.ts';
import { LOG_ENDS_ONLY, LOG_RULES_STOP } from '../../../lib/job/limit.ts';
import { MOST_RUNS } from '../../../lib/job/point.ts';
import { newHeadItem, WAKE_ATTRIBUTES } from '../../../lib/record/dynamodb/head-item.ts';
import { LIST_LIMIT, WATCHLINE_BYTES } from '../../../lib/record/head.ts';
import {
  blobKey,
  clusterCommitKey,
  clusterNotifiedKey,
  commitKey,
  connectionSlotKey,
  connectionsKey,
  headKey,
  type ItemKey,
  idempotencyKey,
  labelKey,
  leaseKey,
  planKey,
  slotKey,
  TTL_ATTRIBUTE,
  tableDefinition,
  watchKey,
} from '../../../lib/record/keys.ts';
import { PLAN_BYTES, PLAN_TEXT_BYTES } from '../../../lib/record/plan-text.ts';
import {
  BATCH_LIMIT,
  COMMIT_BYTES,
  COUNT_LIMIT,
  type Head,
  JOBS_LIMIT,
  LOG_COMMITS,
  PLAN_LIFE_MS,
  type RecordStore,
  SLOT_LEASE_MS,
  SLOTS,
} from '../../../lib/record/port.ts';
import { bytes, code, codes, counted, duration, table } from './markdown.ts';

/** Every maker of keys in lib/record/keys.ts, with what lies there. */
const ITEMS: readonly (readonly [key: ItemKey, holds: string])[] = [
  [commitKey('<job>', 1), 'a commit of a job, by its version in ten digits'],
  [headKey('<job>'), 'the head: a cache of the log, the supervisor, and its wake token'],
  [slotKey('<job>', 'q1'), 'the wake token of a blocking question'],
  [watchKey('<job>'), 'what is not yet a fact about the job'],
  [blobKey('<job>', '<sha256>'), 'a script, stored once'],
  [idempotencyKey('<principal>', '<key>'), 'an idempotency key: which job it stands for'],
  [planKey('<digest>'), 'a plan that somebody may have read'],
  [labelKey('<name>', '<value>', '<job>'), 'a label of a job'],
  [clusterCommitKey('<cluster>', 1), 'a commit of a cluster'],
  [clusterNotifiedKey('<cluster>'), 'up to which commit of the cluster notices were sent'],
  [leaseKey('<cluster>', '<login>'), 'the lease of a poll: its fence, and when the cluster last answered'],
  [connectionSlotKey('<cluster>', '<login>', '1'), 'a connection slot, and who holds it'],
  [connectionsKey('<cluster>', '<login>', 0), 'how many connections were made in an hour, by hours since 1970'],
];

export const items = (): string =>
  table(
    ['partition', 'sort', 'holds'],
    ITEMS.map(([{ pk, sk }, holds]) => [code(pk), code(sk), holds]),
  );

const INDEXES: Readonly<Record<string, string>> = {
  active: 'what a poll has to look at, by cluster and login',
  owed: 'wake tokens that were taken and may not have been signalled, the oldest first',
  state: 'jobs by state',
  unended: 'jobs that have not ended, births included',
  listed: 'all jobs',
  project: 'jobs of a project',
  cluster: 'jobs of a cluster',
  asked: 'jobs with an open question that they do not wait for',
  unendedIn: 'jobs of a project that have not ended: for counting them',
  unsent: 'heads whose notices are not all sent, the oldest first',
};

export const indexes = (): string => {
  const { GlobalSecondaryIndexes } = tableDefinition('dispatch');
  return table(
    ['index', 'sorted by', 'carries', 'for'],
    GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => {
      const meaning = INDEXES[IndexName];
      if (meaning === undefined) throw new Error(`the reference says nothing of the index ${IndexName}`);
      const carried = 'NonKeyAttributes' in Projection ? codes(Projection.NonKeyAttributes) : 'keys alone';
      return [code(IndexName), code(KeySchema[1]!.AttributeName), carried, meaning];
    }),
  );
};

const HEAD: Head = {
  ...{ job: '', version: 0, bornAt: 0, triedAt: 0, principal: 'p', key: 'k', payloadHash: 'h', notified: 0 },
  summary: {
    ...{ active: 'a', state: 's', watchline: '', name: '', project: 'p', ended: false, cluster: 'c', login: '', asked: true, cause: '' },
    updatedAt: 0,
  },
  supervisor: { generation: 1, machine: 1, failures: 0, seenAt: 0, takenAt: 0 },
  tries: { version: 0, count: 0 },
};

const ATTRIBUTES: Readonly<Record<string, string>> = {
  v: 'the version of the log that this head was folded from; 0 before the first event',
  bornAt: 'when the job was accepted',
  triedAt: 'when its birth was last tried, until its first event',
  principal: 'who submitted it',
  key: 'its idempotency key',
  hash: 'of what was submitted',
  gen: 'the generation of its supervisor',
  machine: 'the number of the machine that supervises it',
  failures: 'supervisors in a row that ended without having decided anything',
  seenAt: 'when a supervisor last began to work',
  takenAt: 'when a wake token was last taken',
  tries: 'tries of the next step since the last commit',
  notified: 'up to which version notices were sent',
  listed: 'always there: key of the index of all jobs',
  w: 'what a poll compares, in at most 200 bytes',
  name: 'the job’s name',
  login: 'under which login it runs',
  cause: 'why it, or its newest attempt, ended',
  updatedAt: 'when that version was committed',
  active: 'cluster and login, while a poll has to look at it',
  state: 'the job’s state',
  project: 'its project',
  cluster: 'its cluster',
  unended: 'until it has ended',
  unendedIn: 'its project, until it has ended',
  asked: 'while a question is open that it does not wait for',
  token: 'the last task token; kept when it is gone, so that a repeated Park is known',
  order: 'generation, time and retry of that token: a later one replaces it, never an earlier one',
  wake: '`parked`, or `owed`: taken and not known to be signalled',
  wv: 'the version that the token waits from',
  until: 'the moment that was promised with it',
  owedSince: 'since when it is owed',
  owed: 'key of the index of owed tokens',
  owedKey: 'sorts them by age',
  unsent: 'while notices are unsent: key of their index',
  unsentKey: 'sorts them by age',
};

export const headAttributes = (): string => {
  const born = Object.keys(newHeadItem(HEAD)).filter((name) => name !== 'pk' && name !== 'sk');
  const names = [...born, 'token', 'order', ...WAKE_ATTRIBUTES, 'unsent', 'unsentKey'];
  const stray = Object.keys(ATTRIBUTES).filter((name) => !names.includes(name));
  if (stray.length > 0) throw new Error(`the reference tells of ${stray.join(', ')}, which no head has`);
  return table(
    ['attribute', 'holds'],
    names.map((name) => {
      const meaning = ATTRIBUTES[name];
      if (meaning === undefined) throw new Error(`the reference says nothing of the head's ${name}`);
      return [code(name), meaning];
    }),
  );
};

export const bounds = (): string =>
  table(
    ['what', 'bound'],
    [
      ['a commit, a script, or what is watched: one item', bytes(COMMIT_BYTES)],
      ['commits of a log', counted(LOG_COMMITS)],
      ['a plan as it is stored', `${bytes(PLAN_BYTES)}, compressed; ${bytes(PLAN_TEXT_BYTES)} of text`],
      ['life of a plan', duration(PLAN_LIFE_MS / 1000)],
      ['what a poll compares of one job', bytes(WATCHLINE_BYTES)],
      ['runs that an end tells of', counted(MOST_RUNS)],
      ['rows of a page of jobs', counted(JOBS_LIMIT)],
      ['rows of any other page', counted(LIST_LIMIT)],
      ['items of a batch that is read', counted(BATCH_LIMIT)],
      ['active jobs that are counted', counted(COUNT_LIMIT)],
      [
        'connection slots of a login',
        `${SLOTS.poll.length} for polls, ${SLOTS.work.length} for steps, ${SLOTS.output.length} for reading output`,
      ],
      ['life of a slot that is not given back', duration(SLOT_LEASE_MS / 1000)],
    ],
  );

export const fullness = (): string =>
  table(
    ['from commit', 'what changes'],
    [
      [counted(LOG_PUBLICATIONS_STOP), 'reports of checkpoints are no longer recorded: the marker alone counts'],
      [counted(LOG_RULES_STOP), 'no rule acts but `stop` (a limit is reached instead), and changes of a pending group are not recorded'],
      [counted(LOG_ENDS_ONLY), 'what only tells how it goes on is not recorded: the rest is for cancels, ends and answers'],
      [counted(LOG_COMMITS), 'the log ends'],
    ],
  );

export const schemas = (): string =>
  table(
    ['record', 'schema'],
    [
      ['of a job', String(SCHEMA)],
      ['of a cluster', String(CLUSTER_SCHEMA)],
    ],
  );

export const ttl = (): string => code(TTL_ATTRIBUTE);

type Group = 'log' | 'birth' | 'head' | 'supervision' | 'notices' | 'watch' | 'lists' | 'slots and leases';

const CALLS: Readonly<Record<keyof RecordStore, readonly [group: Group, does: string, only: string]>> = {
  read: ['log', 'all commits after a version, in order and without a gap', 'consistent'],
  readAt: ['log', 'the commit at a version', 'consistent'],
  goingOn: ['log', 'which of these jobs have a commit after the version named', 'consistent'],
  append: ['log', 'writes a commit: `appended` or `conflict`', 'nothing is at that version, or it is this very commit'],
  putBlob: ['log', 'stores a text under its SHA-256', 'it is not there yet'],
  getBlob: ['log', 'a text by its digest', 'consistent'],
  putPlan: ['log', 'stores a plan under its digest: `stored` or `exists`', 'none that is alive is there'],
  getPlan: ['log', 'a plan that is alive', 'consistent'],
  readCluster: ['log', 'like `read`, of a cluster', 'consistent'],
  appendCluster: ['log', 'like `append`, of a cluster', 'the same'],
  putLabels: ['birth', 'one item per label', ''],
  claimKey: ['birth', 'takes an idempotency key; answers who has it', 'none that is alive is there'],
  readKey: ['birth', 'a key that is alive', 'consistent'],
  moveKey: ['birth', 'points a key at another job: `moved` or `changed`', 'it still points at the old one'],
  createHead: ['birth', 'puts the head at version 0: `created`, `exists` or `clash`', 'no head is there'],
  removeHead: ['birth', 'gives up a birth: `removed` or `changed`', 'version 0, and not tried again since'],
  readHead: ['head', 'the head of a job', 'consistent'],
  readHeads: ['head', 'the heads of many jobs', 'consistent'],
  moveHead: [
    'head',
    'moves it forward, and takes the token where it must: `moved`, `behind` or `token_changed`',
    'a smaller version, and the token that was read',
  ],
  countTry: ['head', 'counts a try of a step: the count or `stale`', 'the head is at that version'],
  setNotified: ['notices', 'notes what was sent: `noted`, `behind` or `ahead`', 'a smaller version was noted'],
  listUnnotified: ['notices', 'heads with something unsent, the oldest first', 'a hint'],
  readClusterNotified: ['notices', 'what was sent of a cluster', 'consistent'],
  setClusterNotified: ['notices', 'notes it', 'a smaller version was noted'],
  park: [
    'supervision',
    'stores a wake token: `parked`, `stale` or `superseded`',
    'a later order than the last; on the head also its version and generation',
  ],
  readWake: ['supervision', 'the token that lies in a slot', 'consistent'],
  takeWake: ['supervision', 'moves it from parked to owed: `taken` or `gone`', 'it is parked there; of a question, from a smaller version'],
  clearWake: ['supervision', 'removes a token that was signalled', 'it is owed there'],
  seen: ['supervision', 'a supervisor begins to work: `seen` or `superseded`', 'no newer generation is there'],
  resetFailures: ['supervision', 'it decided something', 'there is a head'],
  raiseGeneration: ['supervision', 'replaces a supervisor: `raised` or `changed`', 'the generation that was read'],
  readWatch: ['watch', 'what is not yet a fact', 'consistent'],
  writeWatch: ['watch', 'replaces or removes it', ''],
  listActive: ['lists', 'what a poll has to look at', 'a hint'],
  listUnended: ['lists', 'jobs that have not ended', 'a hint'],
  listJobs: ['lists', 'jobs by a filter, newest first', 'a hint'],
  countActive: ['lists', 'how many jobs of a project have not ended', 'a hint'],
  listOwed: ['lists', 'tokens that are owed, the oldest first', 'a hint'],
  takeSlot: ['slots and leases', 'takes a connection slot: `taken` or `none`', 'it is free, past its lease, or this holder’s'],
  returnSlot: ['slots and leases', 'gives it back: `returned` or `gone`', 'it is this holder’s'],
  readConnections: ['slots and leases', 'connections made in an hour', ''],
  readLease: ['slots and leases', 'the lease of a poll', 'consistent'],
  renewLease: ['slots and leases', 'raises its fence: `renewed` or `lost`', 'the fence that was read'],
};

/** Columns in the order of the port's own groups. */
export const calls = (): string => {
  const groups = [...new Set(Object.values(CALLS).map(([group]) => group))];
  const rows = groups.flatMap((group) =>
    Object.entries(CALLS)
      .filter(([, [of]]) => of === group)
      .map(([name, [, does, only]]) => [group, code(name), only, does]),
  );
  return table(['about', 'call', 'condition or kind of read', 'does'], rows);
};
