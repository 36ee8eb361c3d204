/** Probes on the record: made when there is none, once a day, and when the configuration changed; what a loss of one asks (contract §7, §8). */

import { describe, expect, it } from 'vitest';
import { answerClusterQuestion } from '../../lib/app/cluster/answer.ts';
import { preflight, recordedProbe } from '../../lib/app/cluster/preflight.ts';
import type { Ports } from '../../lib/app/ports.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import type { Capability, CapabilityName } from '../../lib/job/capability.ts';
import { SCHEMA } from '../../lib/job/event.ts';
import { CLUSTER, cluster, HOUR, LOGIN } from './cluster-world.ts';

const RUNS_LONG = [{ program: { runsSeconds: 15 * HOUR } }];

/** Probes say what a test wants of some capabilities. */
const saying = () => {
  const supports: Partial<Record<CapabilityName, Capability['support']>> = {};
  const probes = { count: 0 };
  const wrap = (adapter: Adapter): Adapter => ({
    ...adapter,
    connect: async (login) => {
      const session = await adapter.connect(login);
      return {
        ...session,
        probe: async (now) => {
          probes.count += 1;
          const probe = await session.probe(now);
          const said = Object.entries(supports).map(([name, support]) => [name, { support, evidence: 'the test says so', probedAt: now }]);
          return { ...probe, capabilities: { ...probe.capabilities, ...Object.fromEntries(said) } };
        },
      };
    },
  });
  return { supports, probes, wrap };
};

const under = (ports: Ports, digest: string): Ports => ({
  ...ports,
  clusters: new Map([...ports.clusters].map(([id, one]) => [id, { ...one, digest }])),
});

describe('the recorded probe', () => {
  it('is made at the first need and then read, by every process', async () => {
    const { probes, wrap } = saying();
    const lab = await cluster({ wrap });
    await lab.submit(5, RUNS_LONG);
    await lab.advance(HOUR);
    expect(probes.count).toBe(1);
    expect(await recordedProbe(lab.ports, CLUSTER, LOGIN)).toMatchObject({ facts: { scheduler: 'memory slurm' } });
    expect(probes.count).toBe(1);
    expect((await lab.all('cluster_probed'))[0]).toMatchObject({ login: LOGIN, by: 'first', credentialLifeSeconds: 300 });
  });

  it('is made again after 24 h, as a small event where nothing changed', async () => {
    const { probes, wrap } = saying();
    const lab = await cluster({ wrap });
    await recordedProbe(lab.ports, CLUSTER, LOGIN);
    await lab.advance(24 * HOUR - 1);
    await recordedProbe(lab.ports, CLUSTER, LOGIN);
    expect(probes.count).toBe(1);
    await lab.advance(1);
    const probe = await recordedProbe(lab.ports, CLUSTER, LOGIN);
    expect(probe?.probedAt).toBe(lab.clock.now());
    expect((await lab.all('cluster_probed')).map((event) => [event.by, event.probe !== undefined])).toEqual([
      ['first', true],
      ['age', false],
    ]);
  });

  it('many that need it at once make one', async () => {
    const { wrap } = saying();
    const lab = await cluster({ wrap });
    const asking = Promise.all(Array.from({ length: 20 }, () => recordedProbe(lab.ports, CLUSTER, LOGIN)));
    await lab.advance(10);
    expect((await asking).every((probe) => probe !== undefined)).toBe(true);
    expect(await lab.all('cluster_probed')).toHaveLength(1);
  });

  it('is made again under another configuration, and is not assumed where that cannot be asked', async () => {
    const { wrap } = saying();
    const lab = await cluster({ wrap });
    await recordedProbe(under(lab.ports, 'c1'), CLUSTER, LOGIN);
    await recordedProbe(under(lab.ports, 'c2'), CLUSTER, LOGIN);
    expect((await lab.all('cluster_probed')).map(({ by, configuration }) => [by, configuration])).toEqual([
      ['first', 'c1'],
      ['configuration', 'c2'],
    ]);
    lab.world.unreachable(true);
    expect(await recordedProbe(under(lab.ports, 'c3'), CLUSTER, LOGIN)).toBeUndefined();
  });

  it('an old one is good enough while the cluster cannot be asked', async () => {
    const lab = await cluster();
    await recordedProbe(lab.ports, CLUSTER, LOGIN);
    await lab.advance(30 * HOUR);
    lab.world.unreachable(true);
    expect(await recordedProbe(lab.ports, CLUSTER, LOGIN)).toMatchObject({ probedAt: expect.any(Number) });
  });

  it('a scheduler that did not answer was not probed', async () => {
    const { supports, wrap } = saying();
    supports.bulk_observation = 'unknown';
    const lab = await cluster({ wrap });
    expect(await preflight(lab.ports, CLUSTER, LOGIN, 'hand')).toMatchObject({
      kind: 'failed',
      says: expect.stringContaining('did not answer'),
    });
    expect(await lab.all('cluster_probed')).toEqual([]);
    expect(await lab.all('cluster_unreachable')).toHaveLength(1);
  });

  it.each([
    ['no such cluster', 'nowhere', LOGIN],
    ['no such login', CLUSTER, 'nobody'],
  ])('%s: unknown, and nothing recorded', async (_, id, login) => {
    const lab = await cluster();
    expect(await preflight(lab.ports, id, login, 'hand')).toMatchObject({ kind: 'unknown' });
    expect(await lab.commits()).toEqual([]);
  });
});

describe('capability_lost', () => {
  const lost = async (script: readonly unknown[]) => {
    const { supports, wrap } = saying();
    const lab = await cluster({ wrap });
    await lab.submit(3, script);
    await lab.advance(600);
    supports.cancel = 'no';
    await preflight(lab.ports, CLUSTER, LOGIN, 'hand');
    return { lab, supports };
  };
  it('contract §10: one question, whatever the number of jobs, and none of them is touched', async () => {
    const { lab } = await lost(RUNS_LONG);
    expect(await lab.all('escalation_raised')).toMatchObject([{ kind: 'capability_lost', lost: { login: LOGIN, names: ['cancel'] } }]);
    await preflight(lab.ports, CLUSTER, LOGIN, 'hand');
    expect(await lab.all('escalation_raised')).toHaveLength(1);
  });
  it('P5.5: a job whose record a newer release wrote keeps nobody from learning what the cluster lost', async () => {
    const { supports, wrap } = saying();
    const lab = await cluster({ wrap });
    await lab.submit(2, RUNS_LONG);
    await lab.advance(600);
    const odd = (await lab.store.listActive(CLUSTER, LOGIN)).items[0]!.job;
    const last = (await lab.store.read(odd)).at(-1)!;
    await lab.store.append({ ...last, version: last.version + 1, commitId: 'newer', schema: SCHEMA + 1 });
    supports.cancel = 'no';
    expect(await preflight(lab.ports, CLUSTER, LOGIN, 'hand')).toMatchObject({ kind: 'probed' });
    expect(await lab.all('escalation_raised')).toMatchObject([{ kind: 'capability_lost', lost: { names: ['cancel'] } }]);
  });
  it('block_submissions holds back what is accepted later, on a cluster that answers, until a preflight by hand', async () => {
    const { lab } = await lost(RUNS_LONG);
    await answerClusterQuestion(lab.ports, CLUSTER, { question: 'q1', answer: 'block_submissions', by: 'ada' });
    // Planned before: a plan made now would be refused, since this cluster cannot cancel.
    const [late] = await lab.submitUnplanned(1, [{ program: { runsSeconds: 5 } }]);
    await lab.advance(HOUR);
    expect(await lab.told(late!)).toMatchObject({ state: 'pending', clusterState: 'submissions_blocked' });
    expect((await lab.job(late!)).attempts).toEqual([]);
    await preflight(lab.ports, CLUSTER, LOGIN, 'hand');
    await lab.advance(HOUR);
    expect((await lab.told(late!)).state).toBe('succeeded');
  });
  it('is withdrawn when a probe finds it again', async () => {
    const { lab, supports } = await lost(RUNS_LONG);
    delete supports.cancel;
    await preflight(lab.ports, CLUSTER, LOGIN, 'hand');
    expect((await lab.view()).questions).toMatchObject([{ closed: { how: 'withdrawn' } }]);
  });
  it('is not asked where no job is active', async () => {
    const { lab } = await lost([{ program: { runsSeconds: 1 } }]);
    expect(await lab.all('escalation_raised')).toEqual([]);
  });
});
