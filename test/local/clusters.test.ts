/** Contract §11: a local start refuses what only a deployment has, with its place and its fix, before anything is changed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLocalConfiguration } from '../../lib/local/clusters.ts';
import { folderOf } from './data/folder.ts';

const given = async (configuration: object): Promise<string> => {
  const path = join(await folderOf(), 'clusters.json');
  await writeFile(path, JSON.stringify(configuration));
  return path;
};
const memory = { id: 'demo', kind: 'memory' };
const slurm = { id: 'here', kind: 'slurm', root: '/shared', transport: { type: 'shell' } };

test('without a file there is one memory cluster and no secret', async () => {
  expect(await readLocalConfiguration(undefined)).toMatchObject({ clusters: [memory], secrets: {} });
});

test('what can be had here is taken', async () => {
  const path = await given({
    clusters: [memory, { ...slurm, buckets: { saves: { profile: 'lister' } } }],
    secrets: { a: { file: '/home/me/a' } },
  });
  expect(await readLocalConfiguration(path)).toMatchObject({ secrets: { a: { file: '/home/me/a' } } });
});

test.each([
  [
    'a secret of a store',
    { clusters: [memory], secrets: { 'a/b': { secretId: 'x' } } },
    'secrets["a/b"].secretId: is for a deployment; name a file here',
  ],
  [
    'a role',
    { clusters: [memory, { ...slurm, buckets: { saves: { role: 'arn:aws:iam::123456789012:role/lister' } } }] },
    'clusters[1].buckets.saves.role: is for a deployment; name a profile of this machine here',
  ],
  ['a file that is wrong', { clusters: [] }, 'clusters: too small: expected array to have >=1 items'],
])('%s is refused', async (_, configuration, says) => {
  const path = await given(configuration);
  await expect(readLocalConfiguration(path)).rejects.toMatchObject({ name: 'StartRefused', message: `${path}: ${says}` });
});

test('a file that is not there is refused', async () => {
  await expect(readLocalConfiguration('/nowhere/clusters.json')).rejects.toThrow('/nowhere/clusters.json: cannot be read');
});
