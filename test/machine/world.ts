/** The supervisor's machine file on an engine under virtual time, with scripted handlers. */

import { readFileSync } from 'node:fs';
import { type VirtualClock, virtualClock } from '../../lib/local/clock.ts';
import { createEngine, type Engine, type EngineOptions, type ExecutionDescription } from '../../lib/local/engine/engine.ts';
import type { Json } from '../../lib/local/engine/json.ts';

export const definition: Record<string, unknown> = JSON.parse(
  readFileSync(new URL('../../statemachines/supervisor.asl.json', import.meta.url), 'utf8'),
);
export const substitutions = { AdvanceFunctionArn: 'advance', ParkFunctionArn: 'park' };

export const START_MS = Date.UTC(2026, 0, 1);
export const SECOND = 1000;
export const HOUR = 3_600_000;

export interface Directive {
  next: string;
  version: number;
  until: number;
  seconds: number;
  question: string;
}

export function directive(next: string, more: Partial<Directive> = {}): Directive {
  return { next, version: 7, until: START_MS + HOUR, seconds: 3600, question: '', ...more };
}

/** An error as a function throws it: the machine knows it by its name. */
export function named(name: string, message = ''): Error {
  return Object.assign(new Error(message), { name });
}

export interface Parked {
  token: string;
  version: number;
  until: number;
  question: string;
  enteredAt: string;
  retry: number;
}

export interface World {
  clock: VirtualClock;
  engine: Engine;
  /** Payloads in the order of the calls. */
  advanced: { [field: string]: Json }[];
  parked: Parked[];
  ended: ExecutionDescription[];
}

type Script = (call: number) => unknown;

/** `advance` and `park` say what their n-th call, from 0, answers or throws. */
export function world(script: { advance: Script; park?: Script }, more: Partial<EngineOptions> = {}): World {
  const clock = virtualClock(START_MS);
  const advanced: World['advanced'] = [];
  const parked: Parked[] = [];
  const ended: ExecutionDescription[] = [];
  const engine = createEngine({
    definition,
    substitutions,
    clock,
    random: seeded(1),
    onEnd: (execution) => ended.push(execution),
    functions: {
      advance: async (payload) => script.advance(advanced.push(payload as World['advanced'][number]) - 1),
      park: async (payload) => {
        const call = parked.push(payload as unknown as Parked) - 1;
        return script.park?.(call);
      },
    },
    ...more,
  });
  return { clock, engine, advanced, parked, ended };
}

export function inputOf(job: string, generation: number): string {
  return JSON.stringify({ answer: {}, generation, job, loops: 0 });
}

export function start(engine: Engine, job = 'j1', generation = 1): string {
  const name = `${job}-${generation}`;
  engine.startExecution({ name, input: inputOf(job, generation) });
  return name;
}

/** mulberry32: small, seeded, good enough for a test. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
