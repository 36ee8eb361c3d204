/**
 * The checkpoint store in a bucket, over the three things it needs of an object store. A job's root is `s3://<bucket>/<prefix>`; a marker is
 * an empty object, announced by a put on the condition that it is absent, which the store itself decides.
 *
 * Invariants guarded: a listing that ended before its last page is not complete; a condition that could not be decided (409, a timeout) is
 * unknown, never "announced"; nothing is removed that does not lie below its save.
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

/** Of a listing, or of one save: what is beyond it is left to the next call. */
const MOST_PAGES = Math.ceil(MOST_MARKERS / 1000);

/** `prefixOf`: the job's root within the bucket, without slashes at its ends. */
export const createBucketStore = (objects: Objects, prefixOf: (job: string) => string): CheckpointStore => ({
  list: (job, signal) => list(objects, `${prefixOf(job)}/${PUB}/`, signal),
  // Claims and their bases are files of a cluster that has a wrapper; none of those reads its points from a bucket.
  bases: async () => ({ kind: 'complete', points: [] }),
  announce: async (job, publication) => announce(objects, `${prefixOf(job)}/${PUB}/${formatMarker(publication)}`),
  remove: (job, doomed) => remove(objects, prefixOf(job), doomed),
});

const list = async (objects: Objects, prefix: string, signal?: AbortSignal): Promise<Listing> => {
  const keys: string[] = [];
  try {
    for await (const page of pagesBelow(objects, prefix)) {
      signal?.throwIfAborted();
      keys.push(...page);
    }
    return { kind: 'complete', ...readMarkers(keys.map((key) => key.slice(prefix.length))) };
  } catch (error) {
    return unknown(error);
  }
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
      // Page by page, so that of the largest save what there was time for is gone.
      for await (const page of pagesBelow(objects, `${save}/`)) await removeAll(objects, page);
      await removeAll(objects, [save]);
      saves++;
    } catch (error) {
      failed.push({ path: publication.path, says: unknown(error).says });
    }
  }
  return { markers, saves, failed };
};

const removeAll = async (objects: Objects, keys: readonly string[]): Promise<void> => {
  const stayed = keys.length > 0 ? await objects.remove(keys) : [];
  if (stayed.length > 0) throw new Error(`${stayed.length} objects stayed, ${stayed[0]} among them`);
};

/** All of them, or it throws. */
const pagesBelow = async function* (objects: Objects, prefix: string): AsyncGenerator<readonly string[]> {
  let from: string | undefined;
  for (let i = 0; i < MOST_PAGES; i++) {
    const { keys, next } = await objects.page(prefix, from);
    yield keys;
    if (next === undefined) return;
    from = next;
  }
  throw new Error(`more than ${MOST_MARKERS} objects below ${prefix}`);
};

const unknown = (error: unknown): Unknown => ({
  kind: 'unknown',
  says: (error instanceof Error ? error.message : String(error)).slice(0, 512),
});
