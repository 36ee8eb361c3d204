/**
 * Shrink: a failing seed with as few jobs and kinds of faults as still break the same invariant. Whatever is switched off and was met makes
 * another world of the same seed, so this finds a simpler failure, not always the same one; but only what was run and broke is kept.
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
  /** How many worlds were run for it; what is left may be less if there was no time to try more. */
  readonly tries: number;
}

/** `goesOn` is asked before each try. */
export const shrink = async (options: WorldOptions, broken: Ran, goesOn: () => boolean = () => true): Promise<Shrunk> => {
  let smallest = broken;
  let fewer = options;
  let tries = 0;
  const keeps = async (smaller: WorldOptions): Promise<boolean> => {
    if (!goesOn()) return false;
    tries += 1;
    const ran = await runWorld(smaller);
    if (ran.broken?.invariant !== broken.broken?.invariant) return false;
    smallest = ran;
    fewer = smaller;
    return true;
  };
  const without = (kinds: readonly string[]): WorldOptions => ({ ...fewer, without: new Set([...(fewer.without ?? []), ...kinds]) });
  const isOn = (kind: string): boolean => !fewer.without?.has(kind);
  const unmet = (): string[] => FAULT_KINDS.filter((kind) => isOn(kind) && !smallest.faults.has(kind));
  // What was not met changes nothing by its absence; kinds that set the scene at the outset do, so this is tried like everything else.
  const dropsUnmet = async (): Promise<boolean> => unmet().length === 0 || keeps(without(unmet()));
  for (const jobs of [1, 2]) if (await keeps({ ...fewer, jobs })) break;
  await dropsUnmet();
  for (const kind of FAULT_KINDS) if (isOn(kind)) await keeps(without([kind]));
  await dropsUnmet();
  const left = FAULT_KINDS.filter((kind) => isOn(kind) && smallest.faults.has(kind));
  const { invariant } = smallest.broken ?? { invariant: '' };
  const { jobs } = fewer;
  const off = [...(fewer.without ?? [])].join(',');
  return { invariant, without: off, left, steps: smallest.steps, tries, ...(jobs === undefined ? {} : { jobs }) };
};
