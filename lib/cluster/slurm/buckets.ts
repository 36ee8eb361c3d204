/**
 * What runs announced in a bucket, listed by dispatch itself and not on the cluster (protocols §8.1).
 * Guards: a listing that did not end in time, or could not be made, is none at all; it never throws, since a poll looks at much else.
 */

import type { Doomed } from '../../checkpoint/collect.ts';
import type { OpenBucket } from '../../checkpoint/open-bucket.ts';
import type { Removal } from '../../checkpoint/port.ts';
import type { CollectAnswer, Publication } from '../port.ts';

/** One save after the other within a caller's patience; the first in any case. */
const COLLECT_MS = 12_000;

export const collectInBucket = async (
  open: OpenBucket | undefined,
  root: string,
  job: string,
  doomed: readonly Doomed[],
  now: () => number,
): Promise<CollectAnswer> => {
  const until = now() + COLLECT_MS;
  const store = open ? await open(root) : { says: 'no bucket is configured' };
  if ('says' in store) return { kind: 'unreachable', says: store.says };
  let [markers, saves, done] = [0, 0, 0];
  const failed: Removal['failed'][number][] = [];
  for (const one of doomed) {
    if (done > 0 && now() >= until) break;
    const removal = await store.remove(job, [one]);
    markers += removal.markers;
    saves += removal.saves;
    failed.push(...removal.failed);
    done += 1;
  }
  return { kind: 'removed', markers, saves, failed, left: doomed.length - done };
};

/** Undefined: could not be listed completely. */
export const bucketPublications = async (
  open: OpenBucket | undefined,
  root: string,
  job: string,
  ms: number,
): Promise<readonly Publication[] | undefined> => {
  if (!open) return undefined;
  // A job can announce any number, and what is listed for nobody would fill the memory of all.
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([list(open, root, job, over.signal), late]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
};

const list = async (open: OpenBucket, root: string, job: string, signal: AbortSignal): Promise<readonly Publication[] | undefined> => {
  const store = await open(root);
  if ('says' in store) return undefined;
  const listing = await store.list(job, signal);
  return listing.kind === 'complete' ? listing.publications : undefined;
};
