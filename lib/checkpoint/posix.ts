/**
 * The checkpoint store on a mounted file system.
 *
 * Invariants guarded: a folder that cannot be read is never an empty one; `pub/` may be absent only where the file system is proved
 * to be there and nothing was ever sent for the job; what is removed lies, after every link is followed, in the job's own root.
 */
import { mkdir, open, opendir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { type Fixed, fixedByBase } from '../job/point.ts';
import type { Doomed } from './collect.ts';
import { MOST_MARKERS, PUB, readMarkers } from './layout.ts';
import { formatMarker } from './marker.ts';
import { parsePoint, parseRunName } from './point-text.ts';
import type { Announcement, Bases, CheckpointStore, Listing, Removal, Unknown } from './port.ts';

export interface Places {
  /** The job's own checkpoint root: `pub/` and `exec/` are in it. Absolute, like the others. */
  readonly root: string;
  /** The job's control folder: `bases/`, `sent/`. */
  readonly control: string;
  /** A folder that is there whenever the file system is mounted: the cluster's root. */
  readonly mounted: string;
}

/** A base is one line; a file that is longer is none. */
const LONGEST_BASE = 512;

export const createPosixStore = (placesOf: (job: string) => Places): CheckpointStore => ({
  list: async (job) => list(placesOf(job)),
  bases: async (job) => bases(placesOf(job)),
  announce: async (job, publication) => announce(placesOf(job), formatMarker(publication)),
  remove: async (job, doomed) => remove(placesOf(job), doomed),
});

const list = async (places: Places): Promise<Listing> => {
  const names = await namesIn(join(places.root, PUB));
  if (names === 'absent') return (await neverSent(places)) ? { kind: 'complete', publications: [], strays: 0 } : unknown('pub/ is missing');
  return Array.isArray(names) ? { kind: 'complete', ...readMarkers(names) } : names;
};

const bases = async (places: Places): Promise<Bases> => {
  const names = await namesIn(join(places.control, 'bases'));
  if (names === 'absent') return (await neverSent(places)) ? { kind: 'complete', points: [] } : unknown('bases/ is missing');
  if (!Array.isArray(names)) return names;
  const points: Fixed[] = [];
  for (const name of names) {
    const run = parseRunName(name);
    if (!run) continue;
    const text = await orUnknown(() => readFile(join(places.control, 'bases', name), 'utf8'));
    if (typeof text !== 'string') return text;
    const base = text.length <= LONGEST_BASE ? parsePoint(text) : undefined;
    // A base is renamed into place whole: one that cannot be read fixes a point that we do not know.
    if (!base) return unknown(`the base of run ${name} cannot be read`);
    points.push(fixedByBase({ ...run, base }));
  }
  return { kind: 'complete', points: points.sort((a, b) => a.epoch - b.epoch) };
};

const announce = async ({ root }: Places, name: string): Promise<Announcement> => {
  const made = await orUnknown(() => mkdir(join(root, PUB), { recursive: true }));
  if (typeof made === 'object') return made;
  try {
    // Exclusive: the creation itself is the announcement.
    const file = await open(join(root, PUB, name), 'wx');
    await file.sync();
    await file.close();
    return { kind: 'announced' };
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? { kind: 'exists' } : unknown(saysOf(error));
  }
};

const remove = async ({ root }: Places, doomed: readonly Doomed[]): Promise<Removal> => {
  let [markers, saves] = [0, 0];
  const failed: { path: string; says: string }[] = [];
  for (const { publication, files } of doomed) {
    try {
      await rm(join(root, PUB, formatMarker(publication)), { force: true });
      markers++;
      if (!files) continue;
      await removeWithin(root, publication.path);
      saves++;
    } catch (error) {
      failed.push({ path: publication.path, says: saysOf(error) });
    }
  }
  return { markers, saves, failed };
};

/** A program may have put a link in the place of a folder: what it leads to is not ours to remove. */
const removeWithin = async (root: string, path: string): Promise<void> => {
  const parent = await realpath(dirname(join(root, path))).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (parent === undefined) return;
  if (!parent.startsWith(`${await realpath(root)}${sep}`)) throw new Error('a link leads out of the checkpoint root');
  await rm(join(root, path), { recursive: true, force: true });
};

const neverSent = async ({ control, mounted }: Places): Promise<boolean> => {
  const there = await orUnknown(async () => (await stat(mounted)).isDirectory());
  if (there !== true) return false;
  const sent = await namesIn(join(control, 'sent'));
  return sent === 'absent' || (Array.isArray(sent) && sent.length === 0);
};

const namesIn = async (folder: string): Promise<string[] | 'absent' | Unknown> => {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length > MOST_MARKERS) return unknown(`more than ${MOST_MARKERS} files in ${folder}`);
    }
    return names;
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'absent' : unknown(saysOf(error));
  }
};

const orUnknown = async <T>(look: () => Promise<T>): Promise<T | Unknown> => {
  try {
    return await look();
  } catch (error) {
    return unknown(saysOf(error));
  }
};

const unknown = (says: string): Unknown => ({ kind: 'unknown', says });
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
const saysOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 512);
