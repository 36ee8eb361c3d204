/**
 * A submission whose answer is lost (C019; protocols §3.5): the controller is frozen while sbatch runs, so that sbatch times out
 * although its request may be honoured later. Counted by the marks that the program leaves: exactly one run, whichever way it went.
 */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Demo } from './dispatch.ts';
import { as, configurationFor, fault, holdSbatch, marksOf, rootFor, until } from './rig.ts';

let hold: ReturnType<typeof holdSbatch> | undefined;
afterEach(() => hold?.remove());
afterAll(() => {
  fault('thaw');
});

const run = async (name: string, tag: string, frozenSeconds: number): Promise<{ said: string; root: string; job: string }> => {
  const root = rootFor(name);
  hold = holdSbatch(tag);
  const args = ['--cluster', 'lab', '--config', configurationFor(name, root), '--steps', '3', '--partition', 'batch'];
  const demo = new Demo(args, { DISPATCH_TAG: tag });
  const job = await demo.job();
  await until('sbatch is reached', 30, () => hold?.reached() || undefined);
  fault('freeze');
  hold.letGo();
  await demo.says('the answer was lost', 60);
  await new Promise((resolve) => setTimeout(resolve, frozenSeconds * 1000));
  fault('thaw');
  expect(await demo.ended, demo.lines.join('\n') + demo.errors).toBe(0);
  return { said: demo.lines.join('\n'), root, job };
};

describe('a submission whose answer is lost', () => {
  it('is found where it landed after the thaw, bound, released once and run once', async () => {
    const { said, root, job } = await run('lands', 'ca11', 0);
    expect(said).toMatch(/attempt 1 is on the cluster as \d+, gated/);
    expect(said).not.toMatch(/attempt 2/);
    expect(marksOf(root, job)).toHaveLength(1);
    expect(as('alice', `sacct -nXP -S now-1hour -E now+1day --name=dca11-${job}-1 -o jobid`).trim().split('\n')).toHaveLength(1);
  });

  it('never lands when its credential expired meanwhile; that is proved before the next attempt, which runs once (P3.5)', async () => {
    const { said, root, job } = await run('expires', 'ex1r', 40);
    expect(said).toMatch(/attempt 1 never reached the scheduler: looked up completely/);
    expect(said).toMatch(/Attempt 2 follows 1, which never reached its scheduler: rule 0 /);
    expect(marksOf(root, job).map((mark) => mark.split('/')[0])).toEqual(['2-0']);
    expect(as('alice', `sacct -nXP -S now-1hour -E now+1day --name=dex1r-${job}-1 -o jobid`).trim()).toBe('');
  });
});
