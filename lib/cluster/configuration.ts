/**
 * Configuration of clusters (contract §11): one file that names where jobs may go and as whom.
 * A bad file gets one clear line that names the path and the fix, and nothing is started. Keys are named, never contained.
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
  allow: z.array(z.string().min(1).max(128)).min(1, 'must name somebody, or be left out').max(256).optional(),
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
    apiUrl: z
      .string()
      .regex(/^https?:\/\/[^\s"'\\]{1,500}$/, 'must be an http or https address')
      .optional(),
    logins: z.array(loginSchema).min(1).max(64).optional(),
    gpus: z.record(z.string(), z.union([z.strictObject({ gres: z.string() }), z.strictObject({ constraint: z.string() })])).default({}),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('memory'),
    shape: z.enum(['slurm', 'kubernetes']).default('slurm'),
    pollEverySeconds: z.int().min(1).max(3600).default(TIMING.memoryPollSeconds),
  }),
]);
export type ClusterEntry = z.infer<typeof clusterSchema>;

const configurationSchema = z.strictObject({ clusters: z.array(clusterSchema).min(1).max(64) });
export type Configuration = z.infer<typeof configurationSchema>;

export type ReadConfiguration =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly says: string };

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
  for (const [i, cluster] of configuration.clusters.entries()) {
    const path = `clusters[${i}]`;
    if (seen.has(cluster.id)) return { ok: false, says: `${path}.id: there are two clusters '${cluster.id}': ids must differ` };
    seen.add(cluster.id);
    if (cluster.kind !== 'slurm' || cluster.transport.type !== 'ssh') continue;
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
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const known = nearest(key, KEYS);
    return `${childPath(path, key)}: unknown key${known ? `; did you mean '${known}'?` : ''}`;
  }
  return `${path || 'the file'}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
};
