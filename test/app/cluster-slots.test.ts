/** Connection slots: a bound on connections at once and in an hour, shared by everyone, whatever the number of jobs (P5.8, C047, C052). */
import { describe, expect, it } from 'vitest';
import { preflight } from '../../lib/app/cluster/preflight.ts';
import { isUnreachable, withSession } from '../../lib/app/cluster/session.ts';
import type { Ports } from '../../lib/app/ports.ts';
import type { Adapter, Session } from '../../lib/cluster/port.ts';
import { RecordFailure } from '../../lib/job/failure.ts';
import { TIMING } from '../../lib/job/timing.ts';
import type { Clock } from '../../lib/local/clock.ts';
import { type RecordStore, SLOTS } from '../../lib/record/port.ts';
import { CLUSTER, type Cluster, cluster, HOUR, LOGIN } from './cluster-world.ts';

/** Holders that died: they took what was free and will not give it back. */
const takeAll = async (lab: Cluster, slots: (typeof SLOTS)[keyof typeof SLOTS] = SLOTS.work): Promise<void> => {
  for (const slot of slots) {
    const taken = await lab.store.takeSlot(CLUSTER, LOGIN, { slots: [slot], owner: `dead ${slot}`, at: lab.clock.now() });
    expect(taken.kind).toBe('taken');
  }
};

/** Lets the time pass that a call waits for. */
const passing = async <T>(lab: Cluster, work: Promise<T>): Promise<T> => {
  let waits = true;
  const settled = work.finally(() => {
    waits = false;
  });
  settled.catch(() => undefined);
  while (waits) await lab.clock.advance(100);
  return settled;
};

const clock = (ports: Ports, purpose?: 'work' | 'output' | 'preflight') =>
  withSession(ports, CLUSTER, LOGIN, (session) => session.clock(), purpose);

/** A login node that takes its time over a look-up, so that connections live. */
const slow =
  (ms: number) =>
  (adapter: Adapter, time: Clock): Adapter => ({
    ...adapter,
    connect: async (login) => {
      const session = await adapter.connect(login);
      const find: Session['find'] = async (job) => {
        await new Promise<void>((resolve) => time.after(ms, resolve));
        return session.find(job);
      };
      return { ...session, find };
    },
  });

describe('200 submissions at once', () => {
  it('P5.8: never hold more than four connections, lose nothing, and are through in minutes', async () => {
    const lab = await cluster({ wrap: slow(700) });
    const jobs = await lab.submit(200, [{ program: { runsSeconds: 60 } }]);
    await lab.advance(600);
    const bound = await Promise.all(jobs.map(async (id) => (await lab.job(id)).attempts[0]?.releasedAt !== undefined));
    expect(bound.filter(Boolean)).toHaveLength(200);
    await lab.advance(1200);
    expect(new Set((await Promise.all(jobs.map(lab.told))).map((told) => told.state))).toEqual(new Set(['succeeded']));
    expect(lab.connections().most).toBeLessThanOrEqual(4);
    expect(lab.connections().most).toBeGreaterThan(2);
    expect(lab.connections().open).toBe(0);
    expect(lab.world.truth().objects).toHaveLength(200);
  });

  it('waiting for a slot is no try: nothing was learnt of the cluster, and the next try is not put off by it', async () => {
    const lab = await cluster();
    await preflight(lab.ports, CLUSTER, LOGIN, 'hand');
    await takeAll(lab);
    const [job] = await lab.submit(1);
    await lab.advance(60);
    expect((await lab.store.readHead(job!))?.tries.count).toBe(0);
    expect((await lab.view()).logins[0]).not.toHaveProperty('unreachable');
    await lab.advance(180);
    expect((await lab.told(job!)).state).toBe('succeeded');
  });
});

describe('a slot', () => {
  it('of a holder that died is free after 180 s, and not before', async () => {
    const lab = await cluster();
    await takeAll(lab);
    await lab.advance(170);
    expect(await passing(lab, clock(lab.ports))).toMatchObject({ unreachable: expect.stringContaining('slot'), slot: { notBefore: 0 } });
    await lab.advance(10);
    expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(false);
  });

  it('C052: of output is its own: no launch delays a reader, and no reader a launch', async () => {
    const lab = await cluster();
    await takeAll(lab);
    expect(isUnreachable(await passing(lab, clock(lab.ports, 'output')))).toBe(false);
    await takeAll(lab, SLOTS.output);
    expect(await passing(lab, clock(lab.ports, 'output'))).toMatchObject({ slot: { notBefore: 0 } });
    await lab.advance(181);
    await takeAll(lab, SLOTS.output);
    expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(false);
  });

  it('is given back after a failure of the cluster, and after one of ours', async () => {
    const lab = await cluster();
    for (let i = 0; i < 5; i++) {
      lab.world.faults.next('connect', { kind: 'unreachable' });
      expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(true);
      await expect(
        passing(
          lab,
          withSession(lab.ports, CLUSTER, LOGIN, () => Promise.reject(new TypeError('ours'))),
        ),
      ).rejects.toThrow('ours');
    }
    expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(false);
  });

  it('that is answered when its lease is nearly over is given back, and nobody connects under it', async () => {
    const lab = await cluster();
    let late = 1;
    const takeSlot: RecordStore['takeSlot'] = async (...asked) => {
      const answer = await lab.store.takeSlot(...asked);
      if (late-- > 0) await new Promise<void>((resolve) => lab.clock.after(100_000, resolve));
      return answer;
    };
    expect(isUnreachable(await passing(lab, clock({ ...lab.ports, store: { ...lab.store, takeSlot } })))).toBe(false);
    expect(lab.connections().most).toBe(1);
    expect(
      await Promise.all(
        SLOTS.work.map(
          async (slot) => (await lab.store.takeSlot(CLUSTER, LOGIN, { slots: [slot], owner: slot, at: lab.clock.now() })).kind,
        ),
      ),
    ).toEqual(SLOTS.work.map(() => 'taken'));
  });

  it('P1.2: an answer counts also where the slot could not be given back', async () => {
    const lab = await cluster();
    const store: RecordStore = { ...lab.store, returnSlot: () => Promise.reject(new RecordFailure('record/unavailable', 'away')) };
    expect(await passing(lab, clock({ ...lab.ports, store }))).toBe(Date.UTC(2030, 0, 1));
  });

  it('is not needed by a poll, whose lease it is: no write before its look (P5.1)', async () => {
    const lab = await cluster();
    await lab.submit(1, [{ program: { runsSeconds: HOUR } }]);
    await lab.advance(200);
    await takeAll(lab);
    const before = (await lab.store.readLease(CLUSTER, LOGIN))!.fence;
    await lab.advance(60);
    expect((await lab.store.readLease(CLUSTER, LOGIN))!.fence).toBe(before + 1);
  });
});

describe('the hour', () => {
  const spend = async (lab: Cluster, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const taken = await lab.store.takeSlot(CLUSTER, LOGIN, { slots: SLOTS.work, owner: `o${i}`, at: lab.clock.now() });
      if (taken.kind === 'taken') await lab.store.returnSlot(CLUSTER, LOGIN, taken.slot, `o${i}`);
    }
  };

  it('C047: beyond its connections nobody connects before the next one, but a person’s preflight does', async () => {
    const lab = await cluster();
    await lab.advance(1200);
    await spend(lab, TIMING.connectionsPerHour - 1);
    expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(false);
    expect(await passing(lab, clock(lab.ports))).toMatchObject({
      unreachable: expect.stringContaining('used up'),
      slot: { notBefore: Date.UTC(2030, 0, 1, 1) },
    });
    expect(await passing(lab, preflight(lab.ports, CLUSTER, LOGIN, 'hand'))).toMatchObject({ kind: 'probed' });
    await lab.advance(2400);
    expect(isUnreachable(await passing(lab, clock(lab.ports)))).toBe(false);
  });

  it('C047: 500 jobs on one cluster: connections within an hour stay below the bound and the polls', async () => {
    const lab = await cluster();
    await lab.submit(500, [{ program: { runsSeconds: 600 } }]);
    await lab.advance(HOUR - lab.clock.now() / 1000 + Date.UTC(2030, 0, 1) / 1000);
    expect(lab.connections().total).toBeLessThanOrEqual(TIMING.connectionsPerHour + 60);
    await lab.advance(HOUR);
    const page = await lab.store.listUnended();
    expect(page.items).toEqual([]);
  });
});
