/**
 * What a job's saves stand for, told from both sources (protocols §8.1, §8.2): the markers that a complete listing found, and what
 * programs reported over the API. The rule itself is job/point.ts; here it is applied and explained.
 *
 * Invariant guarded (K3): a run resumes only from what a listing saw. A report without its marker is shown and nothing more, and
 * without a complete listing there is no resume point at all, rather than one from a part of `pub/`.
 */
import type { Point } from '../job/event.ts';
import { byResolveOrder, type Fixed, isBehind, isLate, lastFixed, latest, type Published, UNFIXED } from '../job/point.ts';

export const STANDINGS = [
  /** Resolve may pick it. */
  'eligible',
  /** Announced in time, before a later point was fixed: done with. */
  'past',
  /** Below the point that its own run resumed from: never picked by itself. */
  'behind',
  /** Added by an earlier epoch after a later point was fixed: never resumed from. */
  'late',
  /** Reported, and no listing saw its marker yet. */
  'reported',
] as const;
export type Standing = (typeof STANDINGS)[number];

export interface Shown extends Published {
  readonly standing: Standing;
  /** What the next run resumes from, as things are. */
  readonly latest: boolean;
}

export interface Resolved {
  /** Undefined: `pub/` could not be listed completely, so nothing may be planned. Path '' and step −1: from the start. */
  readonly resume?: Point;
  /** In resolve's order, the greatest last. */
  readonly publications: readonly Shown[];
}

/** `points` in the order in which they were fixed; `listed` undefined where the listing was not complete; `reported` in any order. */
export const resolve = (
  points: readonly Fixed[],
  listed: readonly Published[] | undefined,
  reported: readonly Published[] = [],
): Resolved => {
  const resume = listed && latest(lastFixed(points), listed);
  const standing = standingOf(points);
  const isLatest = (one: Published): boolean => resume !== undefined && resume.step >= 0 && byResolveOrder(one, resume) === 0;
  const known = new Map<string, Shown>();
  for (const one of listed ?? []) known.set(keyOf(one), { ...pick(one), standing: standing(one), latest: isLatest(one) });
  for (const one of reported) {
    if (known.has(keyOf(one))) continue;
    // A late report is late whether or not its marker is seen: waiting for the marker would promise something.
    const told = standing(one);
    known.set(keyOf(one), { ...pick(one), standing: told === 'late' ? 'late' : 'reported', latest: false });
  }
  return { ...(resume ? { resume } : {}), publications: [...known.values()].sort(byResolveOrder) };
};

/**
 * How a publication that a listing saw stands, by the points alone: whoever can list `pub/` and the points can tell (§8.2).
 * Late is what would have been the next point, had it been there when that point was fixed.
 */
export const standingOf = (points: readonly Fixed[]): ((publication: Published) => Standing) => {
  const chain = inForce(points);
  const last = lastFixed(points);
  return (publication) => {
    const own = chain.findLast(({ epoch }) => epoch <= publication.epoch) ?? UNFIXED;
    if (isBehind(publication, own)) return 'behind';
    if (!isLate(publication, last)) return 'eligible';
    const next = chain.find(({ epoch }) => epoch > publication.epoch)!;
    return !beginsBranch(next) && byResolveOrder(publication, next.point) > 0 ? 'late' : 'past';
  };
};

/**
 * `from: scratch` fixes a *nothing* of its own epoch. Whether something was added before or after it cannot be told and need not be:
 * the branch before is past as a whole. The *nothing* of an earlier epoch was picked because nothing had been announced.
 */
const beginsBranch = ({ epoch, point }: Fixed): boolean => point.step < 0 && point.epoch >= epoch;

/** One point per epoch, in the order of epochs: of two for one epoch the later (a base repeats its plan's point). */
const inForce = (points: readonly Fixed[]): Fixed[] =>
  [...new Map(points.map((fixed) => [fixed.epoch, fixed])).values()].sort((a, b) => a.epoch - b.epoch);

const keyOf = ({ epoch, step, path }: Published): string => `${epoch} ${step} ${path}`;
const pick = ({ epoch, step, path }: Published): Published => ({ epoch, step, path });
