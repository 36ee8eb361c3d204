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
            transport: { ...ssh, port: 22, jump: [] },
          },
          { ...memory, readOnly: false, landingBoundSeconds: 90, pollEverySeconds: 1, shape: 'slurm' },
        ],
      },
    });
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
  ['two of one name', [memory, memory], "clusters[1].id: there are two clusters 'demo': ids must differ"],
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
