/** What many worlds have in common: which faults they met, what they reached, which of them broke, and which was the slowest. */
import { missedOf } from './coverage.ts';
import type { Ran } from './world.ts';

export interface Report {
  readonly worlds: number;
  readonly broken: number;
  readonly steps: number;
  readonly virtualHours: number;
  /** Worlds by the shape of their cluster. */
  readonly shapes: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly reached: Readonly<Record<string, number>>;
  /** Of what could be met or reached, what was not. */
  readonly missed: readonly string[];
  readonly slowest: { readonly seed: number; readonly seconds: number; readonly steps: number };
  /** Events of the longest history of an execution. */
  readonly mostEvents: number;
}

export const createReport = () => {
  const [faults, reached, shapes] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  let [worlds, broken, steps, virtualSeconds, mostEvents] = [0, 0, 0, 0, 0];
  let slowest = { seed: 0, seconds: 0, steps: 0 };
  const add = (to: Map<string, number>, from: Iterable<readonly [string, number]>): void => {
    for (const [key, count] of from) to.set(key, (to.get(key) ?? 0) + count);
  };
  return {
    add(ran: Ran, seconds = 0): void {
      worlds += 1;
      if (ran.broken) broken += 1;
      steps += ran.steps;
      virtualSeconds += ran.virtualSeconds;
      mostEvents = Math.max(mostEvents, ran.mostEvents);
      if (seconds >= slowest.seconds) slowest = { seed: ran.seed, seconds: Math.round(seconds * 100) / 100, steps: ran.steps };
      add(faults, ran.faults);
      add(reached, ran.reached);
      add(shapes, [[ran.shape, 1]]);
    },
    report(): Report {
      const sorted = (from: Map<string, number>): Record<string, number> => Object.fromEntries([...from].sort(([, a], [, b]) => b - a));
      return {
        ...{ worlds, broken, steps, virtualHours: Math.round(virtualSeconds / 3600), shapes: sorted(shapes) },
        ...{ faults: sorted(faults), reached: sorted(reached), missed: missedOf(reached, faults), slowest, mostEvents },
      };
    },
  };
};
