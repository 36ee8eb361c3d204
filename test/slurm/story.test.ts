/**
 * The recovery story on a real Slurm, through the command line: preempted by a real competitor, classified, resumed from the
 * checkpoint that the program itself published, finished. Then the same with the whole process killed at five moments of it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Demo, startTable, type Table } from './dispatch.ts';
import { configurationFor, marksOf, nodesOf, preempt, publicationsOf, rootFor, until } from './rig.ts';

let table: Table;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table?.stop());

const argsFor = (config: string, key: string, ...more: string[]): string[] => [
  '--cluster',
  'lab',
  '--config',
  config,
  '--partition',
  'batch',
  '--steps',
  '20',
  '--key',
  key,
  ...more,
];

/** Preempts attempt n once it has published something. */
const preemptOncePublished = async (root: string, tag: string, job: string, n: number, seconds = 120): Promise<void> => {
  await until(`publications of attempt ${n}`, seconds, () => publicationsOf(root, job).length > 0 || undefined);
  const nodes = await until('its nodes', 20, () => nodesOf(`d${tag}-${job}-${n}`) || undefined);
  preempt(nodes, 8);
};

describe('the recovery story', () => {
  it('is preempted, explained, resumed from its own checkpoint and finished: two attempts, one run each', async () => {
    const tag = 'st0r';
    const root = rootFor('story');
    const demo = new Demo(argsFor(configurationFor('story', root), 'story'), { DISPATCH_TAG: tag });
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
    const root = rootFor('killed');
    const config = configurationFor('killed', root);
    const environment = { ...table.environment, DISPATCH_TAG: tag };
    // Each line appears right after its commit: the process dies between that commit and what follows it.
    const moments = ['attempt 1 planned', 'attempt 1 is on the cluster', 'attempt 1 released', 'attempt 1 running', 'rule 0'];
    let job = '';
    for (const moment of moments) {
      const demo = new Demo(argsFor(config, 'killed'), environment);
      job = await demo.job();
      if (moment === 'rule 0') await preemptOncePublished(root, tag, job, 1);
      await demo.says(moment, 150);
      demo.kill();
      await demo.ended;
    }
    const last = new Demo(argsFor(config, 'killed', '--json'), environment);
    expect(await last.ended, last.errors).toBe(0);
    const told = JSON.parse(last.lines.join('\n'));
    expect(told.job.state).toBe('succeeded');
    expect(told.job.attempts.map((a: { outcome: string }) => a.outcome)).toEqual(['preempted', 'completed']);
    expect(marksOf(root, job).map((mark) => mark.split('/')[0])).toEqual(['1-0', '2-0']);
  });
});
