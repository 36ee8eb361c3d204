/** One odd job never costs the others (P5.5): polls, sweeps and reconciles go on past a record that this release cannot read. */
import { expect, test } from 'vitest';
import { newCommitId } from '../../../lib/app/commit.ts';
import { planJob } from '../../../lib/app/plan-job.ts';
import type { Ports } from '../../../lib/app/ports.ts';
import { reconcile } from '../../../lib/app/reconcile.ts';
import { submitJob } from '../../../lib/app/submit-job.ts';
import { SCHEMA } from '../../../lib/job/event.ts';
import { identityOf } from '../../../lib/job/identity.ts';
import { fold } from '../../../lib/job/view.ts';
import { CLUSTER, type Life, LOGIN, life, START_MS, TAG } from './life.ts';

const running = (one: Life): Promise<unknown> => one.until(({ attempt }) => attempt?.state === 'running');

/** A second job, first in every list, that runs for this long and is not one's own to read. */
const neighbour = async (one: Life, runsSeconds: number): Promise<string> => {
  const earlier: Ports = { ...one.ports(), now: () => START_MS - 60_000 };
  const spec = {
    name: 'odd',
    cluster: CLUSTER,
    resources: { nodes: 1, tasksPerNode: 1 },
    program: { command: ['train'] },
    timeLimit: '1h',
    policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
    extensions: { memory: { script: [{ program: { runsSeconds } }] } },
  };
  const planned = await planJob(one.ports(), spec);
  if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
  const of = {
    spec: planned.spec,
    plan: planned.plan,
    login: planned.login,
    principal: 'bob',
    project: 'p',
    key: 'odd',
    payloadHash: 'odd',
  };
  const born = await submitJob(earlier, of);
  if (born.kind !== 'submitted') throw new Error('the key was used');
  const { job } = born.view;
  while (fold(await one.store.read(job))?.attempts[0]?.state !== 'running') await one.advance(1);
  // What a newer release has written beside us.
  const version = (await one.store.read(job)).length + 1;
  const events = [{ type: 'checkpoint_published' as const, epoch: 1_000_000, step: 1, path: 'a' }];
  const commit = { job, version, commitId: newCommitId(Math.random), at: one.clock.now(), actor: 'attempt:1', schema: SCHEMA + 1, events };
  await one.store.append(commit);
  return job;
};

test('given a job whose record a newer release wrote, and which ends first, then the end of every other job is still recorded', async () => {
  const one = await life({ script: [{ program: { runsSeconds: 120 } }] });
  await running(one);
  const job = await neighbour(one, 30);
  expect((await one.ended(600)).state).toBe('succeeded');
  expect(job < one.job()).toBe(true);
  expect(one.logs).toContainEqual(expect.objectContaining({ level: 'error', fields: expect.objectContaining({ job }) }));
});

test('given such a job, then a reconcile comes to all others', async () => {
  const one = await life({ script: [{ program: { runsSeconds: 1200 } }] });
  await running(one);
  await neighbour(one, 1200);
  expect(await reconcile(one.ports(), { everyJob: true })).toMatchObject({ jobs: 2, restarted: 1 });
});

test('P4.1: given more objects without a record here than one sweep reads, then what comes after them in the list is discarded all the same', async () => {
  const one = await life({ script: [{ program: { runsSeconds: 60 } }] });
  await one.ended();
  const orphan = 'abcdefghjkmnpqr';
  for (let i = 0; i < 150; i++) {
    const name = identityOf(TAG, `${orphan}${'0123456789abcdefghjkmnpqrstvwxyz'[i % 32]}`, Math.floor(i / 32) + 1);
    one.world.foreign.submit({ name, login: LOGIN, script: [{ program: { runsSeconds: 2_000_000, ends: 'hangs' } }] });
  }
  const revived = one.world.foreign.submit({ name: identityOf(TAG, one.job(), 1), login: LOGIN, script: [{ queueSeconds: 'never' }] })!;
  await one.advance(3600);
  expect(one.world.truth().objects.find(({ id }) => id === revived)?.state).toBe('ended');
});
