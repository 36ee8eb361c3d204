import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forbid, Impure } from './purity.ts';

/** By whatever door: globals, methods of them, named imports of Node's modules. */
const DOORS: readonly (() => unknown)[] = [
  () => Date(),
  () => process.hrtime.bigint(),
  () => process.uptime(),
  () => AbortSignal.timeout(1),
  () => randomUUID(),
  () => randomBytes(4),
  () => wait(1),
];

describe('purity', () => {
  it.each(DOORS.map((door) => [String(door).slice(0, 40), door] as const))('refuses %s inside a world, and gives it back', (_, door) => {
    const allow = forbid(() => 1000);
    let thrown: unknown;
    try {
      door();
    } catch (error) {
      thrown = error;
    }
    allow();
    expect(thrown).toBeInstanceOf(Impure);
    expect(door).not.toThrow();
  });
});
