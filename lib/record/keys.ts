/**
 * Where everything lies: the one place that knows the layout of the table's keys, its indexes, and what these project.
 * Guards P1.6 (a quiet poll reads at most 256 bytes per job) and P2.6 (no index carries a token).
 *
 *   JOB#<id>                 E#<version>     a commit, ten digits since text order is the only order
 *                            HEAD            the head, and the supervisor's wake token
 *                            Q#<question>    the wake token of a blocking question
 *                            WATCH           what is not yet a fact
 *                            BLOB#<sha256>   text stored once
 *   KEY#<principal>#<key>    KEY             an idempotency key
 *   PLAN#<digest>            PLAN            a plan that somebody may have read
 *   LABEL#<key>=<value>      <job id>        a job's label
 *   CLUSTER#<id>             E#<version>     a commit of the cluster's own log
 *                            NOTIFIED        up to which of these the bus was told
 *                            LEASE#<login>   the poll's lease
 *                            SLOT#<login>#<k>                a connection slot
 *                            CONNECTIONS#<login>#<hour>      how many connections were opened in it
 */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** What the key of an index or a partition may weigh (DynamoDB: 2,048); a longer text is nowhere. */
export const KEY_BYTES = 2048;
export const VERSION_DIGITS = 10;
const INSTANT_DIGITS = 16;
const HOUR_DIGITS = 8;

export const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

// A principal may hold the separator; escaped, no two (principal, key) share an item.
const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('#', '%23');
const escapedKey = (text: string): string => text.replaceAll('%', '%25').replaceAll('=', '%3D');

export const jobPk = (job: string): string => `JOB#${job}`;
export const jobOfPk = (pk: string): string => pk.slice('JOB#'.length);
export const commitSk = (version: number): string => `E#${padded(version, VERSION_DIGITS)}`;
export const LAST_COMMIT_SK = `E#${'9'.repeat(VERSION_DIGITS)}`;

export const commitKey = (job: string, version: number): ItemKey => ({ pk: jobPk(job), sk: commitSk(version) });
export const headKey = (job: string): ItemKey => ({ pk: jobPk(job), sk: 'HEAD' });
/** Slot '' is the head, any other a question's id. */
export const slotKey = (job: string, slot: string): ItemKey => (slot === '' ? headKey(job) : { pk: jobPk(job), sk: `Q#${slot}` });
export const slotOfSk = (sk: string): string => (sk === 'HEAD' ? '' : sk.slice('Q#'.length));
export const watchKey = (job: string): ItemKey => ({ pk: jobPk(job), sk: 'WATCH' });
export const blobKey = (job: string, digest: string): ItemKey => ({ pk: jobPk(job), sk: `BLOB#${digest}` });
export const idempotencyKey = (principal: string, key: string): ItemKey => ({ pk: `KEY#${escaped(principal)}#${key}`, sk: 'KEY' });
export const planKey = (digest: string): ItemKey => ({ pk: `PLAN#${digest}`, sk: 'PLAN' });
export const labelPk = (key: string, value: string): string => `LABEL#${escapedKey(key)}=${value}`;
export const labelKey = (key: string, value: string, job: string): ItemKey => ({ pk: labelPk(key, value), sk: job });
export const clusterPk = (cluster: string): string => `CLUSTER#${cluster}`;
export const clusterCommitKey = (cluster: string, version: number): ItemKey => ({ pk: clusterPk(cluster), sk: commitSk(version) });
export const clusterNotifiedKey = (cluster: string): ItemKey => ({ pk: clusterPk(cluster), sk: 'NOTIFIED' });
export const leaseKey = (cluster: string, login: string): ItemKey => ({ pk: clusterPk(cluster), sk: `LEASE#${login}` });
export const connectionSlotKey = (cluster: string, login: string, slot: string): ItemKey => ({
  pk: clusterPk(cluster),
  sk: `SLOT#${login}#${slot}`,
});
const HOUR_MS = 3600 * 1000;
/** One item per hour since 1970 (UTC). */
export const connectionsKey = (cluster: string, login: string, at: number): ItemKey => ({
  pk: clusterPk(cluster),
  sk: `CONNECTIONS#${login}#${padded(Math.floor(at / HOUR_MS), HOUR_DIGITS)}`,
});

/** The value of `summary.active`. */
export const activeValue = (cluster: string, login: string): string => `${cluster}#${login}`;
/** The one value of a sparse index's key; items without it are not in that index. */
export const PRESENT = 'yes';
/** Sorts owed tokens by age and, for a total order, by their place. */
export const owedValue = (owedSince: number, job: string, slot: string): string => `${padded(owedSince, INSTANT_DIGITS)}#${job}#${slot}`;
/** Sorts below every token owed since `before` and above every earlier one. */
export const owedBefore = (before: number): string => padded(before, INSTANT_DIGITS);

/** Sorts heads with unsent notices by how long they wait. */
export const unsentValue = (since: number, job: string): string => `${padded(since, INSTANT_DIGITS)}#${job}`;
export const unsentBefore = owedBefore;

/**
 * Where DynamoDB finds the second after which it may remove an item: idempotency keys, plans and counts of connections have one.
 * Nothing trusts the removal.
 */
export const TTL_ATTRIBUTE = 'ttl';

const index = (name: string, range: string, carried: readonly string[]) => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: name, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ],
  Projection: carried.length
    ? { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...carried] }
    : { ProjectionType: 'KEYS_ONLY' as const },
});

const ATTRIBUTES = [
  ...['pk', 'sk', 'active', 'state', 'unended', 'owed', 'owedKey'],
  ...['listed', 'project', 'cluster', 'asked', 'unendedIn', 'unsent', 'unsentKey'],
];

/** A plain CreateTable input: for dynalite, DynamoDB Local, and the deployment to read. */
export const tableDefinition = (name: string) =>
  ({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ATTRIBUTES.map((attribute) => ({ AttributeName: attribute, AttributeType: 'S' as const })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      index('active', 'pk', ['v', 'w']),
      index('owed', 'owedKey', []),
      // Keys alone: none of these changes with each move of a head, so a commit writes no index but the first. The heads say the rest.
      index('state', 'pk', []),
      index('unended', 'pk', []),
      index('listed', 'pk', []),
      index('project', 'pk', []),
      index('cluster', 'pk', []),
      index('asked', 'pk', []),
      index('unendedIn', 'pk', []),
      index('unsent', 'unsentKey', []),
    ],
  }) satisfies CreateTableCommandInput;
