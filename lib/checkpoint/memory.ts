/**
 * The checkpoint store in memory: the reference that the others are compared with, and what simulations and memory clusters use.
 * Guards the same promises without a disk: exclusive announcements, complete listings, markers removed first.
 */
import { type Fixed, fixedByBase, type Published } from '../job/point.ts';
import { MOST_MARKERS, overlap } from './layout.ts';
import { formatMarker, parseMarker } from './marker.ts';
import type { CheckpointStore } from './port.ts';

export interface MemoryStore extends CheckpointStore {
  /** What a claim does on a node. */
  fix(job: string, base: Parameters<typeof fixedByBase>[0]): void;
  /** What a program does before it announces: files at this path exist. */
  save(job: string, path: string): void;
  saved(job: string, path: string): boolean;
  /** Makes every look fail with these words until called without. */
  fail(says?: string): void;
}

interface Job {
  readonly markers: Set<string>;
  readonly saves: Set<string>;
  readonly points: Fixed[];
}

export const createMemoryStore = (): MemoryStore => {
  const jobs = new Map<string, Job>();
  let failing: string | undefined;
  const of = (job: string): Job => {
    const found = jobs.get(job) ?? { markers: new Set(), saves: new Set(), points: [] };
    jobs.set(job, found);
    return found;
  };
  const unless = <T>(act: () => T): T | { kind: 'unknown'; says: string } =>
    failing === undefined ? act() : { kind: 'unknown', says: failing };
  return {
    list: async (job) =>
      unless(() => {
        const { markers } = of(job);
        if (markers.size > MOST_MARKERS) return { kind: 'unknown', says: `more than ${MOST_MARKERS} markers` } as const;
        const publications = [...markers].map(parseMarker).filter((one): one is Published => one !== undefined);
        return { kind: 'complete', publications, strays: 0 } as const;
      }),
    bases: async (job) => unless(() => ({ kind: 'complete', points: [...of(job).points] }) as const),
    announce: async (job, publication) => {
      const name = formatMarker(publication);
      return unless(() => {
        if (of(job).markers.has(name)) return { kind: 'exists' } as const;
        of(job).markers.add(name);
        return { kind: 'announced' } as const;
      });
    },
    remove: async (job, doomed) => {
      if (failing !== undefined)
        return { markers: 0, saves: 0, failed: doomed.map((one) => ({ path: one.publication.path, says: failing! })) };
      for (const { publication } of doomed) of(job).markers.delete(formatMarker(publication));
      const gone = doomed.filter(({ files }) => files).map(({ publication }) => publication.path);
      for (const path of of(job).saves)
        if (gone.some((root) => overlap(path, root) && path.length >= root.length)) of(job).saves.delete(path);
      return { markers: doomed.length, saves: gone.length, failed: [] };
    },
    fix: (job, base) => void of(job).points.push(fixedByBase(base)),
    save: (job, path) => void of(job).saves.add(path),
    saved: (job, path) => of(job).saves.has(path),
    fail: (says) => {
      failing = says;
    },
  };
};
