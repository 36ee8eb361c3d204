/**
 * The recovery story on a real Slurm, through the command line: preempted by a real competitor, classified, resumed from the
 * checkpoint that the program itself published, finished. Then the same with the whole process killed at five moments of it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Demo, startTable, type Table } from './dispatch.ts';
import { configurationFor, holdSbatch, marksOf, nodesOf, preempt, publicationsOf, rootFor, until } from './rig.ts';

let table: Table;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table?.stop());

const argsFor = (config: string, key: string, steps: number, ...more: string[]): string[] => [
  '--cluster',
  'lab',
  '--config',
  config,
  '--partition',
  'aside',
  '--steps',
  String(steps),
  '--key',
  key,
  ...more,
];

/** Preempts attempt n once it has published something. */
const preemptOncePublished = async (root: string, tag: string, job: string, n: number, seconds = 120): Promise<void> => {
  await until(`publications of attempt ${n}`, seconds, () => publicationsOf(root, job).length > 0 || undefined);
  const nodes = await until('its nodes', 20, () => nodesOf(`d${tag}-${job}-${n}`) || undefined);
  preempt(nodes, 8, 'aside-urgent');
};

describe('the recovery story', () => {
  it('is preempted, explained, resumed from its own checkpoint and finished: two attempts, one run each', async () => {
    const tag = 'st0r';
    const root = rootFor('story');
    const demo = new Demo(argsFor(configurationFor('story', root), 'story', 20), { DISPATCH_TAG: tag });
    const job = await demo.job();
    await preemptOncePublished(root, tag, job, 1);
    expect(await demo.ended, demo.lines.join('\n') + demo.errors).toBe(0);
    const said = demo.lines.join('\n');
    expect(said).toMatch(/attempt 1 ended: preempted; latest checkpoint: step (5|10|15)/);
    expect(said).toMatch(
      /Attempt 2 follows 1, which was preempted: rule 0 \(1 of 3 uses\) relaunched it from step (5|10|15), published by attempt 1\./,
    );
    expect(said).toMatch(/Succeeded: its program completed/);
    expect(marksOf(root, job).map((mark) => mark.split('/')[0])).toEqual(['1-0', '2-0']);
    // The second attempt went on from where the first had announced, and announced the end.
    expect(publicationsOf(root, job).at(-1)).toMatch(/^00000000000002000000-00000000000000000020-/);
  });

  it('survives kill -9 of the whole process at five moments, with one run per attempt (P1.2, P2.8, P3.1)', async () => {
    const tag = 'k111';
    // A second each, and three processes have to start and look before the fifth kill: it must not be over by then.
    const STEPS = 90;
    const root = rootFor('killed');
    const config = configurationFor('killed', root);
    const environment = { ...table.environment, DISPATCH_TAG: tag };
    const start = (): Demo => new Demo(argsFor(config, 'killed', STEPS), environment);
    const killAfter = async (demo: Demo, ready: () => Promise<unknown>): Promise<string> => {
      const job = await demo.job();
      await ready();
      demo.kill();
      await demo.ended;
      return job;
    };
    // 1: with sbatch on its way. It goes on without its sender, and the next process must find what came of it.
    const hold = holdSbatch(tag);
    let job = '';
    try {
      job = await killAfter(start(), () => until('sbatch is reached', 30, () => hold.reached() || undefined));
      hold.letGo();
      // 2 to 4: each line appears right after its commit, so the process dies between that commit and what follows it.
      for (const moment of ['is on the cluster', 'released', 'running']) {
        const demo = start();
        await killAfter(demo, () => demo.says(moment, 200));
      }
    } finally {
      hold.remove();
    }
    // 5: preempted, decided, and dead before the next attempt is planned.
    const fifth = start();
    await fifth.job();
    const first = Number((await fifth.says('running', 60)).match(/attempt (\d+) running/)?.[1]);
    await preemptOncePublished(root, tag, job, first);
    await killAfter(fifth, () => fifth.says('preempted', 60));
    const last = new Demo(argsFor(config, 'killed', STEPS, '--json'), environment);
    expect(await last.ended, last.errors).toBe(0);
    const told = JSON.parse(last.lines.join('\n'));
    expect(told.job.state).toBe('succeeded');
    const ran = told.job.attempts.filter((a: { outcome: string }) => !a.outcome.startsWith('never'));
    expect(ran.map((a: { outcome: string }) => a.outcome)).toEqual(['preempted', 'completed']);
    expect(marksOf(root, job).map((mark) => mark.split('/')[0])).toEqual(ran.map((a: { n: number }) => `${a.n}-0`));
  });
});
