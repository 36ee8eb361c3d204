/**
 * `npm run test:moto`: the machine file on a second implementation of Step Functions, moto. Every row and every life of test/machine is
 * lived on both engines, and both must leave the same trace: states, events, payloads, starts, delays, output, error. Where they are
 * known to differ, differences.ts says what, why and who is right, and the run fails as soon as that is no longer so.
 *
 *   npm run test:moto -- [WORD…]     only the scenarios whose title has one of the words
 *
 * Needs python3, its venv and its package registry; where they are missing it says so and fails.
 */
import { differing, type Field, shown } from './compare.ts';
import { differences, evened, fieldsKnown } from './differences.ts';
import { rowScenarios } from './from-rows.ts';
import { installed, NotInstalled, served } from './installed.ts';
import { lives, notLived } from './lives.ts';
import { runOurs } from './our-engine.ts';
import type { Scenario } from './scenario.ts';
import { clientOf, runTheirs } from './their-engine.ts';
import { openWorld } from './their-world.ts';

/** Many scenarios wait most of their time; more at once would make its time limits uneven. */
const AT_ONCE = 6;
const LIMIT_MS = 600_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const closing = (passed: number, failed: number): void => {
  say(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
};

/** What is wrong with one scenario; nothing: all is as it should be. */
const faults = async (scenario: Scenario, theirs: ReturnType<typeof runTheirs>): Promise<string[]> => {
  const [our, their] = await Promise.all([runOurs(scenario), theirs]);
  const known = fieldsKnown(scenario.title);
  const found = differing(our, their);
  const news = found.filter((field) => !known.includes(field)).map((field) => shown(field, our, their));
  const gone = known.filter((field: Field) => !found.includes(field)).map((field) => `${field}: no longer differs; take it off the list`);
  return [...news, ...gone];
};

const main = async (): Promise<void> => {
  const words = process.argv.slice(2);
  const all: readonly Scenario[] = [...rowScenarios, ...lives];
  const chosen = all.filter(({ title }) => words.length === 0 || words.some((word) => title.includes(word)));
  const python = installed();
  const world = await openWorld();
  const server = await served(python, world.url);
  const client = clientOf(server.port);
  const endMs = performance.now() + LIMIT_MS;
  let passed = 0;
  let failed = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < chosen.length; number = next++) {
      const scenario = chosen[number]!;
      const told =
        performance.now() > endMs
          ? ['not run: the time was over']
          : await settled(faults(scenario, runTheirs(client, world, scenario, number)));
      if (told.length === 0) passed += 1;
      else failed += 1;
      say(`${told.length === 0 ? 'ok  ' : 'FAIL'} ${scenario.title}`);
      for (const line of told) say(`       ${line}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    client.destroy();
    server.close();
    world.close();
  }
  say('\nKnown differences, and who is right by the documentation of AWS:');
  for (const { what, why, right, cases } of differences) say(`- ${what} (right: ${right}; scenarios: ${cases.length}). ${why}`);
  for (const line of evened) say(`- evened out: ${line}`);
  for (const { title, why } of notLived) say(`- not run: ${title}. ${why}`);
  closing(passed, failed);
};

const settled = async (work: Promise<string[]>): Promise<string[]> => {
  try {
    return await work;
  } catch (error) {
    return [error instanceof Error ? `${error.name}: ${error.message}` : String(error)];
  }
};

try {
  await main();
} catch (error) {
  if (!(error instanceof NotInstalled)) throw error;
  say(`\nCANNOT RUN: ${error.message}\nNothing was proved about a second engine.`);
  closing(0, 1);
}
