/**
 * Collecting: which saves may be removed (protocols §8.4). An explicit act, never part of anything else; this is the decision alone.
 *
 * Invariant guarded: nothing that any run may still resume from, or is reading, or is writing, is ever removed. Only what resolve
 * could pick counts towards the saves that are kept: counting all of them would let stale runs, which go on announcing, push out the
 * one good save (K1, K2, C055). Removing is safe beside a run that resolves at this moment from a slightly older listing, because
 * at least two are kept.
 *
 * The caller lists first and reads the record after: points fixed in between are then seen.
 */
import { byResolveOrder, type Fixed, lastFixed, type Published } from '../job/point.ts';
import { epochOfPath, overlap } from './layout.ts';
import { standingOf } from './resolve.ts';

export const LEAST_KEPT = 2;

export interface Collecting {
  /** A complete listing. */
  readonly listed: readonly Published[];
  /** Every point of the record and of `bases/`, in the order in which they were fixed. */
  readonly points: readonly Fixed[];
  /** Of a run, by its epoch: not proved to have ended with its processes gone; planned ones, and unknown ones, live. */
  readonly isLive: (epoch: number) => boolean;
  /** How many of those that resolve could pick are kept, at least two. */
  readonly keep: number;
}

/** A publication to remove. Its files stay where a save that is kept lies in, around or at the same place. */
export interface Doomed {
  readonly publication: Published;
  readonly files: boolean;
}

/** In resolve's order, the oldest first. Throws RangeError when fewer than two would be kept. */
export const collect = ({ listed, points, isLive, keep }: Collecting): Doomed[] => {
  if (!Number.isSafeInteger(keep) || keep < LEAST_KEPT) throw new RangeError(`at least ${LEAST_KEPT} saves are kept, not ${keep}`);
  const ordered = [...listed].sort(byResolveOrder);
  const kept = new Set<Published>([...lastGood(ordered, points, keep), ...ordered.filter(isInUse(points, isLive))]);
  const stays = [...kept, ...needed(points, isLive).map(({ point }) => point)].map(({ path }) => path).filter((path) => path !== '');
  return ordered
    .filter((publication) => !kept.has(publication))
    .map((publication) => ({
      publication,
      // Only a run's own folder is dispatch's to remove; what somebody brought into the root is theirs.
      files: epochOfPath(publication.path) !== undefined && !stays.some((path) => overlap(path, publication.path)),
    }));
};

/**
 * The last N that resolve could pick. Right after a relaunch these may be few, or only the point itself: then the last ones that were
 * announced in time before it make up the number, so that there is always something to fall back on by hand.
 */
const lastGood = (ordered: readonly Published[], points: readonly Fixed[], keep: number): Published[] => {
  const standing = standingOf(points);
  const last = lastFixed(points);
  const pickable = ordered.filter((one) => standing(one) === 'eligible' || isAt(one, last)).slice(-keep);
  const past = ordered.filter((one) => standing(one) === 'past' && !isAt(one, last));
  return [...past.slice(past.length - Math.min(past.length, keep - pickable.length)), ...pickable];
};

/** The base of a run that has not ended, a planned resume point, the last point fixed. */
const needed = (points: readonly Fixed[], isLive: Collecting['isLive']): Fixed[] => [
  ...points.filter(({ epoch }) => isLive(epoch)),
  lastFixed(points),
];

/** Those, and all in the folder of a live run. */
const isInUse = (points: readonly Fixed[], isLive: Collecting['isLive']): ((one: Published) => boolean) => {
  const bases = needed(points, isLive);
  return ({ epoch, path, step }) => {
    const folder = epochOfPath(path);
    return isLive(epoch) || (folder !== undefined && isLive(folder)) || bases.some((fixed) => isAt({ epoch, path, step }, fixed));
  };
};

const isAt = (one: Published, { point }: Fixed): boolean => one.epoch === point.epoch && one.step === point.step && one.path === point.path;
