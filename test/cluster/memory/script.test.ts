import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { endingOf } from '../../../lib/cluster/memory/ending.ts';
import { attemptScriptOf, DEFAULT_RUN, endsSchema, jobScriptSchema, worldScriptSchema } from '../../../lib/cluster/memory/script.ts';
import { createMemoryCluster } from '../../../lib/cluster/memory/world.ts';
import { CAUSES } from '../../../lib/job/cause.ts';
import { given, scripted, seeded, specOf } from './given.ts';

const empty = worldScriptSchema.parse({});

describe('scripts', () => {
  test('nothing said: starts at once, runs ten seconds, completes', () => {
    expect(DEFAULT_RUN).toEqual({
      queueSeconds: 0,
      startsSeconds: 0,
      program: { runsSeconds: 10, publishes: [], ignoresResume: false, ends: 'completed', endingSeconds: 0 },
    });
    expect(attemptScriptOf(empty, specOf(), 1)).toEqual({ tries: [], runs: [] });
  });

  test.each([
    ['the spec’s own wins', scripted({ queueSeconds: 1 }), 1, 1],
    ['by the name of the job', specOf({ name: 'known' }), 1, 2],
    ['any other', specOf({ name: 'other' }), 1, 3],
    ['attempt 2 has its own', specOf({ name: 'known' }), 2, 4],
    ['beyond its end: the default', specOf({ name: 'known' }), 3, undefined],
  ])('%s', (_, spec, n, queueSeconds) => {
    const world = worldScriptSchema.parse({ jobs: { known: [{ queueSeconds: 2 }, [{ queueSeconds: 4 }]] }, any: [{ queueSeconds: 3 }] });
    const script = attemptScriptOf(world, spec, n);
    expect('runs' in script && script.runs[0]?.queueSeconds).toBe(queueSeconds);
  });

  test('refusals are met by tries, the rest are runs', () => {
    const spec = scripted([
      { notNow: { reason: 'QueueFull' } },
      { queueSeconds: 1 },
      { refuse: { reason: 'no' } },
      { program: { ends: { exit: 3 } } },
    ]);
    expect(attemptScriptOf(empty, spec, 1)).toMatchObject({
      tries: [{ notNow: { retryAfterSeconds: 60 } }, { refuse: { cause: 'rejected' } }],
      runs: [{ queueSeconds: 1 }, { program: { ends: { exit: 3 } } }],
    });
  });

  test.each([
    ['an unknown key', [{ queueSecond: 1 }], /^script\[0\]/],
    ['an unknown end', [{ program: { ends: 'exploded' } }], /^script\[0\]/],
    ['an exit code of 0', [{ program: { ends: { exit: 0 } } }], /^script\[0\]/],
    ['no list', 'completed', /^script: /],
  ])('%s is refused with its path: at submission, and by the rendering', async (_, script, says) => {
    const { session, submission, world } = await given();
    const spec = specOf({ extensions: { memory: { script } } });
    const answer = await session.submit(await submission({ spec }));
    expect(answer).toMatchObject({ kind: 'refused', outcome: { cause: 'rejected', detail: { message: expect.stringMatching(says) } } });
    expect(world.truth().objects).toEqual([]);
  });

  test('a cluster’s own script that is none is refused when the cluster is made', () => {
    const make = () =>
      createMemoryCluster({ shape: 'slurm', clock: { now: () => 0 }, random: seeded(1), script: { jobs: { a: [{ nope: 1 }] } } });
    expect(make).toThrow();
  });

  test.each([
    ['completed', 'completed', {}],
    ['time_limit', 'time_limit', { clock: 'job' }],
    [{ exit: 3 }, 'exited', { code: 3 }],
    [{ signal: 15 }, 'signalled', { signal: 15 }],
    [{ signal: 9 }, 'signalled', { signal: 9, maybe_oom: true }],
    [{ preempted: { by: '77' } }, 'preempted', { by: '77' }],
    [{ out_of_memory: { scope: 'child' } }, 'out_of_memory', { scope: 'child' }],
    ['node_lost', 'node_lost', { nodes: 'n1,n2', failedNodes: ['n1'] }],
    [{ node_lost: { nodes: ['n2'] } }, 'node_lost', { failedNodes: ['n2'] }],
    ['launch_failed', 'launch_failed', { stage: 'prolog' }],
    ['boot_failed', 'boot_failed', {}],
    ['evicted', 'evicted', { which: 'node pressure' }],
    ['scheduler_failed', 'scheduler_failed', { what: 'lost by the scheduler' }],
    ['revoked', 'revoked', {}],
    ['unrecognised', 'unrecognised', { word: 'MELTED' }],
    ['contradictory', 'contradictory', { both: ['the scheduler: COMPLETED', 'no wrapper ever claimed the run'] }],
  ])('contract §3 %o ends by %s', (ends, cause, detail) => {
    const ending = endingOf(endsSchema.parse(ends) as 'completed', ['n1', 'n2']);
    expect(ending).toMatchObject({ cause, detail });
    expect(CAUSES).toHaveProperty(ending.cause);
    expect(ending.word).not.toBe('');
  });

  test('every script in the documentation is one', () => {
    const page = readFileSync(new URL('../../../docs/memory-cluster.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!));
    expect(blocks).toHaveLength(4);
    for (const block of blocks) {
      if ('jobs' in block) worldScriptSchema.parse(block);
      else jobScriptSchema.parse(Array.isArray(block) ? block : block.extensions.memory.script);
    }
    const ends = [...page.matchAll(/^\| (`["{].*?) \| /gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!),
    );
    for (const text of ends.filter((text) => !text.includes('…'))) endsSchema.parse(JSON.parse(text));
    expect(ends.length).toBeGreaterThan(12);
  });
});
