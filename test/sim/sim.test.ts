import { describe, expect, it } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { forbid, Impure } from './purity.ts';
import { randomOf } from './random.ts';
import { REGRESSIONS } from './regressions.ts';
import { createReport } from './report.ts';
import { type Ran, runWorld } from './world.ts';

const WORLDS = 60;
/** The quickest to be caught; `npm run sim:mutants` runs them all. */
const QUICK_MUTANTS = ['owed-wake-forgotten', 'token-ignored', 'commit-unconditional', 'answer-without-condition'];
const MUTANT_SEEDS = 200;

const told = ({ seed, broken }: Ran): string | undefined =>
  broken && `${broken.invariant} at step ${broken.step}: ${broken.says} (npm run sim -- --seed ${seed})`;

describe('simulated worlds', () => {
  it(`S1 to S12 and L1 to L3 hold in ${WORLDS} worlds, which meet most faults and reach every next step`, async () => {
    const report = createReport();
    for (let seed = 1; seed <= WORLDS; seed++) {
      const ran = await runWorld({ seed });
      expect(told(ran)).toBeUndefined();
      report.add(ran);
    }
    const { missed, faults } = report.report();
    expect(missed.filter((what) => what.startsWith('step '))).toEqual([]);
    expect(Object.keys(faults).length).toBeGreaterThan(30);
  });

  it.each(REGRESSIONS)('seed $seed: $found', async ({ seed }) => {
    expect(told(await runWorld({ seed }))).toBeUndefined();
  });

  it('replays a seed byte by byte, and --stop-at stops where it says', async () => {
    const once = await runWorld({ seed: 7, trace: true });
    const again = await runWorld({ seed: 7, trace: true });
    expect(again.trace.join('\n')).toBe(once.trace.join('\n'));
    expect(again.steps).toBe(once.steps);
    const stopped = await runWorld({ seed: 7, trace: true, stopAt: 100 });
    expect(stopped.steps).toBe(100);
    expect(once.trace.slice(0, stopped.trace.length)).toEqual(stopped.trace);
    expect(stopped.dump).toBeDefined();
  });

  it('is the same world whether it is traced or not', async () => {
    const [traced, plain] = [await runWorld({ seed: 11, trace: true }), await runWorld({ seed: 11 })];
    expect([plain.steps, plain.virtualSeconds]).toEqual([traced.steps, traced.virtualSeconds]);
    expect(Object.fromEntries(plain.faults)).toEqual(Object.fromEntries(traced.faults));
  });

  it.each(QUICK_MUTANTS)(`catches the mutant %s within ${MUTANT_SEEDS} seeds`, async (name) => {
    const mutant = MUTANTS.find((one) => one.name === name)!;
    let caught: Ran | undefined;
    for (let seed = 1; seed <= MUTANT_SEEDS && !caught?.broken; seed++) caught = await runWorld({ seed, mutant });
    expect(caught?.broken).toBeDefined();
  });
});

describe('the source of chance', () => {
  it('gives the same numbers for a seed for ever', () => {
    const random = randomOf(42);
    expect(Array.from({ length: 4 }, () => random.between(0, 999_999))).toEqual([153_771, 850_489, 18_084, 211_930]);
  });
});

describe('purity', () => {
  it('fails whatever reaches for the clock, a timer or a random number, and gives them back afterwards', () => {
    const before = [Date, Math.random, setTimeout];
    const allow = forbid(() => 1000);
    const tried = [() => Date.now(), () => Math.random(), () => setTimeout(() => undefined, 0), () => crypto.randomUUID()];
    const thrown = tried.map((reach) => {
      try {
        reach();
        return undefined;
      } catch (error) {
        return error;
      }
    });
    const [stamped, given] = [new Date().toISOString(), new Date(5).toISOString()];
    allow();
    expect(thrown.every((error) => error instanceof Impure)).toBe(true);
    expect([stamped, given]).toEqual(['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:00.005Z']);
    expect([Date, Math.random, setTimeout]).toEqual(before);
  });
});
