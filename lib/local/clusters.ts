/**
 * Configuration of a local process: that of its file, or one memory cluster to try things on. Guards: what only a deployment has (roles,
 * a store of secrets) is refused at the start, with its place, and not when a job first needs it.
 */
import { readFile } from 'node:fs/promises';
import { type Configuration, readConfiguration } from '../cluster/configuration.ts';
import { childPath } from '../job/refusal.ts';
import { StartRefused, saysOf } from './refusal.ts';

/** The shortest bound: what a killed process left half sent is settled after a minute or so (protocols §3.5). */
const DEMO = '{"clusters":[{"id":"demo","kind":"memory","landingBoundSeconds":30}]}';

/** Throws StartRefused with the place of the fault and its fix. */
export const readLocalConfiguration = async (file: string | undefined): Promise<Configuration> => {
  const text =
    file === undefined
      ? DEMO
      : await readFile(file, 'utf8').catch((error: unknown) => refuse(`${file}: cannot be read (${saysOf(error)})`));
  const read = readConfiguration(text);
  if (!read.ok) return refuse(`${file}: ${read.says}`);
  const elsewhere = deployedOnly(read.configuration);
  return elsewhere === undefined ? read.configuration : refuse(`${file}: ${elsewhere}`);
};

const deployedOnly = ({ clusters, secrets }: Configuration): string | undefined => {
  for (const [name, { secretId }] of Object.entries(secrets))
    if (secretId !== undefined) return `${childPath('secrets', name)}.secretId: is for a deployment; name a file here`;
  for (const [i, cluster] of clusters.entries())
    for (const [name, { role }] of Object.entries(cluster.kind === 'slurm' ? cluster.buckets : {}))
      if (role !== undefined)
        return `clusters[${i}].${childPath('buckets', name)}.role: is for a deployment; name a profile of this machine here`;
  return undefined;
};

const refuse = (says: string): never => {
  throw new StartRefused(says);
};
