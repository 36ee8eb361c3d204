/** Opening a cluster loads what its kind needs, reaches nothing, and reads a key only when it is used (README "Tree"). */
import { describe, expect, test } from 'vitest';
import { type ClusterEntry, readConfiguration } from '../../lib/cluster/configuration.ts';
import { openCluster, secretNames } from '../../lib/cluster/open.ts';
import { spec as givenSpec, PROBE } from './slurm/site.ts';

const entry = (text: object): ClusterEntry => {
  const read = readConfiguration(JSON.stringify({ clusters: [text] }));
  if (!read.ok) throw new Error(read.says);
  return read.configuration.clusters[0]!;
};
const opening = { tag: '0000', now: () => 0, random: () => 0.5 };
const ssh = {
  id: 'hpc',
  kind: 'slurm',
  root: '/shared',
  readOnly: true,
  transport: { type: 'ssh', host: 'login.example.org', hostKeys: ['ssh-ed25519 AAAA'] },
  logins: [
    { id: 'a', user: 'u1', privateKeyFile: 'key-a' },
    { id: 'b', user: 'u2', privateKeyFile: 'key-b' },
  ],
};

describe('openCluster', () => {
  test.each(['slurm', 'kubernetes'])('given a memory cluster of the shape %s, then its sessions work at once', async (shape) => {
    const cluster = await openCluster(entry({ id: 'demo', kind: 'memory', shape }), opening);
    expect(cluster).toMatchObject({ id: 'demo', pollEverySeconds: 1, readOnly: false, logins: [{ id: 'default' }] });
    const session = await cluster.adapter.connect('default');
    expect((await session.probe(0)).facts.scheduler).toBe(`memory ${shape}`);
    await session.close();
  });

  test('given an ssh cluster, then nothing is reached and no key is read before somebody connects', async () => {
    const asked: string[] = [];
    const secret = (name: string): Promise<string> => {
      asked.push(name);
      return Promise.reject(new Error('no such key'));
    };
    const cluster = await openCluster(entry(ssh), { ...opening, secret });
    expect(cluster).toMatchObject({ id: 'hpc', readOnly: true, pollEverySeconds: 60, landingBoundSeconds: 90 });
    expect(cluster.adapter.kind).toBe('slurm');
    expect(cluster.logins).toEqual([
      { id: 'a', user: 'u1' },
      { id: 'b', user: 'u2' },
    ]);
    expect(asked).toEqual([]);
  });

  test('given a bucket whose role nobody can assume here, then a plan that needs it is refused; with credentials it is not', async () => {
    const role = 'arn:aws:iam::123456789012:role/lister';
    const named = entry({ ...ssh, buckets: { saves: { role } } });
    const spec = { checkpoint: { root: 's3://saves/x', required: false } };
    const refusals = async (over: object) => {
      const cluster = await openCluster(named, { ...opening, ...over });
      return cluster.adapter.render(givenSpec(spec), PROBE, { requeue: 'never', patienceSeconds: 60 }).refusals;
    };
    expect(await refusals({})).toEqual([
      { path: 'checkpoint.root', says: 'bucket saves of the configuration names a role, and this deployment assumes none' },
    ]);
    expect(await refusals({ credentialsOf: () => ({ accessKeyId: 'a', secretAccessKey: 'b' }) })).toEqual([]);
  });

  test('given a root’s identity and a login’s defaults, then planning is told of them, and of secrets only who may name which', async () => {
    const login = { ...ssh.logins[0], defaults: { account: 'a' } };
    const cluster = await openCluster(entry({ ...ssh, rootId: 'lustre', logins: [login] }), opening);
    expect(cluster).toMatchObject({ rootId: 'lustre', logins: [{ id: 'a', user: 'u1', defaults: { account: 'a' } }] });
    expect(secretNames({ w: { file: '/f', allow: ['mara'], logins: ['hpc/a'] }, x: { secretId: 'arn' } })).toEqual([
      { name: 'w', allow: ['mara'], logins: ['hpc/a'] },
      { name: 'x' },
    ]);
  });

  test('given a login that the configuration does not name, then cluster/no_login', async () => {
    const cluster = await openCluster(entry(ssh), opening);
    await expect(cluster.adapter.connect('nobody')).rejects.toMatchObject({ code: 'cluster/no_login' });
  });

  test('given a local Slurm without logins, then one for whoever runs this process', async () => {
    const cluster = await openCluster(entry({ id: 'here', kind: 'slurm', root: '/shared', transport: { type: 'shell' } }), opening);
    expect(cluster.logins).toMatchObject([{ id: 'default' }]);
  });
});
