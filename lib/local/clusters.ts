/** Clusters of a local process: those of its configuration file, or one memory cluster to try things on. */
import { readFile } from 'node:fs/promises';
import { type ClusterEntry, readConfiguration } from '../cluster/configuration.ts';
import { StartRefused, saysOf } from './refusal.ts';

/** The shortest bound: what a killed process left half sent is settled after a minute or so (protocols §3.5). */
const DEMO = '{"clusters":[{"id":"demo","kind":"memory","landingBoundSeconds":30}]}';

/** Throws StartRefused with the place of the fault and its fix. */
export const readClusters = async (file: string | undefined): Promise<readonly ClusterEntry[]> => {
  const text =
    file === undefined
      ? DEMO
      : await readFile(file, 'utf8').catch((error: unknown) => refuse(`${file}: cannot be read (${saysOf(error)})`));
  const read = readConfiguration(text);
  return read.ok ? read.configuration.clusters : refuse(`${file}: ${read.says}`);
};

const refuse = (says: string): never => {
  throw new StartRefused(says);
};
