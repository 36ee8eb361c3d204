/** What a poll costs: one connection for all it does, and a log only of what ended (P1.6, P5.1). */
import { describe, expect, it } from 'vitest';
import { poll } from '../../lib/app/poll.ts';
import type { Ports } from '../../lib/app/ports.ts';
import type { Session } from '../../lib/cluster/port.ts';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { CLUSTER, type Cluster, cluster, HOUR, LOGIN } from './cluster-world.ts';

const LONG_ROOT = { checkpoint: { root: `/lustre/${'project-with-a-long-name/'.repeat(8)}checkpoints` } };

/** The ports of a poll, with every read of a job's log and every write named. */
const watched = ({ ports }: Cluster): { readonly ports: Ports; readonly reads: string[]; readonly writes: string[] } => {
  const reads: string[] = [];
  const writes: string[] = [];
  const store = Object.fromEntries(
    Object.entries(ports.store).map(([name, call]) => [
      name,
      (...given: unknown[]) => {
        if (name === 'read') reads.push(String(given[0]));
        else if (!/^(read|list|get|count)/.test(name)) writes.push(name);
        return (call as (...given: unknown[]) => unknown)(...given);
      },
    ]),
  );
  return { ports: { ...ports, store: store as unknown as Ports['store'] }, reads, writes };
};
const once = (ports: Ports) => poll(ports, { cluster: CLUSTER, login: LOGIN });

describe('a quiet poll', () => {
  it('P5.1: is one connection and one write, and reads no log, however long the jobs’ roots are', async () => {
    const lab = await cluster();
    const jobs = await lab.submit(20, [{ program: { runsSeconds: HOUR } }], LONG_ROOT);
    await lab.advance(300);
    for (const id of jobs) expect((await lab.told(id)).state).toBe('running');
    const before = lab.connections().total;
    const { ports, reads, writes } = watched(lab);
    expect(await once(ports)).toEqual({ kind: 'looked', active: 20, commits: 0 });
    expect({ reads, writes, connections: lab.connections().total - before }).toEqual({ reads: [], writes: ['renewLease'], connections: 1 });
  });

  it('of an idle cluster is no connection and no write', async () => {
    const lab = await cluster();
    const { ports, reads, writes } = watched(lab);
    expect(await once(ports)).toEqual({ kind: 'idle', active: 0, commits: 0 });
    expect({ reads, writes, connections: lab.connections().total }).toEqual({ reads: [], writes: [], connections: 0 });
  });

  it('two that overlap: the slower one’s look is dropped whole (C060)', async () => {
    const lab = await cluster();
    await lab.submit(1, [{ program: { runsSeconds: HOUR } }]);
    await lab.advance(300);
    const said = await Promise.all([once(lab.ports), once(lab.ports)]);
    expect(said.map(({ kind }) => kind).sort()).toEqual(['looked', 'overtaken']);
  });
});

describe('a poll that runs out of time', () => {
  it('P5.8: commits what it has and begins elsewhere next time, until nothing is left', async () => {
    const lab = await cluster();
    const jobs = await lab.submit(20, [{ program: { runsSeconds: 600 } }]);
    await lab.advance(300);
    lab.system.stop();
    await lab.advance(600);
    // Every read of a watch takes 5 s, and there is one for every job that ended.
    const late = { ms: 0 };
    const now = () => lab.clock.now() + late.ms;
    const readWatch: Ports['store']['readWatch'] = async (job) => {
      late.ms += 5000;
      return lab.store.readWatch(job);
    };
    const ports = { ...lab.ports, now, store: { ...lab.store, readWatch } };
    const commits: number[] = [];
    for (let i = 0; i < 3; i++) {
      const polled = await once(ports);
      commits.push(polled.commits);
    }
    expect(commits).toEqual([9, 9, 2]);
    const ended = await Promise.all(jobs.map(async (id) => (await lab.job(id)).attempts[0]?.state));
    expect(new Set(ended)).toEqual(new Set(['ended']));
  });
});

describe('jobs that take a poll’s time and get nowhere', () => {
  it('P5.8: do not keep the others waiting for ever', async () => {
    const lab = await cluster();
    const jobs = await lab.submit(20, [{ program: { runsSeconds: 600 } }]);
    await lab.advance(300);
    lab.system.stop();
    await lab.advance(600);
    // In the order of the list, they come first.
    const stuck = new Set(jobs.toSorted().slice(0, 9));
    const late = { ms: 0 };
    const readWatch: Ports['store']['readWatch'] = async (job) => {
      if (!stuck.has(job)) return lab.store.readWatch(job);
      late.ms += 5000;
      throw new AssertionFailed('a record that is broken');
    };
    const ports = { ...lab.ports, now: () => lab.clock.now() + late.ms, store: { ...lab.store, readWatch } };
    for (let i = 0; i < 20; i++) await once(ports);
    const states = await Promise.all(jobs.map(async (id) => (await lab.job(id)).attempts[0]?.state));
    expect(states.filter((state) => state === 'ended')).toHaveLength(11);
  });
});

describe('an end', () => {
  it('P5.7: carries what was published under a root that does not fit the line, on the poll’s one connection', async () => {
    // As a real cluster: what is listed lies under the root that was asked for.
    const lab = await cluster({
      wrap: (adapter) => ({
        ...adapter,
        connect: async (login) => {
          const session = await adapter.connect(login);
          const observe: Session['observe'] = async (targets) => {
            const said = await session.observe(targets);
            if (said.kind === 'unreachable') return said;
            const changed = said.changed.map((one) => (one.kind === 'ended' && !one.target.checkpointRoot ? { ...one, runs: [] } : one));
            return { ...said, changed };
          };
          return { ...session, observe };
        },
      }),
    });
    const script = [{ program: { runsSeconds: 400, publishes: [{ atSeconds: 30, step: 70 }] } }];
    const [job, other] = [
      ...(await lab.submit(1, script, LONG_ROOT)),
      ...(await lab.submit(1, [{ program: { runsSeconds: HOUR } }], LONG_ROOT)),
    ];
    await lab.advance(300);
    lab.system.stop();
    await lab.advance(130);
    const before = lab.connections().total;
    const { ports, reads } = watched(lab);
    expect(await once(ports)).toMatchObject({ kind: 'looked', active: 2, commits: 1 });
    expect(lab.connections().total - before).toBe(1);
    expect(new Set(reads)).toEqual(new Set([job]));
    expect((await lab.job(job!)).attempts[0]?.runs).toMatchObject([{ run: 0, latest: { step: 70 }, publications: 1 }]);
    expect((await lab.told(other!)).state).toBe('running');
  });
});
