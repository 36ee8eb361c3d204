/** Opening a cluster loads what its kind needs, reaches nothing, and reads a key only when it is used (README "Tree"). */
import { describe, expect, test } from 'vitest';
import { type ClusterEntry, readConfiguration } from '../../lib/cluster/configuration.ts';
import { openCluster } from '../../lib/cluster/open.ts';

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

  test('given a login that the configuration does not name, then cluster/no_login', async () => {
    const cluster = await openCluster(entry(ssh), opening);
    await expect(cluster.adapter.connect('nobody')).rejects.toMatchObject({ code: 'cluster/no_login' });
  });

  test('given a local Slurm without logins, then one for whoever runs this process', async () => {
    const cluster = await openCluster(entry({ id: 'here', kind: 'slurm', root: '/shared', transport: { type: 'shell' } }), opening);
    expect(cluster.logins).toMatchObject([{ id: 'default' }]);
  });
});
