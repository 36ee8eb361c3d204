/** The deployment's file: what it gives, and one clear line for everything that it may not say. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keySecrets, programSecrets, readDeployment } from '../../infra/deployment.ts';
import { readConfiguration } from '../../lib/cluster/configuration.ts';
import { deploymentOf, EXAMPLE, example, least, type Raw, synthesise } from './world.ts';

const says = (raw: unknown): string => {
  const read = readDeployment(typeof raw === 'string' ? raw : JSON.stringify(raw));
  return read.ok ? 'accepted' : read.says;
};
const HOST_KEY = `ssh-ed25519 ${'A'.repeat(68)}`;
const cluster = (more: Raw = {}): Raw => ({ ...(least()['clusters'] as Raw[])[0], ...more });
const login = (more: Raw = {}): Raw => ({ id: 'default', user: 'alice', privateKeySecret: 'dispatch/lab', ...more });
const without = (raw: Raw, key: string): Raw => Object.fromEntries(Object.entries(raw).filter(([name]) => name !== key));
const clusters = (...all: Raw[]): Raw => least({ clusters: all });
const ssh = (more: Raw = {}): Raw => ({ type: 'ssh', host: 'login.example.org', hostKeys: [HOST_KEY], ...more });
const ARN = 'arn:aws:iam::111122223333:role/research';

describe('what a deployment may not say', () => {
  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'not JSON: '],
    ['a list', [], 'the file: must be an object'],
    ['an unknown key', least({ notfy: [] }), "notfy: unknown key; did you mean 'notify'?"],
    ['an unknown key of a cluster', clusters(cluster({ pollEvery: 60 })), 'clusters[0].pollEvery: unknown key'],
    [
      'an unknown key of a login',
      clusters(cluster({ logins: [login({ alow: ['x'] })] })),
      "clusters[0].logins[0].alow: unknown key; did you mean 'allow'?",
    ],
    ['no tag', without(least(), 'tag'), 'tag: missing'],
    ['a tag that is none', least({ tag: 'Prod' }), 'tag: must be 4 characters of lower-case base32, drawn once and kept for ever'],
    ['no clusters', without(least(), 'clusters'), 'clusters: '],
    ['two clusters with one id', clusters(cluster(), cluster()), "clusters[1].id: there are two clusters 'lab': ids must differ"],
    [
      'two logins with one id',
      clusters(cluster({ logins: [login(), login({ user: 'bob' })] })),
      "clusters[0].logins[1].id: there are two logins 'default': ids must differ",
    ],
    [
      'an ARN of a secret without its end, which would be granted and match nothing',
      least({ tokenKeysSecret: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:dispatch/tokens' }),
      'tokenKeysSecret: must be the name or the whole ARN of a secret',
    ],
    [
      'a login without a secret',
      clusters(cluster({ logins: [without(login(), 'privateKeySecret')] })),
      'clusters[0].logins[0].privateKeySecret: missing: name the secret that holds the private key',
    ],
    [
      'no login at all',
      clusters(without(cluster(), 'logins')),
      'clusters[0].logins: missing: an ssh cluster needs at least one login {id, user, privateKeySecret}',
    ],
    [
      'a host on the way without a secret',
      clusters(cluster({ transport: ssh({ jump: [{ host: 'b', user: 'u', hostKeys: [HOST_KEY] }] }) })),
      'clusters[0].transport.jump[0].privateKeySecret: missing: name the secret that holds the private key',
    ],
    [
      'a key in a file',
      clusters(cluster({ logins: [without(login({ privateKeyFile: '/id' }), 'privateKeySecret')] })),
      'clusters[0].logins[0].privateKeyFile: is for a local process; name a secret: privateKeySecret',
    ],
    [
      'a key in the file itself',
      clusters(cluster({ logins: [login({ privateKeySecret: '-----BEGIN OPENSSH PRIVATE KEY-----' })] })),
      'clusters[0].logins[0].privateKeySecret: must be the name or the whole ARN of a secret',
    ],
    [
      'a host key that is none',
      clusters(cluster({ transport: ssh({ hostKeys: [] }) })),
      'clusters[0].transport.hostKeys: must pin at least one host key',
    ],
    [
      'a shell',
      clusters(without(cluster({ transport: { type: 'shell' } }), 'logins')),
      "clusters[0].transport.type: shell runs the scheduler's commands on this machine, and a function has none: use ssh",
    ],
    [
      'a memory cluster',
      clusters({ id: 'demo', kind: 'memory' }),
      'clusters[0].kind: a memory cluster lives in one process, and functions come and go: try it with `npm start`',
    ],
    ['a kind that there is not', clusters({ id: 'k', kind: 'kubernetes' }), 'clusters[0].kind: '],
    [
      'a program’s secret in a file',
      least({ secrets: { wandb: { file: '/token' } } }),
      'secrets.wandb.secretId: missing: a function reads no files; name the secret',
    ],
    [
      'somebody’s own credentials for a bucket',
      clusters(cluster({ buckets: { saves: { profile: 'me' } } })),
      'clusters[0].buckets.saves.profile: is for a local process; name a role',
    ],
    [
      'nobody',
      least({ people: [] }),
      'people: missing: with access iam nobody but these may call the API; name at least one {arn, scopes}',
    ],
    [
      'a caller twice',
      least({ people: [ARN, ARN].map((arn) => ({ arn, scopes: ['read'] })) }),
      'people[1].arn: is there already: one caller has one entry',
    ],
    ['an unknown scope', least({ people: [{ arn: ARN, scopes: ['admin'] }] }), 'people[0].scopes[0]: '],
    [
      'a caller that is no user and no role',
      least({ people: [{ arn: 'arn:aws:iam::111122223333:root', scopes: [] }] }),
      'people[0].arn: must be the ARN of an IAM user or role',
    ],
    [
      'a role with its path, which no session says',
      least({ people: [{ arn: 'arn:aws:iam::111122223333:role/aws-reserved/sso/Admin', scopes: [] }] }),
      "people[0].arn: leave out the role's path: arn:aws:iam::111122223333:role/Admin",
    ],
    [
      'more callers than a function can be told of',
      least({ people: Array.from({ length: 40 }, (_, i) => ({ arn: `${ARN}${i}`, scopes: ['read'] })) }),
      'people: ',
    ],
    [
      'callers beside tokens',
      least({ access: { kind: 'jwt', issuer: 'https://id.example.org', audience: ['dispatch'] } }),
      'people: are IAM callers; with access jwt the tokens say who somebody is',
    ],
    [
      'an issuer in the clear',
      least({ access: { kind: 'jwt', issuer: 'http://id.example.org', audience: ['a'] }, people: [] }),
      'access.issuer: must be the https address of the issuer, as in its tokens',
    ],
    ['a notice that there is not', least({ notify: [{ on: 'dispatch.job.done', sns: 'x' }] }), 'notify[0].on: '],
    [
      'subnets without zones',
      least({ network: { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['a'], subnetIds: ['subnet-01234567', 'subnet-89abcdef'] } }),
      'network.subnetIds: must be as many as availabilityZones, in the same order',
    ],
    [
      'one subnet twice',
      least({
        network: { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['a', 'b'], subnetIds: ['subnet-01234567', 'subnet-01234567'] },
      }),
      'network.subnetIds: must differ',
    ],
    ['a block that is none', least({ network: { natGateways: 1, cidr: '999.1.0.0/20' } }), 'network.cidr: must be a block'],
    [
      'a block that does not begin where it says',
      least({ network: { natGateways: 1, cidr: '10.20.1.0/20' } }),
      'network.cidr: must be a block',
    ],
    ['a network of neither kind', least({ network: { natGatways: 1 } }), 'network.natGateways: missing'],
    [
      'a network that exists, half named',
      least({ network: { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['a'] } }),
      'network.subnetIds: missing',
    ],
    [
      'mail from a topic that is not made here',
      least({ notify: [{ on: 'dispatch.attempt.ended', sns: 'arn:aws:sns:eu-west-1:111122223333:pager', emails: ['a@example.org'] }] }),
      'notify[0].emails: are subscribed to topics that are made here; subscribe them to that one where it is',
    ],
    ['no secret for tokens', without(least(), 'tokenKeysSecret'), 'tokenKeysSecret: missing'],
    [
      'whom alarms call, where there are none',
      least({ alarms: { sns: 'ops' }, observability: { alarms: false } }),
      'alarms: says whom they call, and with observability.alarms false there are none: leave one out',
    ],
    [
      'an unknown key of what is made',
      least({ observability: { dashbord: false } }),
      "observability.dashbord: unknown key; did you mean 'dashboard'?",
    ],
    ['a time for logs that there is not', least({ logDays: 31 }), 'logDays: '],
  ])('%s', (_, raw, expected) => {
    const said = says(raw);
    expect(said.startsWith(expected), said).toBe(true);
    expect(said).not.toMatch(/\n/);
    expect(said.length).toBeLessThan(300);
  });

  it('never repeats what may be a key', () => {
    expect(says(clusters(cluster({ logins: [login({ privateKeySecret: 'BEGIN SECRET' })] })))).not.toContain('BEGIN');
  });
});

describe('what a deployment gives', () => {
  it('the example is one, whole', () => {
    expect(says(readFileSync(EXAMPLE, 'utf8'))).toBe('accepted');
  });

  it('functions read their clusters by the schema of a local process, with a secret’s name where that has a file’s', () => {
    const { clustersText } = deploymentOf(example());
    const read = readConfiguration(clustersText);
    if (!read.ok) throw new Error(read.says);
    const [hpc] = read.configuration.clusters;
    if (hpc?.kind !== 'slurm' || hpc.transport.type !== 'ssh') throw new Error('the example’s cluster is Slurm over ssh');
    expect(hpc.logins?.map((one) => one.privateKeyFile)).toEqual(['dispatch/hpc/research', 'dispatch/hpc/platform']);
    expect(hpc.transport.jump.map((hop) => hop.privateKeyFile)).toEqual(['dispatch/hpc/bastion']);
    expect(read.configuration.secrets['wandb']).toEqual({ secretId: 'dispatch/programs/wandb', allow: ['research'] });
  });

  it('what is written about people, alarms and the network is not in the functions’ file', () => {
    const { clustersText } = deploymentOf(example());
    expect(Object.keys(JSON.parse(clustersText) as object).sort()).toEqual(['clusters', 'secrets']);
  });

  it('alarms and the dashboard are made, each unless told otherwise: they are most of what an idle month costs', () => {
    const made = (observability?: Raw): readonly boolean[] => {
      const { app } = synthesise(least(observability && { observability }));
      return ['Alarm', 'Dashboard'].map((kind) => app.of(`AWS::CloudWatch::${kind}`).length > 0);
    };
    expect(made()).toEqual([true, true]);
    expect(made({ alarms: false })).toEqual([false, true]);
    expect(made({ dashboard: false })).toEqual([true, false]);
    expect(made({ alarms: false, dashboard: false })).toEqual([false, false]);
  });

  it('names every secret once', () => {
    const deployment = deploymentOf(example());
    expect(keySecrets(deployment)).toEqual(['dispatch/hpc/bastion', 'dispatch/hpc/platform', 'dispatch/hpc/research']);
    expect(programSecrets(deployment)).toEqual(['dispatch/programs/wandb']);
  });

  it('IAM is what is asked for unless told otherwise; no network, no tracing, 30 days of logs', () => {
    const { access, network, tracing, logDays, name, reservedConcurrency } = deploymentOf(least());
    expect({ access, network, tracing, logDays, name, reservedConcurrency }).toEqual({
      ...{ access: { kind: 'iam' }, network: undefined, tracing: false, logDays: 30, name: 'dispatch', reservedConcurrency: true },
    });
  });
});
