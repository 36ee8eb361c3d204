/**
 * Shrink: a failing seed with as few kinds of faults as still break the same invariant. Each kind that is switched off makes another
 * world of the same seed, so this finds a simpler failure, not always the same one.
 */
import { FAULT_KINDS } from './climate.ts';
import { type Ran, runWorld, type WorldOptions } from './world.ts';

export interface Shrunk {
  readonly invariant: string;
  readonly without: string;
  readonly left: readonly string[];
  readonly steps: number;
}

export const shrink = async (options: WorldOptions, broken: Ran): Promise<Shrunk> => {
  const without = new Set<string>(options.without ?? []);
  for (const kind of FAULT_KINDS) if (!broken.faults.has(kind)) without.add(kind);
  let smallest = broken;
  for (const kind of FAULT_KINDS) {
    if (without.has(kind)) continue;
    const fewer = new Set([...without, kind]);
    const ran = await runWorld({ ...options, without: fewer });
    if (ran.broken?.invariant !== broken.broken?.invariant) continue;
    without.add(kind);
    smallest = ran;
  }
  const left = FAULT_KINDS.filter((kind) => !without.has(kind) && smallest.faults.has(kind));
  return { invariant: smallest.broken?.invariant ?? '', without: [...without].join(','), left, steps: smallest.steps };
};
