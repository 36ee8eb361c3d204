import { describe, expect, it } from 'vitest';
import { CONSEQUENCES, FAULT_KINDS } from './climate.ts';
import { MUTANTS } from './mutants.ts';
import { forbid, Impure } from './purity.ts';
import { randomOf } from './random.ts';
import { REGRESSIONS } from './regressions.ts';
import { createReport } from './report.ts';
import { shrink } from './shrink.ts';
import { startTwins } from './twin.ts';
import { type Ran, runWorld } from './world.ts';

const WORLDS = 60;
/** Seconds of work; a machine that is busy with other things takes longer. */
const PATIENT_MS = 120_000;
/** Short ones, with faults: each call goes over a wire. */
const TWIN_SEEDS = [4, 12];

const told = ({ seed, broken }: Ran): string | undefined =>
  broken && `${broken.invariant} at step ${broken.step}: ${broken.says} (npm run sim -- --seed ${seed})`;

describe('simulated worlds', () => {
  it(
    `S1 to S13 and L1 to L3 hold in ${WORLDS} worlds, which meet most faults and reach every next step`,
    async () => {
      const report = createReport();
      for (let seed = 1; seed <= WORLDS; seed++) {
        const ran = await runWorld({ seed });
        expect(told(ran)).toBeUndefined();
        report.add(ran);
      }
      const { missed, faults } = report.report();
      expect(missed.filter((what) => what.startsWith('step '))).toEqual([]);
      expect(Object.keys(faults).length).toBeGreaterThan((FAULT_KINDS.length + CONSEQUENCES.length) * 0.8);
    },
    PATIENT_MS,
  );

  it.each([1, 2, 3])('S7: two deployments on one cluster leave each other alone (seed %i)', async (seed) => {
    expect(told(await runWorld({ seed, kind: 'two' }))).toBeUndefined();
  });

  it(
    'is the same world over DynamoDB: every call is answered as the memory store answers it',
    async () => {
      const { twin, close } = await startTwins();
      try {
        for (const seed of TWIN_SEEDS) {
          const [memory, dynamodb] = [await runWorld({ seed }), await runWorld({ seed, twin })];
          expect(told(dynamodb)).toBeUndefined();
          expect([dynamodb.steps, dynamodb.virtualSeconds]).toEqual([memory.steps, memory.virtualSeconds]);
        }
      } finally {
        await close();
      }
    },
    PATIENT_MS,
  );

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
});

describe('a world that breaks', () => {
  it('is shrunk to fewer jobs and fewer kinds of faults, and still breaks the same way', async () => {
    const mutant = MUTANTS.find((one) => one.name === 'commit-unconditional')!;
    let ran = await runWorld({ seed: 1, mutant });
    for (let seed = 2; seed <= 50 && !ran.broken; seed++) ran = await runWorld({ seed, mutant });
    expect(ran.broken).toBeDefined();
    const options = { seed: ran.seed, mutant };
    const { invariant, without, jobs } = await shrink(options, ran);
    expect(invariant).toBe(ran.broken?.invariant);
    expect(without.split(',').length).toBeGreaterThan(FAULT_KINDS.length / 2);
    const again = await runWorld({ ...options, without: new Set(without.split(',')), ...(jobs === undefined ? {} : { jobs }) });
    expect(again.broken?.invariant).toBe(invariant);
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
