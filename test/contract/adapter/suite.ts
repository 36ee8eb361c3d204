/**
 * The adapter contract: one suite that every adapter passes, on its real cluster (contract §7a).
 * Each case launches attempts of its own, so cases do not depend on each other's order, and leaves nothing alive that it knows of.
 *
 *   adapterContract('memory, slurm shape', { supports, causes, unexercised, timeoutMs, open: async () => harness });
 *
 * | word in the titles | meaning |
 * | --- | --- |
 * | attempt | one launch of a job: one scheduler object |
 * | run | one execution of an attempt's object, counted from 0 |
 * | gate | what keeps a submitted attempt from starting until it is released |
 * | identity | the name under which an attempt can be found, known before it is submitted |
 * | mark | the file that names the one object which may run the program of an attempt |
 * | bound | the moment on the cluster's clock after which a submission can no longer land |
 * | point | the publication from which an execution was told to resume, or nothing |
 * | P4.2, contract §3 | the rule of docs/explanation that the case proves |
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { capabilityCases } from './capability.ts';
import { endingCases } from './ending.ts';
import { fenceCases } from './fence.ts';
import { gateCases } from './gate.ts';
import { Bench, type Facts } from './harness.ts';
import { lookCases } from './look.ts';
import { submissionCases } from './submission.ts';

/** The bench's steps, usable without it: `const { launch, release } = bench()`. */
type Bound = { readonly [K in keyof Bench]: Bench[K] };
export type Cases = (facts: Facts, bench: () => Bound) => void;

const PARTS: readonly [string, Cases][] = [
  ['capabilities', capabilityCases],
  ['submission', submissionCases],
  ['gate and release', gateCases],
  ['fence', fenceCases],
  ['look', lookCases],
  ['ending', endingCases],
];

export const adapterContract = (name: string, facts: Facts): void => {
  describe(`adapter contract: ${name}`, { timeout: facts.timeoutMs, concurrent: facts.concurrent ?? false }, () => {
    let bound: Bound | undefined;
    beforeAll(async () => {
      const harness = await facts.open();
      const session = await harness.adapter.connect(harness.login);
      bound = bind(new Bench(harness, session, await session.probe(harness.now())));
    }, facts.timeoutMs);
    afterAll(async () => bound?.session.close());
    const bench = (): Bound => {
      if (!bound) throw new Error('the cluster was not opened');
      return bound;
    };
    for (const [part, cases] of PARTS) describe(part, () => cases(facts, bench));
  });
};

const bind = (bench: Bench): Bound => ({
  harness: bench.harness,
  session: bench.session,
  probe: bench.probe,
  submission: (...of) => bench.submission(...of),
  launch: (...of) => bench.launch(...of),
  release: (...of) => bench.release(...of),
  target: (...of) => bench.target(...of),
  look: (...of) => bench.look(...of),
  stateOf: (...of) => bench.stateOf(...of),
  untilState: (...of) => bench.untilState(...of),
  ended: (...of) => bench.ended(...of),
  begun: (...of) => bench.begun(...of),
  running: (...of) => bench.running(...of),
  objectsOf: (...of) => bench.objectsOf(...of),
});
