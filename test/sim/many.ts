/** Many worlds, one after the other: what they cost, what they met, and which of them broke. */
import type { KindName } from './kind-name.ts';
import type { Mutant } from './mutants.ts';
import { type Part, profiled } from './profile.ts';
import { createReport, type Report } from './report.ts';
import type { WorldOptions } from './stage.ts';
import { type Ran, runWorld } from './world.ts';

/** So many default worlds must meet and reach everything (coverage.ts). */
export const COVERING = 1000;

export interface Many {
  readonly from: number;
  readonly seeds: number;
  /** Stops at the first that breaks. */
  readonly first: boolean;
  /** Of wall-clock time: no world is begun after it. */
  readonly forSeconds?: number;
  readonly kind?: KindName;
  readonly mutant?: Mutant;
  readonly twin?: WorldOptions['twin'];
  readonly broke: (ran: Ran) => void;
  /** Now and then, how far it is. */
  readonly tell: (text: string) => void;
}

const MILESTONES = 10;
const MB = 2 ** 20;

/** What is reported, and whether all is well. */
export const runMany = async (
  many: Many,
): Promise<{ readonly report: Report & Readonly<Record<string, unknown>>; readonly well: boolean }> => {
  const { from, seeds, kind, mutant, twin } = many;
  const report = createReport();
  const options = { ...(kind ? { kind } : {}), ...(mutant ? { mutant } : {}), ...(twin ? { twin } : {}) };
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const memory: number[] = [];
  const parts = await profiled(async () => {
    for (let seed = from; seed < from + seeds; seed++) {
      const worldBegun = performance.now();
      const ran = await runWorld({ ...options, seed });
      report.add(ran, (performance.now() - worldBegun) / 1000);
      if (ran.broken) many.broke(ran);
      if ((seed - from + 1) % Math.max(1, Math.floor(seeds / MILESTONES)) === 0) {
        memory.push(Math.round(liveBytes() / MB));
        if (seeds > COVERING) many.tell(`${seed - from + 1} of ${seeds} worlds after ${Math.round(seconds())} s, ${memory.at(-1)} MB live`);
      }
      if ((ran.broken && many.first) || seconds() > (many.forSeconds ?? Number.POSITIVE_INFINITY)) break;
    }
  });
  const all = report.report();
  const covered = all.worlds < COVERING || kind !== undefined || mutant !== undefined || all.missed.length === 0;
  return { report: { ...all, ...speedOf(all, seconds(), parts), liveMegabytes: memory }, well: all.broken === 0 && covered };
};

/** What is left after everything that can go is gone. */
const liveBytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const speedOf = (all: { readonly worlds: number; readonly steps: number }, seconds: number, parts: readonly Part[]) => ({
  seconds: Math.round(seconds * 10) / 10,
  worldsPerSecond: Math.round((all.worlds / seconds) * 10) / 10,
  stepsPerSecond: Math.round(all.steps / seconds),
  percentOfTime: Object.fromEntries(parts.map(({ name, share }) => [name, Math.round(share * 1000) / 10])),
});
