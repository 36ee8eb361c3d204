/** Cases: what one look says, and what it leaves out (protocols §5). */
import { expect, test } from 'vitest';
import { seenOf } from '../../../lib/cluster/port.ts';
import { epochOf } from '../../../lib/job/identity.ts';
import type { Cases } from './suite.ts';

export const lookCases: Cases = ({ supports }, bench) => {
  test('P5.2 what was recorded already is not said again: live and ended', async () => {
    const { session, harness, running, look, ended, target } = bench();
    const attempt = await running();
    expect(await look(attempt, { seen: seenOf('running', 0) })).toBeUndefined();
    expect(await look(attempt, { seen: seenOf('queued', 0, 'waiting') })).toMatchObject({ kind: 'live', state: 'running' });
    await session.cancel(attempt.receipt);
    await ended(attempt);
    const again = await session.observe([target(attempt, { seen: seenOf('ended', 0) })]);
    expect(again).toMatchObject({ kind: 'observed', complete: true, changed: [], absent: [] });
    expect(again.kind === 'observed' && again.clusterStartedAt).toBeGreaterThan(0);
    expect(harness.now()).toBeGreaterThan(0);
  });

  test('P5.6 what no source knows is absent, which is not an end', async () => {
    const { session, harness, submission, target } = bench();
    const sent = await submission();
    const receipt = {
      cluster: harness.cluster,
      login: harness.login,
      schedulerId: '987654',
      identity: sent.identity,
      submittedAt: sent.clusterNow,
    };
    const ghost = target({ job: sent.job, n: 1, receipt, gate: sent.gate, submission: sent });
    expect(await session.observe([ghost])).toMatchObject({ kind: 'observed', changed: [], absent: [ghost] });
  });

  test('P4.1 a live object of ours that no target explains is reported, an ended one is not', async () => {
    const { session, harness, launch } = bench();
    const attempt = await launch();
    const unexplained = async () => {
      const seen = await session.observe([]);
      return seen.kind === 'observed' ? seen.unexplained.map(({ receipt }) => receipt.schedulerId) : [];
    };
    await harness.until(async () => (await unexplained()).includes(attempt.receipt.schedulerId), harness.limits.startSeconds);
    await session.discard(attempt.receipt);
    await harness.until(async () => !(await unexplained()).includes(attempt.receipt.schedulerId), harness.limits.endSeconds);
  });

  if (supports.has('output_bytes'))
    test('P5.2 a running program’s output grows', async () => {
      const { session, harness, running, target } = bench();
      const attempt = await running();
      const bytes = async () => (await session.outputBytes!([target(attempt)]))?.get(attempt.receipt.schedulerId) ?? 0;
      const before = await bytes();
      await harness.until(async () => (await bytes()) > before, harness.limits.startSeconds + 10);
      await session.cancel(attempt.receipt);
    });

  test('contract §4a the environment as the program saw it', async () => {
    const { harness, launch, release, ended } = bench();
    const spec = harness.makeSpec('publishes', { name: 'environment' });
    const resume = { epoch: epochOf(1, 0), step: 20, path: 'exec/1-0/step-20' };
    const attempt = await launch({
      n: 2,
      spec: { ...spec, program: { ...spec.program, env: { ...spec.program.env, GREETING: 'hello' } } },
      resume,
    });
    await release(attempt);
    await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    const seen = await harness.environmentOf(attempt);
    const root = seen?.['DISPATCH_CHECKPOINT_ROOT'];
    expect(root).toMatch(new RegExp(`/${attempt.job}$`));
    expect(seen).toMatchObject({
      GREETING: 'hello',
      DISPATCH_JOB: attempt.job,
      DISPATCH_CLUSTER: harness.cluster,
      DISPATCH_ATTEMPT: '2-0',
      DISPATCH_EPOCH: String(epochOf(2, 0)),
      DISPATCH_EXEC_DIR: `${root}/exec/2-0`,
      DISPATCH_RESUME_FROM: `${root}/${resume.path}`,
      DISPATCH_RESUME_STEP: '20',
      DISPATCH_NODES: String(spec.resources.nodes),
      DISPATCH_NODE_RANK: '0',
      DISPATCH_TASKS_PER_NODE: String(spec.resources.tasksPerNode),
      DISPATCH_MASTER_ADDR: expect.stringMatching(/./),
      DISPATCH_MASTER_PORT: expect.stringMatching(/^\d+$/),
      DISPATCH_API_URL: expect.any(String),
      DISPATCH_TOKEN_FILE: expect.stringMatching(/^\//),
    });
    expect(Object.keys(seen!)).not.toContain('DISPATCH_TOKEN');
  });

  test('contract §4a with nothing to resume from, the resume variables are unset', async () => {
    const { harness, launch, release, ended } = bench();
    const attempt = await launch();
    await release(attempt);
    await ended(attempt, harness.limits.startSeconds + harness.limits.endSeconds);
    const names = Object.keys((await harness.environmentOf(attempt))!);
    expect(names.filter((name) => name.startsWith('DISPATCH_RESUME'))).toEqual([]);
  });
};
