/**
 * Open: adapters made from the configuration. Each kind is loaded when a cluster of that kind is first touched, so that no
 * function pays for ssh2 that does not use it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { ClusterConfiguration } from '../app/ports.ts';
import { canonical } from '../job/canonical.ts';
import type { ClusterEntry } from './configuration.ts';
import type { Adapter } from './port.ts';

export interface Opening {
  readonly tag: string;
  readonly now: () => number;
  readonly random: () => number;
  /** Reads a private key by the name that the configuration gives it; locally a file. */
  readonly secret?: (name: string) => Promise<string>;
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
    logins: logins.map(({ id, user, allow }) => ({ id, user, ...(allow ? { allow } : {}) })),
  };
};

const secretOf = (opening: Opening): ((name: string) => Promise<string>) => opening.secret ?? ((name) => readFile(name, 'utf8'));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type SlurmEntry = Extract<ClusterEntry, { kind: 'slurm' }>;
type Login = NonNullable<SlurmEntry['logins']>[number];

const slurmAdapter = async (entry: SlurmEntry, logins: readonly Login[], opening: Opening): Promise<Adapter> => {
  const { createSlurmAdapter } = await import('./slurm/adapter.ts');
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
    // Only to where the configuration says that runs reach us: a token must not be offered to whoever listens on a node.
    ...(entry.apiUrl === undefined ? {} : { apiUrl: entry.apiUrl }),
    ...(opening.tokenOf && entry.apiUrl !== undefined ? { tokenOf: opening.tokenOf } : {}),
    transports: (name) => {
      if (transport.type === 'shell') return shell!({ env: shellEnvironment() }, sources);
      const login = logins.find((one) => one.id === name);
      if (!login?.privateKeyFile) return undefined;
      const { host, port, hostKeys, jump } = transport;
      const hops = jump.map((hop) => ({ ...hop, privateKey: () => secret(hop.privateKeyFile) }));
      const key = login.privateKeyFile;
      return ssh!(
        { host, port, user: login.user, hostKeys, privateKey: () => secret(key), jump: hops, totalSeconds: SESSION_SECONDS },
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
