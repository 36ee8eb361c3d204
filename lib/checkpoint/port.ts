/**
 * The checkpoint store: what dispatch needs of the place where a job's saves are, be it a file system, a bucket or memory.
 * Guards promise 5: a listing is complete or says that it is not, since a resume point picked from a part of `pub/` could be an old
 * one (protocols §8.2); an announcement is exclusive; a marker is removed before what it names, so none ever names what is gone.
 * What the store could not do is returned, not thrown: callers wait and try again, and nothing is planned meanwhile.
 */
import type { Fixed, Published } from '../job/point.ts';
import type { Doomed } from './collect.ts';

export interface CheckpointStore {
  /** Every marker of the job. `signal`: nobody waits for it any more. */
  list(job: string, signal?: AbortSignal): Promise<Listing>;
  /** Every point that a claim fixed by writing its base. */
  bases(job: string): Promise<Bases>;
  /** Creates the marker. `exists`: it was there before, whoever made it. Throws RangeError for what no marker can say. */
  announce(job: string, publication: Published): Promise<Announcement>;
  /** Carries out a decision of collect.ts, marker first. What is already gone counts as removed: it may be repeated. */
  remove(job: string, doomed: readonly Doomed[]): Promise<Removal>;
}

export type Listing =
  /** `strays`: names in `pub/` that are no markers. */
  { readonly kind: 'complete'; readonly publications: readonly Published[]; readonly strays: number } | Unknown;
export type Bases = { readonly kind: 'complete'; readonly points: readonly Fixed[] } | Unknown;
export type Announcement = { readonly kind: 'announced' } | { readonly kind: 'exists' } | Unknown;
/** `markers` and `saves` are how many were removed; `failed` what stayed, with why. */
export interface Removal {
  readonly markers: number;
  readonly saves: number;
  readonly failed: readonly { readonly path: string; readonly says: string }[];
}

/** Could not be told, or only in part. `says` is safe to show. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly says: string;
}
