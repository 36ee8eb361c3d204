/**
 * Deployment: the one file that says what is deployed and for whom: clusters, logins, the names of secrets, people, whom to tell.
 * A bad file gets one clear line that names the path and the fix, and nothing is synthesised.
 *
 * The part about clusters is read by the very schema of a local process (lib/cluster/configuration.ts) after one renaming: here a key
 * is a secret's name, `privateKeySecret`, where there it is a file. Guards that nothing is deployed that cannot work in a function:
 * no key in a file, no cluster on this very machine, no cluster whose state is one process.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { NOTICE_TYPES, type NoticeType } from '../lib/app/notices.ts';
import { type Callers, callersSchema } from '../lib/aws/principal.ts';
import { type Configuration, readConfiguration } from '../lib/cluster/configuration.ts';
import { canonical } from '../lib/job/canonical.ts';
import { TAG } from '../lib/job/identity.ts';
import { nearest } from '../lib/job/nearest.ts';
import { childPath } from '../lib/job/refusal.ts';
import { tooMuch } from './limits.ts';

/** A name in Secrets Manager, or a whole ARN: one without the six characters at its end is granted, and then matches nothing. */
const secretName = z
  .string()
  .regex(
    /^(arn:[a-z-]+:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}|[\w/+=.@-]{1,512})$/,
    'must be the name or the whole ARN of a secret',
  );
const topic = {
  /** Name of a topic that is made, or the ARN of one that exists. */
  sns: z
    .string()
    .regex(
      /^(arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:)?[A-Za-z0-9_-]{1,80}$/,
      'must be a short name of letters, digits, _ and -, or the ARN of a topic',
    ),
  /** Subscribed to a topic that is made; each gets a mail to confirm. */
  emails: z.array(z.email()).max(50).default([]),
};
const noticeType = z.enum(NOTICE_TYPES as [NoticeType, ...NoticeType[]]);

const accessSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('iam') }),
  z.strictObject({
    kind: z.literal('jwt'),
    issuer: z.string().regex(/^https:\/\/\S{1,500}$/, 'must be the https address of the issuer, as in its tokens'),
    audience: z.array(z.string().min(1).max(256)).min(1, 'must name the audience that tokens are made for').max(10),
  }),
]);

/** One that does not begin where it says is moved there by AWS, and its subnets are not. */
const isBlock = (text: string): boolean => {
  const { success } = z.cidrv4().safeParse(text);
  const [address = '', prefix = ''] = text.split('/');
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return success && Number(prefix) >= 16 && Number(prefix) <= 24 && number % 2 ** (32 - Number(prefix)) === 0;
};

const networkSchema = z.union([
  /** A network that exists; no look-up is made, so what is needed is named. */
  z.strictObject({
    vpcId: z.string().regex(/^vpc-[0-9a-f]{8,17}$/, 'must be the id of a VPC'),
    availabilityZones: z.array(z.string().min(1)).min(1).max(6),
    /** Private ones, in the order of the zones. */
    subnetIds: z
      .array(z.string().regex(/^subnet-[0-9a-f]{8,17}$/, 'must be the id of a subnet'))
      .min(1)
      .max(6),
  }),
  /** A network of its own with this many fixed addresses, for sites that let in only known ones. */
  z.strictObject({
    natGateways: z.int().min(1).max(2),
    cidr: z.string().refine(isBlock, 'must be a block of /16 to /24 that begins where it says, like 10.20.0.0/20').default('10.20.0.0/20'),
  }),
]);

const ownSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be 1 to 20 of a-z, 0-9 and -, beginning with a letter')
    .default('dispatch'),
  tag: z.string().regex(TAG, 'must be 4 characters of lower-case base32, drawn once and kept for ever'),
  access: accessSchema.default({ kind: 'iam' }),
  people: callersSchema.default([]),
  tokenKeysSecret: secretName,
  notify: z
    .array(z.strictObject({ on: z.union([noticeType, z.array(noticeType).min(1)]), ...topic }))
    .max(50)
    .default([]),
  alarms: z
    .strictObject({ ...topic, questionHours: z.int().min(1).max(72).default(4), pages: z.string().min(1).max(500).default('docs/runbook') })
    .optional(),
  /** A restored table, in the place of the state stack's own. */
  table: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{3,255}$/, 'must be the name of a table')
    .optional(),
  maxActiveJobs: z.int().min(1).max(9_999_999).optional(),
  requestsPerSecond: z.int().min(1).max(5000).default(50),
  network: networkSchema.optional(),
  logDays: z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 731, 1827, 3653]).default(30),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO'),
  tracing: z.boolean().default(false),
  /** Made and paid for, or not: most of what is paid while nothing happens (docs/cost.md). */
  observability: z
    .strictObject({ alarms: z.boolean().default(true), dashboard: z.boolean().default(true) })
    .default({ alarms: true, dashboard: true }),
  reservedConcurrency: z.boolean().default(true),
});

/** Of the file itself. */
export const DEPLOYMENT_KEYS: readonly string[] = [...Object.keys(ownSchema.shape), 'clusters', 'secrets'];

type Own = z.infer<typeof ownSchema>;
export type Network = NonNullable<Own['network']>;
export type Alarming = NonNullable<Own['alarms']>;

export interface Deployment extends Own {
  readonly clusters: Configuration['clusters'];
  readonly secrets: Configuration['secrets'];
  readonly people: Callers;
  /** What the functions read: the text of their configuration of clusters. */
  readonly clustersText: string;
}

export type ReadDeployment = { readonly ok: true; readonly deployment: Deployment } | { readonly ok: false; readonly says: string };

/** All variables of a function may weigh 4 KB together, quotes escaped; the callers are the only one that grows. */
const CALLERS_BYTES = 3200;

export const readDeployment = (text: string): ReadDeployment => {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    return { ok: false, says: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { ok: false, says: 'the file: must be an object' };
  const { clusters, secrets, ...rest } = input as Record<string, unknown>;
  const own = ownSchema.safeParse(rest);
  if (!own.success) return { ok: false, says: firstFault(own.error.issues) };
  const fault = peopleFault(own.data) ?? networkFault(own.data.network) ?? topicFault(own.data) ?? alarmsFault(own.data);
  if (fault) return { ok: false, says: fault };
  const read = readClusters(clusters, secrets);
  if (!read.ok) return read;
  const deployment: Deployment = { ...own.data, ...read };
  const says = tooMuch({ ...deployment, keys: keySecrets(deployment), programs: programSecrets(deployment) });
  return says === undefined ? { ok: true, deployment } : { ok: false, says };
};

/** What runs in a deployed function has no file of a user's, no scheduler beside it, and no memory that lasts. */
const readClusters = (clusters: unknown, secrets: unknown) => {
  const renamed = withSecrets(clusters);
  if (!renamed.ok) return renamed;
  const clustersText = canonical({ clusters: renamed.clusters, ...(secrets === undefined ? {} : { secrets }) });
  const read = readConfiguration(clustersText);
  if (!read.ok) return { ok: false as const, says: read.says.replaceAll('privateKeyFile', 'privateKeySecret') };
  for (const [name, { secretId }] of Object.entries(read.configuration.secrets)) {
    const path = `${childPath('secrets', name)}.secretId`;
    if (secretId === undefined) return { ok: false as const, says: `${path}: missing: a function reads no files; name the secret` };
    if (!secretName.safeParse(secretId).success)
      return { ok: false as const, says: `${path}: must be the name or the whole ARN of a secret` };
  }
  for (const [i, cluster] of read.configuration.clusters.entries()) {
    const buckets = Object.entries(cluster.kind === 'slurm' ? cluster.buckets : {});
    const personal = buckets.find(([, bucket]) => bucket.profile !== undefined);
    if (personal)
      return {
        ok: false as const,
        says: `${childPath(`clusters[${i}].buckets`, personal[0])}.profile: is for a local process; name a role`,
      };
  }
  return { ok: true as const, ...read.configuration, clustersText };
};

const hopSchema = z.looseObject({ privateKeyFile: z.unknown().optional(), privateKeySecret: z.unknown().optional() });
const clusterSchema = z.looseObject({
  kind: z.unknown().optional(),
  transport: z.looseObject({ type: z.unknown().optional(), jump: z.array(hopSchema).optional() }).optional(),
  logins: z.array(hopSchema).optional(),
});
type Hop = z.infer<typeof hopSchema>;

/** With a secret's name where a local process has a file's. What is not even of that shape is left for the schema to refuse. */
const withSecrets = (input: unknown): { readonly ok: true; readonly clusters: unknown } | { readonly ok: false; readonly says: string } => {
  const read = z.array(clusterSchema).safeParse(input);
  if (!read.success) return { ok: true, clusters: input };
  let says: string | undefined;
  const renamed = (hop: Hop, path: string): Hop => {
    const { privateKeySecret, ...kept } = hop;
    if (kept.privateKeyFile !== undefined) says ??= `${path}.privateKeyFile: is for a local process; name a secret: privateKeySecret`;
    else if (privateKeySecret === undefined) says ??= `${path}.privateKeySecret: missing: name the secret that holds the private key`;
    else if (!secretName.safeParse(privateKeySecret).success)
      says ??= `${path}.privateKeySecret: must be the name or the whole ARN of a secret`;
    return { ...kept, privateKeyFile: privateKeySecret };
  };
  const clusters = read.data.map((cluster, i) => {
    const { transport, logins } = cluster;
    if (cluster.kind === 'memory')
      says ??= `clusters[${i}].kind: a memory cluster lives in one process, and functions come and go: try it with \`npm start\``;
    if (transport?.type === 'shell')
      says ??= `clusters[${i}].transport.type: shell runs the scheduler's commands on this machine, and a function has none: use ssh`;
    if (cluster.kind !== 'slurm' || transport?.type !== 'ssh') return cluster;
    const jump = transport.jump?.map((hop, j) => renamed(hop, `clusters[${i}].transport.jump[${j}]`));
    const named = logins?.map((login, j) => renamed(login, `clusters[${i}].logins[${j}]`));
    return { ...cluster, transport: { ...transport, ...(jump && { jump }) }, ...(named && { logins: named }) };
  });
  return says === undefined ? { ok: true, clusters } : { ok: false, says };
};

const peopleFault = ({ access, people }: Own): string | undefined => {
  if (access.kind === 'jwt')
    return people.length === 0 ? undefined : 'people: are IAM callers; with access jwt the tokens say who somebody is';
  if (people.length === 0) return 'people: missing: with access iam nobody but these may call the API; name at least one {arn, scopes}';
  for (const [i, { arn }] of people.entries()) {
    if (!/^arn:[a-z-]+:iam::\d{12}:(user|role)\/[\w+=,.@/-]{1,576}$/.test(arn))
      return `people[${i}].arn: must be the ARN of an IAM user or role`;
    // A session says its role's name without the path, so a path would never match.
    if (/:role\/.*\//.test(arn)) return `people[${i}].arn: leave out the role's path: ${arn.replace(/:role\/.*\//, ':role/')}`;
  }
  const twice = people.findIndex(({ arn }, i) => people.findIndex((one) => one.arn === arn) < i);
  if (twice >= 0) return `people[${twice}].arn: is there already: one caller has one entry`;
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(people)));
  return bytes > CALLERS_BYTES ? `people: ${bytes} bytes are more than the ${CALLERS_BYTES} that fit; let people share roles` : undefined;
};

const networkFault = (network: Network | undefined): string | undefined => {
  if (!network || !('vpcId' in network)) return undefined;
  const { availabilityZones, subnetIds } = network;
  if (availabilityZones.length !== subnetIds.length) return 'network.subnetIds: must be as many as availabilityZones, in the same order';
  return new Set(subnetIds).size < subnetIds.length ? 'network.subnetIds: must differ' : undefined;
};

/** Nobody is subscribed to a topic of somebody else's; said, since whoever stands there would wait for mail. */
const topicFault = ({ notify, alarms }: Own): string | undefined => {
  const theirs = (one: { readonly sns: string; readonly emails: readonly string[] }): boolean =>
    one.sns.startsWith('arn:') && one.emails.length > 0;
  const at = notify.findIndex(theirs);
  const path = at >= 0 ? `notify[${at}]` : alarms && theirs(alarms) ? 'alarms' : undefined;
  return path && `${path}.emails: are subscribed to topics that are made here; subscribe them to that one where it is`;
};

const alarmsFault = ({ alarms, observability }: Own): string | undefined =>
  alarms && !observability.alarms
    ? 'alarms: says whom they call, and with observability.alarms false there are none: leave one out'
    : undefined;

const KEYS = [
  ...[
    'name',
    'tag',
    'clusters',
    'secrets',
    'access',
    'people',
    'tokenKeysSecret',
    'notify',
    'alarms',
    'maxActiveJobs',
    'requestsPerSecond',
  ],
  ...[
    'network',
    'logDays',
    'logLevel',
    'tracing',
    'observability',
    'dashboard',
    'reservedConcurrency',
    'kind',
    'issuer',
    'audience',
    'arn',
    'id',
    'groups',
    'scopes',
  ],
  ...['on', 'sns', 'emails', 'questionHours', 'pages', 'vpcId', 'availabilityZones', 'subnetIds', 'natGateways', 'cidr'],
];

/** Of what may be one of several: what is wrong with the one that it comes nearest to, having the fewest faults, and those deepest in it. */
const nearestOf = (several: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] =>
  [...several].sort((one, other) => one.length - other.length || (other[0]?.path.length ?? 0) - (one[0]?.path.length ?? 0))[0] ?? [];

/** The first fault in one line: where, what, and the nearest known key for a typo. */
const firstFault = (issues: readonly z.core.$ZodIssue[], under: readonly PropertyKey[] = []): string => {
  const issue = issues[0];
  if (!issue) return 'not a deployment';
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return firstFault(nearestOf(issue.errors), [...under, ...issue.path]);
  const path = [...under, ...issue.path].reduce<string>((at, key) => childPath(at, typeof key === 'number' ? key : String(key)), '');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const known = nearest(key, KEYS);
    return `${childPath(path, key)}: unknown key${known ? `; did you mean '${known}'?` : ''}`;
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return `${path}: ${missing ? 'missing' : issue.message.charAt(0).toLowerCase() + issue.message.slice(1)}`;
};

/** Every secret that functions which connect to clusters read: the keys of logins and of hosts on the way. */
export const keySecrets = ({ clusters }: Pick<Deployment, 'clusters'>): readonly string[] => {
  const named = clusters.flatMap((cluster) => {
    if (cluster.kind !== 'slurm' || cluster.transport.type !== 'ssh') return [];
    return [...(cluster.logins ?? []), ...cluster.transport.jump].flatMap((hop) => hop.privateKeyFile ?? []);
  });
  return [...new Set(named)].sort();
};

/** Every secret that programs may be given. */
export const programSecrets = ({ secrets }: Pick<Deployment, 'secrets'>): readonly string[] =>
  [...new Set(Object.values(secrets).flatMap(({ secretId }) => secretId ?? []))].sort();

/** A short stable word for a text that is no identifier. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);
