/** What many worlds have in common: how fast they ran, which faults they met, what they reached, and which of them broke. */

import { CAUSE_NAMES } from '../../lib/job/cause.ts';
import { EVENT_TYPES, QUESTION_KINDS } from '../../lib/job/event.ts';
import { FAULT_KINDS } from './climate.ts';
import type { Ran } from './world.ts';

const STEPS = ['submit', 'settle', 'release', 'await', 'cancel', 'requeue', 'discard', 'decide', 'escalate', 'expire', 'finish', 'done'];

export interface Report {
  readonly worlds: number;
  readonly broken: number;
  readonly steps: number;
  readonly virtualHours: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly reached: Readonly<Record<string, number>>;
  /** Of what could be met or reached, what was not. */
  readonly missed: readonly string[];
}

export const createReport = () => {
  const faults = new Map<string, number>();
  const reached = new Map<string, number>();
  let worlds = 0;
  let broken = 0;
  let steps = 0;
  let virtualSeconds = 0;
  const add = (to: Map<string, number>, from: ReadonlyMap<string, number>): void => {
    for (const [key, count] of from) to.set(key, (to.get(key) ?? 0) + count);
  };
  return {
    add(ran: Ran): void {
      worlds += 1;
      if (ran.broken) broken += 1;
      steps += ran.steps;
      virtualSeconds += ran.virtualSeconds;
      add(faults, ran.faults);
      add(reached, ran.reached);
    },
    report(): Report {
      const possible = [
        ...STEPS.map((step) => `step ${step}`),
        ...EVENT_TYPES.map((type) => `event ${type}`),
        ...CAUSE_NAMES.map((cause) => `cause ${cause}`),
        ...QUESTION_KINDS.map((kind) => `question ${kind}`),
      ];
      const missed = [...possible.filter((key) => !reached.has(key)), ...FAULT_KINDS.filter((kind) => !faults.has(kind))];
      const sorted = (from: Map<string, number>): Record<string, number> => Object.fromEntries([...from].sort(([, a], [, b]) => b - a));
      return {
        ...{ worlds, broken, steps, virtualHours: Math.round(virtualSeconds / 3600) },
        ...{ faults: sorted(faults), reached: sorted(reached), missed },
      };
    },
  };
};
