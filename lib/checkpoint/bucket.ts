/**
 * The checkpoint store in a bucket, over the four things it needs of an object store. A job's root is `s3://<bucket>/<prefix>`; a
 * marker is an empty object, announced by a put on the condition that it is absent, which the store itself decides.
 *
 * Invariants guarded: a listing that ended before its last page is not complete; a condition that could not be decided (409, a
 * timeout) is unknown, never "announced".
 */
import type { Doomed } from './collect.ts';
import { MOST_MARKERS, PUB, readMarkers } from './layout.ts';
import { formatMarker } from './marker.ts';
import type { Announcement, CheckpointStore, Listing, Removal, Unknown } from './port.ts';

/** One bucket. Every call has a time limit and throws when it was not answered; keys are whole, without a leading slash. */
export interface Objects {
  /** One page, at most 1,000 keys in order; `next` is where to go on, absent on the last page. */
  page(prefix: string, from?: string): Promise<{ readonly keys: readonly string[]; readonly next?: string }>;
  /** An empty object, if there is none under this key (`If-None-Match: *`): 412 is `exists`, 409 is thrown. */
  putEmpty(key: string): Promise<'created' | 'exists'>;
  /** At most 1,000 keys. Those that are not there count as removed; returns the keys that stayed. */
  remove(keys: readonly string[]): Promise<readonly string[]>;
}

const MOST_PAGES = Math.ceil(MOST_MARKERS / 1000);
const MOST_KEYS_AT_ONCE = 1000;

/** `prefixOf`: the job's root within the bucket, without slashes at its ends. */
export const createBucketStore = (objects: Objects, prefixOf: (job: string) => string): CheckpointStore => ({
  list: async (job) => list(objects, `${prefixOf(job)}/${PUB}/`),
  // Claims and their bases are files of a cluster that has a wrapper; none of those reads its points from a bucket.
  bases: async () => ({ kind: 'complete', points: [] }),
  announce: async (job, publication) => announce(objects, `${prefixOf(job)}/${PUB}/${formatMarker(publication)}`),
  remove: async (job, doomed) => remove(objects, prefixOf(job), doomed),
});

const list = async (objects: Objects, prefix: string): Promise<Listing> => {
  const keys = await keysBelow(objects, prefix);
  return Array.isArray(keys) ? { kind: 'complete', ...readMarkers(keys.map((key) => key.slice(prefix.length))) } : keys;
};

const announce = async (objects: Objects, key: string): Promise<Announcement> => {
  try {
    return (await objects.putEmpty(key)) === 'created' ? { kind: 'announced' } : { kind: 'exists' };
  } catch (error) {
    return unknown(error);
  }
};

const remove = async (objects: Objects, prefix: string, doomed: readonly Doomed[]): Promise<Removal> => {
  let [markers, saves] = [0, 0];
  const failed: { path: string; says: string }[] = [];
  for (const { publication, files } of doomed) {
    try {
      await removeAll(objects, [`${prefix}/${PUB}/${formatMarker(publication)}`]);
      markers++;
      if (!files) continue;
      const save = `${prefix}/${publication.path}`;
      const below = await keysBelow(objects, `${save}/`);
      if (!Array.isArray(below)) throw new Error(below.says);
      await removeAll(objects, [save, ...below]);
      saves++;
    } catch (error) {
      failed.push({ path: publication.path, says: unknown(error).says });
    }
  }
  return { markers, saves, failed };
};

const removeAll = async (objects: Objects, keys: readonly string[]): Promise<void> => {
  for (let i = 0; i < keys.length; i += MOST_KEYS_AT_ONCE) {
    const stayed = await objects.remove(keys.slice(i, i + MOST_KEYS_AT_ONCE));
    if (stayed.length > 0) throw new Error(`${stayed.length} objects stayed, ${stayed[0]} among them`);
  }
};

const keysBelow = async (objects: Objects, prefix: string): Promise<string[] | Unknown> => {
  const keys: string[] = [];
  let from: string | undefined;
  try {
    for (let i = 0; i < MOST_PAGES; i++) {
      const { keys: more, next } = await objects.page(prefix, from);
      keys.push(...more);
      if (next === undefined) return keys;
      from = next;
    }
    return { kind: 'unknown', says: `more than ${MOST_MARKERS} objects below ${prefix}` };
  } catch (error) {
    return unknown(error);
  }
};

const unknown = (error: unknown): Unknown => ({
  kind: 'unknown',
  says: (error instanceof Error ? error.message : String(error)).slice(0, 512),
});
