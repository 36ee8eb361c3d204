/**
 * Benchmarks: `npm run bench`, `npm run bench -- --only NAME`. Prints one JSON of counts and of ratios against a baseline that was
 * measured in the same run; exits 1 when a bound is missed or a benchmark did not end in time, 2 for a mistake in how it was called.
 *
 * Each benchmark is a process of its own, one after the other, within one limit for all of them. What the numbers mean:
 * docs/benchmarks.md.
 */
import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { isKept, type Measure, rounded } from './measure.ts';

const NAMES = ['append', 'commit', 'submissions', 'status', 'quiet-poll', 'transitions', 'start', 'memory', 'functions', 'synth'] as const;
type Name = (typeof NAMES)[number];
const LIMIT_MS = 180_000;

type Ran = { readonly measures: readonly Measure[] } | { readonly failed: string };

const run = (name: Name, limitMs: number): Promise<Ran> =>
  new Promise((resolve) => {
    let said: readonly Measure[] = [];
    const child = fork(new URL(`./${name}.ts`, import.meta.url), {
      timeout: Math.max(1, Math.floor(limitMs)),
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    child.on('message', (message) => {
      said = message as readonly Measure[];
    });
    child.once('exit', (code, signal) =>
      resolve(code === 0 && said.length > 0 ? { measures: said } : { failed: `ended with ${code ?? signal}` }),
    );
  });

/** `0.912, at least 0.8`: the value and what it must keep, for people and for machines. */
const shown = ({ value, bound }: Measure) => (bound ? { value: rounded(value), ...bound } : { value: rounded(value) });

const chosen = (): readonly Name[] | undefined => {
  try {
    const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
    if (only === undefined) return NAMES;
    const name = NAMES.find((one) => one === only);
    return name && [name];
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

const main = async (): Promise<number> => {
  const names = chosen();
  if (!names) {
    process.stderr.write(`usage: npm run bench [-- --only ${NAMES.join('|')}]\n`);
    return 2;
  }
  const endMs = performance.now() + LIMIT_MS;
  const results: Record<string, unknown> = {};
  const missed: string[] = [];
  for (const name of names) {
    const ran = await run(name, endMs - performance.now());
    if ('failed' in ran) missed.push(`${name}: ${ran.failed}`);
    else {
      results[name] = Object.fromEntries(ran.measures.map((measure) => [measure.name, shown(measure)]));
      missed.push(...ran.measures.filter((measure) => !isKept(measure)).map((measure) => `${name}: ${measure.name}`));
    }
  }
  process.stdout.write(`${JSON.stringify({ results, missed }, undefined, 2)}\n`);
  return missed.length === 0 ? 0 : 1;
};

process.exitCode = await main();
