/**
 * Configuration of clusters (contract §11): one file that names where jobs may go, as whom, and which secrets programs may be given.
 * A bad file gets one clear line that names the path and the fix, and nothing is started. Keys and secrets are named, never contained.
 */
import * as z from 'zod';
import { nearest } from '../job/nearest.ts';
import { childPath } from '../job/refusal.ts';
import { TIMING } from '../job/timing.ts';

const id = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/, 'must be 1 to 31 of a-z, 0-9 and -, not beginning with -');
const absolute = z.string().regex(/^\/[^\0]{0,199}$/, 'must be an absolute path of at most 200 characters');
const hostKey = z
  .string()
  .regex(
    /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3}) [A-Za-z0-9+/]+=*$/,
    'must be "type base64", as ssh-keyscan prints it after the host name',
  );
const port = z.int().min(1).max(65_535);
const hop = {
  host: z.string().min(1).max(255),
  port: port.default(22),
  hostKeys: z.array(hostKey).min(1, 'must pin at least one host key'),
};
const keyFile = z.string().min(1).max(512);
/** As one word of a scheduler: no space, nothing that could be taken for an option. */
const word = z.string().regex(/^[^\s\p{C}-][^\s\p{C}]{0,254}$/u, 'must be one word, not beginning with -');
const url = z.string().regex(/^https?:\/\/[^\s"'\\]{1,500}$/, 'must be an http or https address');
const allowed = z.array(z.string().min(1).max(128)).min(1, 'must name somebody, or be left out').max(256);

const transportSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ssh'),
    ...hop,
    jump: z
      .array(z.strictObject({ ...hop, user: z.string().min(1).max(64), privateKeyFile: keyFile }))
      .max(4)
      .default([]),
  }),
  z.strictObject({ type: z.literal('shell') }),
]);

const loginSchema = z.strictObject({
  id,
  user: z.string().min(1).max(64),
  privateKeyFile: keyFile.optional(),
  /** Principals and groups; absent: everybody who may submit. */
  allow: allowed.optional(),
  /** Where a spec's own extension says nothing. */
  defaults: z.strictObject({ account: word.optional(), qos: word.optional(), partition: word.optional() }).optional(),
});

const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');
/** How the supervisor reaches a bucket, to list what runs announced there; runs bring credentials of their own. */
const bucketSchema = z.strictObject({
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'must be the name of a region')
    .default('us-east-1'),
  /** Of a store that is not S3 itself. */
  endpoint: url.optional(),
  /** Assumed in a deployment. */
  role: z
    .string()
    .regex(/^arn:[a-z-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'must be the ARN of a role')
    .optional(),
  /** Of this machine's AWS configuration. */
  profile: z.string().min(1).max(128).optional(),
});

const secretName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/, 'must be 1 to 128 of letters, digits and ._/-');
const secretSchema = z.strictObject({
  /** Locally: the file that holds the value. */
  file: z.string().min(1).max(512).optional(),
  /** In a deployment: its name or ARN in Secrets Manager. */
  secretId: z.string().min(1).max(2048).optional(),
  /** Principals and groups that may use it; absent: everybody who may submit. */
  allow: allowed.optional(),
  /** `cluster/login`: only for jobs that run under one of these; absent: under any. */
  logins: z
    .array(z.string().regex(/^[a-z0-9-]{1,31}\/[a-z0-9-]{1,31}$/, 'must be "cluster/login"'))
    .min(1, 'must name a login, or be left out')
    .max(256)
    .optional(),
});

const common = {
  id,
  readOnly: z.boolean().default(false),
  landingBoundSeconds: z
    .int()
    .min(TIMING.submitFloorSeconds * 2)
    .max(3600)
    .default(TIMING.landingBoundSeconds),
};

const clusterSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('slurm'),
    root: absolute,
    pollEverySeconds: z.int().min(10, 'must be at least 10 on a real cluster').max(3600).default(TIMING.pollSeconds),
    transport: transportSchema,
    /** Clusters that declare the same one see the same files under `root`; an equal path proves nothing. */
    rootId: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be 1 to 63 of letters, digits and ._-')
      .optional(),
    apiUrl: url.optional(),
    logins: z.array(loginSchema).min(1).max(64).optional(),
    gpus: z.record(z.string(), z.union([z.strictObject({ gres: z.string() }), z.strictObject({ constraint: z.string() })])).default({}),
    buckets: z.record(bucketName, bucketSchema).default({}),
    /** The site removes ended jobs from its accounting so early that a cause may be asked for in vain. */
    purges: z.boolean().default(false),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('memory'),
    shape: z.enum(['slurm', 'kubernetes']).default('slurm'),
    pollEverySeconds: z.int().min(1).max(3600).default(TIMING.memoryPollSeconds),
  }),
]);
export type ClusterEntry = z.infer<typeof clusterSchema>;

const configurationSchema = z.strictObject({
  clusters: z.array(clusterSchema).min(1).max(64),
  secrets: z.record(secretName, secretSchema).default({}),
});
export type SecretEntry = z.infer<typeof secretSchema>;
export type BucketEntry = z.infer<typeof bucketSchema>;
export type Configuration = z.infer<typeof configurationSchema>;

export type ReadConfiguration =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly says: string };

const MOST_SECRETS = 256;

/** Known keys anywhere in the file, for the nearest one to a typo. */
const KEYS = [
  ...[
    'clusters',
    'id',
    'kind',
    'root',
    'readOnly',
    'pollEverySeconds',
    'landingBoundSeconds',
    'transport',
    'apiUrl',
    'logins',
    'gpus',
    'shape',
  ],
  ...['type', 'host', 'port', 'hostKeys', 'jump', 'user', 'privateKeyFile', 'allow', 'gres', 'constraint'],
  ...['secrets', 'file', 'secretId', 'rootId', 'buckets', 'purges', 'region', 'endpoint', 'role', 'profile'],
  ...['defaults', 'account', 'qos', 'partition'],
];

export const readConfiguration = (text: string): ReadConfiguration => {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    return { ok: false, says: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const parsed = configurationSchema.safeParse(input);
  if (!parsed.success) return { ok: false, says: firstFault(parsed.error.issues) };
  return check(parsed.data);
};

const check = (configuration: Configuration): ReadConfiguration => {
  const seen = new Set<string>();
  const secrets = Object.entries(configuration.secrets);
  if (secrets.length > MOST_SECRETS) return { ok: false, says: `secrets: ${secrets.length} are more than ${MOST_SECRETS}` };
  for (const [name, { file, secretId }] of secrets)
    if ((file === undefined) === (secretId === undefined))
      return { ok: false, says: `${childPath('secrets', name)}: needs one of file (locally) and secretId (in a deployment)` };
  for (const [i, cluster] of configuration.clusters.entries()) {
    const path = `clusters[${i}]`;
    if (seen.has(cluster.id)) return { ok: false, says: `${path}.id: there are two clusters '${cluster.id}': ids must differ` };
    seen.add(cluster.id);
    if (cluster.kind !== 'slurm') continue;
    for (const [name, { role, profile }] of Object.entries(cluster.buckets))
      if (role !== undefined && profile !== undefined)
        return { ok: false, says: `${path}.${childPath('buckets', name)}: has role and profile; keep one of the two` };
    const logins = (cluster.logins ?? []).map((login) => login.id);
    const again = logins.findIndex((id, k) => logins.indexOf(id) < k);
    if (again >= 0) return { ok: false, says: `${path}.logins[${again}].id: there are two logins '${logins[again]}': ids must differ` };
    if (cluster.transport.type !== 'ssh') continue;
    if (!cluster.logins)
      return { ok: false, says: `${path}.logins: missing: an ssh cluster needs at least one login {id, user, privateKeyFile}` };
    const keyless = cluster.logins.findIndex((login) => login.privateKeyFile === undefined);
    if (keyless >= 0)
      return { ok: false, says: `${path}.logins[${keyless}].privateKeyFile: missing: name the file that holds the private key` };
  }
  return { ok: true, configuration };
};

/** The first fault in one line: where, what, and the nearest known key for a typo. */
const firstFault = (issues: readonly z.core.$ZodIssue[]): string => {
  const issue = issues[0];
  if (!issue) return 'not a configuration';
  const path = issue.path.reduce<string>((at, key) => childPath(at, typeof key === 'number' ? key : String(key)), '');
  // Of a name in a table zod says that it is bad, and within why.
  if (issue.code === 'invalid_key') return `${path}: ${issue.issues[0]?.message ?? 'is no name'}`;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const known = nearest(key, KEYS);
    return `${childPath(path, key)}: unknown key${known ? `; did you mean '${known}'?` : ''}`;
  }
  return `${path || 'the file'}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
};
