/**
 * Limits: how much one deployment may be, by the quotas that CloudFormation and IAM would otherwise answer with when half of it stands.
 * Pure; readDeployment asks `tooMuch` last, and grants.ts divides secrets by `booksOf`.
 */
import type { Configuration } from '../lib/cluster/configuration.ts';
import { watchedTogether } from './alarm-table.ts';
import { ticksOf } from './ticks.ts';

/** A stack holds 500. */
const MOST_RESOURCES = 500;
/** All that does not depend on the file: functions, roles, routes, machine, alarms; a test counts them. */
export const FIXED_RESOURCES = { without: 127, network: 26, perGateway: 2 } as const;

/** A security group holds 60 rules out. */
const MOST_PORTS = 60;

/** Bytes of an ARN in a policy beside its name: the longest partition and region, an account, quotes and a comma. */
const SECRET_FRAME = 'arn:aws-us-gov:secretsmanager:ap-southeast-1:111122223333:secret:-??????",""'.length;
const BUCKET_FRAME = 'arn:aws-us-gov:s3:::",""'.length;

export const bytesOfSecrets = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + name.length + (name.startsWith('arn:') ? 3 : SECRET_FRAME), 0);

/** Of a role's own policies, which hold 10,240 bytes together. Secrets of two kinds and buckets take half of it, the rest the other half. */
const INLINE_BYTES = 2000;
/** Of a policy apart, which holds 6,144 with its frame. */
const BOOK_BYTES = 5900;
/** Policies apart that a role may have. */
const MOST_BOOKS = 10;

/** Names of secrets for policies apart, each small enough for one; none where all of them fit into the roles themselves. */
export const booksOf = (names: readonly string[]): readonly (readonly string[])[] => {
  if (bytesOfSecrets(names) <= INLINE_BYTES) return [];
  const books: string[][] = [];
  for (const name of names) {
    const last = books.at(-1);
    if (last && bytesOfSecrets([...last, name]) <= BOOK_BYTES) last.push(name);
    else books.push([name]);
  }
  return books;
};

export interface Weighed extends Pick<Configuration, 'clusters'> {
  readonly notify: readonly { readonly sns: string; readonly emails: readonly string[] }[];
  readonly alarms?: { readonly sns: string; readonly emails: readonly string[] } | undefined;
  readonly network?: { readonly natGateways: number } | { readonly vpcId: string } | undefined;
  readonly keys: readonly string[];
  readonly programs: readonly string[];
}

/** Never less than there will be: each notice is counted as a rule and a topic of its own. */
export const resourcesOf = ({ clusters, notify, alarms, network, keys, programs }: Weighed): number => {
  const ticks = ticksOf({ clusters });
  const topics = [...notify, ...(alarms ? [alarms] : [])];
  const told = topics.reduce((sum, { sns, emails }) => sum + 1 + (sns.startsWith('arn:') ? 0 : 2 + emails.length), 0);
  const { without, network: own, perGateway } = FIXED_RESOURCES;
  const gateways = network === undefined ? 0 : 'vpcId' in network ? 1 : own + perGateway * network.natGateways;
  return without + ticks.length + watchedTogether(ticks).length + told + gateways + booksOf(keys).length + booksOf(programs).length;
};

/** Where functions in a network must get out to: AWS, the first host on the way to each login node, and stores that are not S3. */
export const portsOf = ({ clusters }: Pick<Configuration, 'clusters'>): readonly number[] => {
  const ports = clusters.flatMap((cluster) => {
    if (cluster.kind !== 'slurm') return [];
    const stores = Object.values(cluster.buckets).flatMap(({ endpoint }) => (endpoint === undefined ? [] : portOf(endpoint)));
    return cluster.transport.type === 'ssh' ? [cluster.transport.jump[0]?.port ?? cluster.transport.port, ...stores] : stores;
  });
  return [...new Set([443, ...ports])].sort((a, b) => a - b);
};
const portOf = (address: string): number => {
  const url = URL.parse(address);
  return Number(url?.port || (url?.protocol === 'http:' ? 80 : 443));
};

const bytesOfBuckets = ({ clusters }: Pick<Weighed, 'clusters'>): number => {
  const buckets = clusters.flatMap((cluster) => (cluster.kind === 'slurm' ? Object.entries(cluster.buckets) : []));
  const named = buckets.map(([name, { role }]) => (role === undefined ? ' '.repeat(BUCKET_FRAME) + name : `${role},""`));
  return [...new Set(named)].reduce((sum, one) => sum + one.length, 0);
};

/** In one line what is too much, and what to do; undefined: it all fits. */
export const tooMuch = (weighed: Weighed): string | undefined => {
  if (booksOf(weighed.keys).length + booksOf(weighed.programs).length > MOST_BOOKS)
    return 'clusters, secrets: name more secrets than a role can be granted (about 59,000 bytes of ARNs); let logins share keys';
  if (bytesOfBuckets(weighed) > INLINE_BYTES)
    return `clusters: their buckets and roles of buckets are more than a role can be granted (${INLINE_BYTES} bytes of ARNs); let buckets share a role`;
  const ports = portsOf(weighed).length;
  if (weighed.network && ports > MOST_PORTS)
    return `clusters: are behind ${ports} different ports, and a network lets out to ${MOST_PORTS}; make a second deployment`;
  const resources = resourcesOf(weighed);
  if (resources > MOST_RESOURCES)
    return `clusters, notify: make ${resources} resources, and a stack holds ${MOST_RESOURCES}; poll fewer logins, tell fewer topics, or make a second deployment`;
  return undefined;
};
