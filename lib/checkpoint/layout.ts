/**
 * Where the saves of a job are below its checkpoint root (protocols §8.1): `pub/` holds the markers, `exec/<n>-<run>/` what each run
 * wrote. One place for these names, because who announces, who lists and who removes must mean the same files.
 * Invariant guarded: a path read from a marker never leads out of the root, and only what lies in a run's own folder is removed.
 */

import { epochOf } from '../job/identity.ts';
import type { Published } from '../job/point.ts';
import { parseMarker } from './marker.ts';

export const PUB = 'pub';
export const execOf = (n: number, run: number): string => `exec/${n}-${run}`;

/** More markers than this are not read: a listing that stops here is not complete. 200,000 names are some 50 MB. */
export const MOST_MARKERS = 200_000;

/** Relative, below its root, without a control character: what a marker of ours holds. */
export const isRelative = (path: string): boolean =>
  !/[\0-\x1f\x7f]/.test(path) && !path.split('/').some((part) => part === '' || part === '.' || part === '..');

/** The markers among names in `pub/`. Others are kept out and counted; one odd name never costs the others (protocols §5.5). */
export const readMarkers = (names: readonly string[]): { readonly publications: Published[]; readonly strays: number } => {
  const publications = names.map(parseMarker).filter((one): one is Published => one !== undefined && isRelative(one.path));
  return { publications, strays: names.length - publications.length };
};

/** The epoch of the run whose folder a path is in; undefined where it is in none (a save that was brought from elsewhere). */
export const epochOfPath = (path: string): number | undefined => {
  const parts = /^exec\/([1-9]\d{0,4})-(0|[1-9]\d{0,5})\/./.exec(path);
  return parts && isRelative(path) ? epochOf(Number(parts[1]), Number(parts[2])) : undefined;
};

/** Whether one of two paths is the other or lies within it: to remove one would harm the other. */
export const overlap = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
