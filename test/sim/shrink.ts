/**
 * Shrink: a failing seed with as few jobs and kinds of faults as still break the same invariant. Whatever is switched off makes another
 * world of the same seed, so this finds a simpler failure, not always the same one.
 */
import { FAULT_KINDS } from './climate.ts';
import { type Ran, runWorld, type WorldOptions } from './world.ts';

export interface Shrunk {
  readonly invariant: string;
  readonly without: string;
  /** At most so many jobs; undefined: as many as there were. */
  readonly jobs?: number;
  readonly left: readonly string[];
  readonly steps: number;
}

export const shrink = async (options: WorldOptions, broken: Ran): Promise<Shrunk> => {
  const without = new Set<string>(options.without ?? []);
  for (const kind of FAULT_KINDS) if (!broken.faults.has(kind)) without.add(kind);
  let smallest = broken;
  let fewer = options;
  const tries = async (smaller: WorldOptions): Promise<boolean> => {
    const ran = await runWorld(smaller);
    if (ran.broken?.invariant !== broken.broken?.invariant) return false;
    smallest = ran;
    fewer = smaller;
    return true;
  };
  for (const jobs of [1, 2]) if (await tries({ ...fewer, jobs })) break;
  for (const kind of FAULT_KINDS) {
    if (without.has(kind)) continue;
    const more = new Set([...without, kind]);
    if (await tries({ ...fewer, without: more })) without.add(kind);
  }
  const left = FAULT_KINDS.filter((kind) => !without.has(kind) && smallest.faults.has(kind));
  const { invariant } = smallest.broken ?? { invariant: '' };
  const { jobs } = fewer;
  return { invariant, without: [...without].join(','), left, steps: smallest.steps, ...(jobs === undefined ? {} : { jobs }) };
};
