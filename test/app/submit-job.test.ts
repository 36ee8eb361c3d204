/** A job's birth (P1.5): one key, one job, whatever is repeated, in whatever order; a crashed birth is finished or removed, never lost. */
import { describe, expect, test } from 'vitest';
import { planJob } from '../../lib/app/plan-job.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import { type Birth, type Submitted, submitJob } from '../../lib/app/submit-job.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import { numbers } from '../contract/core/life.ts';

const DAY_MS = 86_400_000;
const SPEC = {
  name: 'train',
  cluster: 'here',
  resources: { nodes: 1, tasksPerNode: 1 },
  program: { script: '#!/bin/sh\ntrue\n' },
  timeLimit: '1h',
  policy: { unmatched: 'stop', limits: { attempts: 1 } },
};

const given = async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const random = numbers(5);
  const world = createMemoryCluster({ shape: 'slurm', clock, random });
  const store = createMemoryStore();
  const clusters = [
    {
      id: 'here',
      adapter: adapter(world, { tag: '0000', cluster: 'here' }),
      pollEverySeconds: 60,
      landingBoundSeconds: 90,
      readOnly: false,
      logins: [{ id: 'default', user: 'u' }],
    },
  ];
  const { ports, stop } = createSystem({ store, clusters, tag: '0000', clock, random, log: () => undefined });
  const planned = await planJob(ports, SPEC);
  if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
  const { spec, plan, login } = planned;
  const submitted: Submitted = { spec, plan, principal: 'ada', project: 'p', login, key: 'k', payloadHash: plan.digest };
  return { clock, store, ports, submitted, stop };
};
const jobOf = (birth: Birth): string => (birth.kind === 'submitted' ? birth.view.job : birth.job);

/** A store whose calls fail from the nth one on, as for a process that dies there. */
const dyingAt = (ports: Ports, nth: number): Ports => {
  let calls = 0;
  const store = Object.fromEntries(
    Object.entries(ports.store).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        calls += 1;
        if (calls >= nth) throw new Error('dead');
        return (call as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { ...ports, store: store as unknown as Ports['store'] };
};

describe('submitJob', () => {
  test('given the same key and payload again, then the same job, submitted once', async () => {
    const { ports, store, submitted, stop } = await given();
    const first = await submitJob(ports, submitted);
    const second = await submitJob(ports, submitted);
    expect(jobOf(second)).toBe(jobOf(first));
    expect((await store.read(jobOf(first))).flatMap(({ events }) => events).filter(({ type }) => type === 'job_submitted')).toHaveLength(1);
    stop();
  });

  test('given the same key and another payload, then key_reused, and nothing is made', async () => {
    const { ports, store, submitted, stop } = await given();
    const first = await submitJob(ports, submitted);
    expect(await submitJob(ports, { ...submitted, payloadHash: 'other' })).toEqual({ kind: 'key_reused', job: jobOf(first) });
    expect(store.dump().jobs.size).toBe(1);
    stop();
  });

  test('given the same key of another principal, then another job: a key belongs to (principal, key)', async () => {
    const { ports, submitted, stop } = await given();
    const first = await submitJob(ports, submitted);
    expect(jobOf(await submitJob(ports, { ...submitted, principal: 'bob' }))).not.toBe(jobOf(first));
    stop();
  });

  test('given a key older than 24 h, then it counts as absent', async () => {
    const { ports, clock, submitted, stop } = await given();
    const first = await submitJob(ports, submitted);
    await clock.advance(DAY_MS + 1000);
    const second = await submitJob(ports, { ...submitted, payloadHash: 'other' });
    expect(second.kind).toBe('submitted');
    expect(jobOf(second)).not.toBe(jobOf(first));
    stop();
  });

  test('given a script, then it is stored once and the record holds its digest', async () => {
    const { ports, store, submitted, stop } = await given();
    const job = jobOf(await submitJob(ports, submitted));
    const [first] = (await store.read(job))[0]!.events;
    const script = first?.type === 'job_submitted' ? first.spec.program.script! : '';
    expect(script).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await store.getBlob(job, script.slice(7))).toBe(SPEC.program.script);
    stop();
  });

  test('given a process that dies at any call of a birth, then a retry ends with one job, whose supervisor runs', async () => {
    for (let nth = 1; nth <= 12; nth++) {
      const { ports, store, submitted, clock, stop } = await given();
      await submitJob(dyingAt(ports, nth), submitted).catch((error: Error) => expect(error.message).toBe('dead'));
      const job = jobOf(await submitJob(ports, submitted));
      expect(store.dump().jobs.size).toBe(1);
      for (let i = 0; i < 20 && !(await store.read(job)).some(({ events }) => events[0]?.type === 'attempt_planned'); i++)
        await clock.settle();
      expect((await store.read(job)).length, `died at call ${nth}`).toBeGreaterThan(1);
      stop();
    }
  });

  test('given a birth that nobody finishes, then reconcile removes its head after 15 minutes, not before', async () => {
    const { ports, store, submitted, clock, stop } = await given();
    // Key, then head, then death.
    await submitJob(dyingAt(ports, 3), submitted).catch(() => undefined);
    expect(store.dump().jobs.size).toBe(1);
    await clock.advance(14 * 60_000);
    expect(await reconcile(ports)).toMatchObject({ births: 0 });
    await clock.advance(2 * 60_000);
    expect(await reconcile(ports)).toMatchObject({ births: 1 });
    expect(jobOf(await submitJob(ports, submitted))).toMatch(/^[0-9a-z]{16}$/);
    stop();
  });
});
