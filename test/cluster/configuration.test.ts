/** A bad configuration gets one clear line that names the path and the fix, and nothing is started (contract §11). */
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../lib/cluster/configuration.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ';
const ssh = { type: 'ssh', host: 'login.example.org', hostKeys: [KEY] };
const slurm = {
  id: 'hpc',
  kind: 'slurm',
  root: '/shared/dispatch',
  transport: ssh,
  logins: [{ id: 'me', user: 'u1', privateKeyFile: 'id' }],
};
const memory = { id: 'demo', kind: 'memory' };
const read = (...clusters: unknown[]) => readConfiguration(JSON.stringify({ clusters }));
const withSecrets = (secrets: unknown) => readConfiguration(JSON.stringify({ clusters: [memory], secrets }));
const me = slurm.logins[0]!;
const without = (from: object, ...keys: string[]): object =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));

describe('given a good file', () => {
  test('then every default is filled in', () => {
    expect(read(slurm, memory)).toEqual({
      ok: true,
      configuration: {
        clusters: [
          {
            ...slurm,
            readOnly: false,
            landingBoundSeconds: 90,
            pollEverySeconds: 60,
            gpus: {},
            buckets: {},
            purges: false,
            transport: { ...ssh, port: 22, jump: [] },
          },
          { ...memory, readOnly: false, landingBoundSeconds: 90, pollEverySeconds: 1, shape: 'slurm' },
        ],
        secrets: {},
      },
    });
  });

  test('then everything that a cluster may say is kept as it was said', () => {
    const all = {
      ...slurm,
      rootId: 'lustre-1',
      purges: true,
      logins: [{ ...me, defaults: { account: 'lp42', qos: 'normal', partition: 'gpu' } }],
      buckets: { saves: { endpoint: 'https://s3.example.org', profile: 'lab' }, 'other.saves': { region: 'eu-central-1' } },
    };
    const said = read(all);
    expect(said).toMatchObject({ ok: true });
    expect(said.ok && said.configuration.clusters[0]).toMatchObject({
      ...all,
      transport: ssh,
      buckets: { saves: { region: 'us-east-1' }, 'other.saves': { region: 'eu-central-1' } },
    });
    expect(withSecrets({ 'wandb/mara': { file: '/etc/w', allow: ['mara'], logins: ['hpc/me'] } })).toMatchObject({ ok: true });
  });

  test('then a local Slurm needs no login and no key', () => {
    const local = { ...without(slurm, 'logins'), transport: { type: 'shell' } };
    expect(read(local)).toMatchObject({ ok: true });
  });
});

const BAD: readonly (readonly [string, unknown[], string])[] = [
  ['no cluster', [], 'clusters: too small: expected array to have >=1 items'],
  ['an unknown kind', [{ ...memory, kind: 'lsf' }], "clusters[0].kind: invalid discriminator value. Expected 'slurm' | 'memory'"],
  ['a key with a typo', [{ ...slurm, pollEverySecond: 60 }], "clusters[0].pollEverySecond: unknown key; did you mean 'pollEverySeconds'?"],
  ['a key nobody knows', [{ ...memory, zzz: 1 }], 'clusters[0].zzz: unknown key'],
  [
    'a login for nobody',
    [{ ...slurm, logins: [{ ...slurm.logins[0], allow: [] }] }],
    'clusters[0].logins[0].allow: must name somebody, or be left out',
  ],
  ['a root that is not absolute', [{ ...slurm, root: 'shared' }], 'clusters[0].root: must be an absolute path of at most 200 characters'],
  ['an id with capitals', [{ ...memory, id: 'HPC' }], 'clusters[0].id: must be 1 to 31 of a-z, 0-9 and -, not beginning with -'],
  ['a poll that is too fast', [{ ...slurm, pollEverySeconds: 5 }], 'clusters[0].pollEverySeconds: must be at least 10 on a real cluster'],
  [
    'an address for runs that is none',
    [{ ...slurm, apiUrl: 'login.example.org:8080' }],
    'clusters[0].apiUrl: must be an http or https address',
  ],
  [
    'no pinned host key',
    [{ ...slurm, transport: { ...ssh, hostKeys: [] } }],
    'clusters[0].transport.hostKeys: must pin at least one host key',
  ],
  [
    'a host key with its host before it',
    [{ ...slurm, transport: { ...ssh, hostKeys: [`login ${KEY}`] } }],
    'clusters[0].transport.hostKeys[0]: must be "type base64", as ssh-keyscan prints it after the host name',
  ],
  [
    'no login over ssh',
    [without(slurm, 'logins')],
    'clusters[0].logins: missing: an ssh cluster needs at least one login {id, user, privateKeyFile}',
  ],
  [
    'a login without a key',
    [memory, { ...slurm, logins: [{ id: 'me', user: 'u1' }] }],
    'clusters[1].logins[0].privateKeyFile: missing: name the file that holds the private key',
  ],
  [
    'a default with a typo',
    [{ ...slurm, logins: [{ ...me, defaults: { acount: 'a' } }] }],
    "clusters[0].logins[0].defaults.acount: unknown key; did you mean 'account'?",
  ],
  [
    'a default that is an option',
    [{ ...slurm, logins: [{ ...me, defaults: { qos: '--hold' } }] }],
    'clusters[0].logins[0].defaults.qos: must be one word, not beginning with -',
  ],
  ['an identity of a root with a slash', [{ ...slurm, rootId: '/a' }], 'clusters[0].rootId: must be 1 to 63 of letters, digits and ._-'],
  ['purging that is no yes or no', [{ ...slurm, purges: 300 }], 'clusters[0].purges: invalid input: expected boolean, received number'],
  ['a bucket that cannot be one', [{ ...slurm, buckets: { 'A b': {} } }], 'clusters[0].buckets["A b"]: must be the name of a bucket'],
  [
    'a bucket with a typo',
    [{ ...slurm, buckets: { saves: { regoin: 'x' } } }],
    "clusters[0].buckets.saves.regoin: unknown key; did you mean 'region'?",
  ],
  [
    'a bucket with two kinds of credentials',
    [{ ...slurm, buckets: { saves: { role: 'arn:aws:iam::123456789012:role/lister', profile: 'p' } } }],
    'clusters[0].buckets.saves: has role and profile; keep one of the two',
  ],
  [
    'a role that is none',
    [{ ...slurm, buckets: { saves: { role: 'lister' } } }],
    'clusters[0].buckets.saves.role: must be the ARN of a role',
  ],
  ['two of one name', [memory, memory], "clusters[1].id: there are two clusters 'demo': ids must differ"],
  [
    'two logins of one name',
    [{ ...slurm, logins: [slurm.logins[0], slurm.logins[0]] }],
    `clusters[0].logins[1].id: there are two logins '${slurm.logins[0]?.id}': ids must differ`,
  ],
];

describe('given a bad file', () => {
  test.each(BAD)('with %s, then one line that says where and what', (_, clusters, says) => {
    const said = read(...clusters);
    expect(said.ok).toBe(false);
    if (said.ok) return;
    expect(said.says).not.toContain('\n');
    expect(said.says).toBe(says);
  });

  test.each([
    ['no place for its value', { a: {} }, 'secrets.a: needs one of file (locally) and secretId (in a deployment)'],
    ['two places', { a: { file: 'f', secretId: 's' } }, 'secrets.a: needs one of file (locally) and secretId (in a deployment)'],
    ['a typo', { a: { flie: 'f' } }, "secrets.a.flie: unknown key; did you mean 'file'?"],
    [
      'a name that looks like a path',
      { '/etc/passwd': { file: 'f' } },
      'secrets["/etc/passwd"]: must be 1 to 128 of letters, digits and ._/-',
    ],
    ['a login without its cluster', { a: { file: 'f', logins: ['me'] } }, 'secrets.a.logins[0]: must be "cluster/login"'],
  ])('with a secret that has %s, then one line', (_, secrets, says) => {
    expect(withSecrets(secrets)).toEqual({ ok: false, says });
  });

  test.each([
    ['no JSON', '{"clusters": [', /^not JSON: /],
    ['a list', '[]', /^the file: /],
    ['a missing part', '{"clusters":[{"kind":"memory"}]}', /^clusters\[0\]\.id: /],
    ['a missing transport', JSON.stringify({ clusters: [without(slurm, 'transport')] }), /^clusters\[0\]\.transport: /],
  ])('with %s, then one line', (_, text, says) => {
    const said = readConfiguration(text);
    expect(said).toMatchObject({ ok: false, says: expect.stringMatching(says) });
    expect(!said.ok && said.says).not.toContain('\n');
  });

  test('with a key in it instead of its name, then the line does not repeat the key', () => {
    const secret = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk';
    const said = read({ ...slurm, logins: [{ id: 'me', user: 'u1', privateKey: secret }] });
    expect(said).toMatchObject({ ok: false });
    expect(JSON.stringify(said)).not.toContain('b3Blbn');
    expect(JSON.stringify(said)).toContain("did you mean 'privateKeyFile'?");
  });
});
