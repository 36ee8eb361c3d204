/**
 * Open: adapters made from the configuration. Each kind is loaded when a cluster of that kind is first touched, so that no
 * function pays for ssh2 that does not use it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { ClusterConfiguration, LoginConfiguration, SecretConfiguration } from '../app/ports.ts';
import type { Credentials } from '../checkpoint/open-bucket.ts';
import { canonical } from '../job/canonical.ts';
import type { ClusterEntry, Configuration } from './configuration.ts';
import type { Adapter } from './port.ts';
import type { SecretSource } from './secret.ts';
import type { Buckets } from './slurm/launch.ts';

export interface Opening {
  readonly tag: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Reads a private key by the name that the configuration gives it; locally a file. `fresh`: the one that was kept was refused. */
  readonly secret?: (name: string, fresh?: boolean) => Promise<string>;
  /** Values of what programs are given, by the names of the configuration's secrets; apart from keys, so that no spec can name one. */
  readonly programSecret?: SecretSource;
  /** Of a role that a bucket names; without it roles cannot be used. */
  readonly credentialsOf?: (role: string) => Credentials;
  /** The token by which a run of an attempt may report publications; without it none is issued. */
  readonly tokenOf?: (job: string, n: number) => Promise<string>;
}

/** One whole session over SSH, the longest verb included: below a function's own limit. */
const SESSION_SECONDS = 140;

export const openCluster = async (entry: ClusterEntry, opening: Opening): Promise<ClusterConfiguration> => {
  const { id, readOnly, pollEverySeconds, landingBoundSeconds } = entry;
  const common = { id, readOnly, pollEverySeconds, landingBoundSeconds, digest: sha256(canonical(entry)) };
  if (entry.kind === 'memory') {
    const [{ createMemoryCluster }, { adapter }] = await Promise.all([import('./memory/world.ts'), import('./memory/adapter.ts')]);
    const world = createMemoryCluster({ shape: entry.shape, clock: { now: opening.now }, random: opening.random });
    return { ...common, adapter: adapter(world, { cluster: id, tag: opening.tag }), logins: [{ id: 'default', user: 'demo' }] };
  }
  const logins: readonly Login[] = entry.logins ?? [{ id: 'default', user: userInfo().username }];
  return {
    ...common,
    adapter: await slurmAdapter(entry, logins, opening),
    secretDigest: async (name) => {
      const file = logins.find((login) => login.id === name)?.privateKeyFile;
      return file === undefined ? '' : sha256(await secretOf(opening)(file));
    },
    ...(entry.rootId === undefined ? {} : { rootId: entry.rootId }),
    logins: logins.map(({ id, user, allow, defaults }) => ({
      id,
      user,
      ...(allow ? { allow } : {}),
      ...(defaults ? { defaults: said(defaults) } : {}),
    })),
  };
};

/** What planning needs to know of the configuration's secrets: who may name which. */
export const secretNames = (secrets: Configuration['secrets']): readonly SecretConfiguration[] =>
  Object.entries(secrets).map(([name, { allow, logins }]) => ({ name, ...(allow ? { allow } : {}), ...(logins ? { logins } : {}) }));

/** Told by the plan: a job whose saves nobody can list would wait for ever at its first relaunch. */
const usable = (buckets: SlurmEntry['buckets'], { credentialsOf }: Opening): Buckets =>
  Object.fromEntries(
    Object.entries(buckets).map(([name, bucket]) => [
      name,
      bucket.role === undefined || credentialsOf ? bucket : { ...bucket, unusable: 'names a role, and this deployment assumes none' },
    ]),
  );

type Defaults = NonNullable<LoginConfiguration['defaults']>;
const said = ({ account, qos, partition }: NonNullable<Login['defaults']>): Defaults => ({
  ...(account === undefined ? {} : { account }),
  ...(qos === undefined ? {} : { qos }),
  ...(partition === undefined ? {} : { partition }),
});

const secretOf = (opening: Opening): NonNullable<Opening['secret']> => opening.secret ?? ((name) => readFile(name, 'utf8'));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type SlurmEntry = Extract<ClusterEntry, { kind: 'slurm' }>;
type Login = NonNullable<SlurmEntry['logins']>[number];

const slurmAdapter = async (entry: SlurmEntry, logins: readonly Login[], opening: Opening): Promise<Adapter> => {
  const { createSlurmAdapter } = await import('./slurm/adapter.ts');
  const { bucketsOf } = await import('../checkpoint/open-bucket.ts');
  const { publisherFile } = await import('../checkpoint/publisher.ts');
  const sources = { random: (bytes: number) => randomBytes(bytes), nowMs: () => performance.now() };
  const secret = secretOf(opening);
  const { transport } = entry;
  const shell = transport.type === 'shell' ? (await import('./slurm/transport/shell.ts')).shellTransport : undefined;
  const ssh = transport.type === 'ssh' ? (await import('./slurm/transport/ssh.ts')).sshTransport : undefined;
  return createSlurmAdapter({
    id: entry.id,
    tag: opening.tag,
    root: entry.root,
    gpus: entry.gpus,
    now: opening.now,
    random: opening.random,
    helpers: [publisherFile()],
    defaultsOf: (name) => said(logins.find((login) => login.id === name)?.defaults ?? {}),
    buckets: { at: usable(entry.buckets, opening), open: bucketsOf(entry.buckets, opening.credentialsOf) },
    purges: entry.purges,
    ...(opening.programSecret ? { secret: opening.programSecret } : {}),
    // Only to where the configuration says that runs reach us: a token must not be offered to whoever listens on a node.
    ...(entry.apiUrl === undefined ? {} : { apiUrl: entry.apiUrl }),
    ...(opening.tokenOf && entry.apiUrl !== undefined ? { tokenOf: opening.tokenOf } : {}),
    transports: (name) => {
      if (transport.type === 'shell') return shell!({ env: shellEnvironment() }, sources);
      const login = logins.find((one) => one.id === name);
      if (!login?.privateKeyFile) return undefined;
      const { host, port, hostKeys, jump } = transport;
      const hops = jump.map((hop) => ({ ...hop, privateKey: (fresh?: boolean) => secret(hop.privateKeyFile, fresh) }));
      const key = login.privateKeyFile;
      return ssh!(
        {
          host,
          port,
          user: login.user,
          hostKeys,
          privateKey: (fresh?: boolean) => secret(key, fresh),
          jump: hops,
          totalSeconds: SESSION_SECONDS,
        },
        sources,
      );
    },
  });
};

/** Only what Slurm's commands need: the environment of this process is not the job's business. */
const shellEnvironment = (): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SLURM_CONF', 'MYSQL_UNIX_PORT'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
};
