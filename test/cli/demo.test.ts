/** The demo as its caller sees it: what it prints, and its exit code. The whole of it runs here, in virtual time. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Live, runDemo } from '../../lib/cli/run-demo.ts';
import type { Commit } from '../../lib/job/event.ts';
import { fold } from '../../lib/job/view.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import { numbers } from '../contract/core/life.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly warned: string;
  readonly seconds: number;
  readonly live: readonly string[];
}

/** Real input and output (a file that is read) take no virtual time: only then is nothing left to fire. */
const ROUNDS = 100_000;

const demo = async (args: readonly string[], environment: NodeJS.ProcessEnv = {}, watched = false): Promise<Ran> => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const said = { out: '', warned: '', live: [] as string[] };
  const live = (): Live => ({
    clear: () => undefined,
    stop: () => undefined,
    set text(text: string) {
      said.live.push(text);
    },
  });
  let code: number | undefined;
  const ends = runDemo(args, {
    clock,
    random: numbers(17),
    environment,
    out: (text) => {
      said.out += text;
    },
    warn: (text) => {
      said.warned += text;
    },
    dim: (text) => text,
    ...(watched ? { live } : {}),
  }).then((answer) => {
    code = answer;
    return answer;
  });
  for (let round = 0; code === undefined && round < ROUNDS; round++) await clock.advanceToNext();
  return { code: await ends, ...said, seconds: (clock.now() - Date.UTC(2030, 0, 1)) / 1000 };
};

let folder = '';
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the story', () => {
  test('given no options, then it tells plan, events and why it restarted, and exits 0', async () => {
    const { code, out, warned, seconds } = await demo([]);
    expect(code).toBe(0);
    expect(warned).toBe('');
    expect(out).toMatch(/can be submitted as planned; digest [0-9a-f]{64}\n/);
    expect(out).toContain('\n+  0.0 s  job ');
    expect(out).toMatch(/ended: preempted; latest checkpoint: step 200\n/);
    expect(out).toMatch(/rule 0 \(1 of 3 uses\) applies: relaunch from checkpoint, not before 00:00:\d\d\n/);
    expect(out).toMatch(/attempt 2 planned as d\S+-2, from step 200, published by attempt 1\n/);
    expect(out).toMatch(
      /job succeeded\n\nSucceeded: .*\nAttempt 2 follows 1, which was preempted: rule 0 .* from step 200, published by attempt 1\.\n$/,
    );
    expect(out).not.toMatch(/undefined|NaN|\+ *-/);
    expect(seconds).toBeLessThan(20);
  });

  test('given --json, then one document {plan, events, job}, from which the job can be folded again', async () => {
    const { code, out } = await demo(['--json']);
    expect(code).toBe(0);
    const told = JSON.parse(out) as {
      plan: { digest: string };
      events: Commit[];
      job: { state: string; version: number; attempts: unknown[] };
    };
    expect(Object.keys(told)).toEqual(['plan', 'events', 'job']);
    expect(told.plan.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(told.job).toMatchObject({ state: 'succeeded', resumedFrom: { attempt: 1, trainingStep: 200 } });
    expect(told.job.attempts).toHaveLength(2);
    expect(fold(told.events)).toMatchObject({ version: told.job.version, ended: { outcome: { state: 'succeeded' } } });
  });

  test('given a terminal, then the line below says why the job is as it is, until the end', async () => {
    const { live } = await demo([], {}, true);
    expect(new Set(live)).toContain('Attempt 1 is running.');
  });

  test('given a memory cluster of the other shape by a file, then the same story', async () => {
    const config = await file('shape.json', '{"clusters":[{"id":"k","kind":"memory","shape":"kubernetes"},{"id":"s","kind":"memory"}]}');
    for (const cluster of [[], ['--cluster', 's']]) expect((await demo(['--config', config, ...cluster])).code).toBe(0);
  });

  test('given a read-only cluster, then the plan refuses it: exit 1, nothing submitted', async () => {
    const config = await file('readonly.json', '{"clusters":[{"id":"k","kind":"memory","readOnly":true}]}');
    const { code, out, warned } = await demo(['--config', config, '--json']);
    expect(code).toBe(1);
    expect(warned).toMatch(/^refused: /);
    expect(out).toBe('');
  });
});

describe('mistakes of the caller: one line, exit 2, nothing started', () => {
  test.each([
    ['an unknown option', ['--nope'], "error: unknown option '--nope'\n"],
    ['a number that is none', ['--steps', 'many'], /argument 'many' is invalid. a whole number from 1 to 3600\.\n/],
    ['a cluster without a file', ['--cluster', 'hpc'], '--cluster hpc: name its configuration with --config FILE\n'],
    ['a file that is not there', ['--config', '/nonexistent/x.json'], '/nonexistent/x.json: cannot be read (ENOENT)\n'],
  ] as const)('%s', async (_, args, says) => {
    const { code, out, warned } = await demo(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    if (typeof says === 'string') expect(warned).toBe(says);
    else expect(warned).toMatch(says);
  });

  test('a file that is no configuration, and a cluster that it does not name', async () => {
    const bad = await file('bad.json', '{"clusters":[{"id":"k","kind":"memory","shap":"slurm"}]}');
    expect(await demo(['--config', bad])).toMatchObject({
      code: 2,
      out: '',
      warned: `${bad}: clusters[0].shap: unknown key; did you mean 'shape'?\n`,
    });
    const good = await file('good.json', '{"clusters":[{"id":"k","kind":"memory"}]}');
    const { code, warned } = await demo(['--config', good, '--cluster', 'x']);
    expect([code, warned]).toEqual([2, `--cluster x: not in ${good}; one of k\n`]);
  });

  test('a tag that is none', async () => {
    const { code, warned } = await demo([], { DISPATCH_TAG: 'tagged' });
    expect([code, warned]).toEqual([2, 'DISPATCH_TAG: must be 4 characters of 0-9 and a-z without i, l, o, u\n']);
  });

  test('--help is no mistake', async () => {
    const { code, out } = await demo(['--help']);
    expect(code).toBe(0);
    expect(out).toContain('--config <file>');
  });
});
