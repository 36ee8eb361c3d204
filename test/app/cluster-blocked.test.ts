/** A cluster that refuses us is left alone, and let in again by nothing but a preflight (P5.8, C048). */
import { describe, expect, it } from 'vitest';
import { preflight } from '../../lib/app/cluster/preflight.ts';
import { poll } from '../../lib/app/poll.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { ClusterFailure } from '../../lib/cluster/failure.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import { CLUSTER, cluster, HOUR, LOGIN, since } from './cluster-world.ts';

const RUNS_LONG = [{ program: { runsSeconds: 30 * HOUR } }];
const FINGERPRINTS = { presented: 'SHA256:B (ssh-ed25519)', pinned: ['SHA256:A (ssh-ed25519)'] };

/** A login node whose host key and whose authorized key a test decides. */
const gatekeeper = () => {
  const host = { key: 'A', pinned: 'A', authorized: 'k1', presented: 'k1' };
  const wrap = (adapter: Adapter): Adapter => ({
    ...adapter,
    connect: (login) => {
      if (host.key !== host.pinned) {
        const message = 'the host key of lab:22 is SHA256:B (ssh-ed25519), but pinned is SHA256:A (ssh-ed25519); nothing was sent';
        throw new ClusterFailure('cluster/host_key_changed', message, { reason: 'host_key', sent: 'no', hostKey: FINGERPRINTS });
      }
      if (host.presented !== host.authorized)
        throw new ClusterFailure('cluster/auth_refused', 'ada@lab:22 refused the key', { reason: 'key_refused', sent: 'no' });
      return adapter.connect(login);
    },
  });
  return { host, wrap, secretDigest: async () => `digest of ${host.presented}` };
};

const running = async () => {
  const { host, wrap, secretDigest } = gatekeeper();
  const lab = await cluster({ wrap, configuration: { digest: 'c1', secretDigest } });
  const jobs = await lab.submit(3, RUNS_LONG);
  await lab.advance(600);
  const versions = await Promise.all(jobs.map(async (id) => (await lab.job(id)).version));
  return { host, lab, jobs, versions };
};

/** The same record and world under another configuration, as after a deploy. */
const deployed = (ports: Ports, digest: string): Ports => ({
  ...ports,
  clusters: new Map([...ports.clusters].map(([id, one]) => [id, { ...one, digest }])),
});

describe('a changed host key', () => {
  it('C048: stops all traffic at once, shows both fingerprints, asks, and no job’s state changes', async () => {
    const { host, lab, jobs, versions } = await running();
    host.key = 'B';
    await lab.advance(61);
    const before = lab.connections().total;
    const [blocked] = await lab.all('cluster_blocked');
    expect(blocked).toMatchObject({ login: LOGIN, why: 'host_key_changed', ...FINGERPRINTS });
    expect(await lab.all('escalation_raised')).toMatchObject([{ kind: 'cluster_unreachable', says: expect.stringContaining('SHA256:B') }]);
    const [late] = await lab.submit(1);
    await lab.advance(12 * HOUR);
    expect(lab.connections().total).toBe(before);
    expect(await lab.all('cluster_blocked')).toHaveLength(1);
    for (const [i, id] of jobs.entries()) expect(await since(lab.store, id, versions[i]!)).toEqual([]);
    const told = await lab.told(jobs[0]!);
    expect(told).toMatchObject({ state: 'running', clusterState: 'blocked' });
    expect(told.why).toMatch(/shows another host key than is pinned since .* and is left alone: .*SHA256:B.*SHA256:A/);
    expect(await lab.told(late!)).toMatchObject({ state: 'pending', clusterState: 'blocked' });
  });

  it('is never accepted by itself, also when it comes back: a preflight by hand looks', async () => {
    const { host, lab, jobs } = await running();
    host.key = 'B';
    await lab.advance(61);
    host.key = 'A';
    await lab.advance(HOUR);
    expect((await lab.told(jobs[0]!)).clusterState).toBe('blocked');
    expect(await preflight(lab.ports, CLUSTER, LOGIN, 'hand')).toMatchObject({ kind: 'probed' });
    expect(await lab.all('cluster_reachable')).toHaveLength(1);
    expect((await lab.view()).questions).toMatchObject([{ closed: { how: 'withdrawn' } }]);
    expect(await lab.told(jobs[0]!)).not.toHaveProperty('clusterState');
  });

  it('a preflight by hand that meets it again changes nothing', async () => {
    const { host, lab } = await running();
    host.key = 'B';
    await lab.advance(61);
    const { version } = await lab.view();
    expect(await preflight(lab.ports, CLUSTER, LOGIN, 'hand')).toMatchObject({ kind: 'failed', says: expect.stringContaining('SHA256:B') });
    expect((await lab.view()).version).toBe(version);
  });

  it('another configuration is worth one try by the next poll, and no more', async () => {
    const { host, lab } = await running();
    host.key = 'B';
    await lab.advance(61);
    const before = lab.connections().total;
    const ports = deployed(lab.ports, 'c2');
    for (let i = 0; i < 5; i++) await poll(ports, { cluster: CLUSTER, login: LOGIN });
    expect(lab.connections().total).toBe(before + 1);
    host.pinned = 'B';
    expect(await poll(deployed(lab.ports, 'c3'), { cluster: CLUSTER, login: LOGIN })).toMatchObject({ kind: 'blocked' });
    expect((await lab.view()).logins).toMatchObject([{ login: LOGIN, configuration: 'c3' }]);
    expect((await lab.view()).logins[0]).not.toHaveProperty('blocked');
  });
});

describe('a changed host key and two logins', () => {
  it('keeps the other login away too, whatever its own key is', async () => {
    const { host, wrap } = gatekeeper();
    const lab = await cluster({ wrap, login: 'second', configuration: { digest: 'c1', secretDigest: async (login) => `key of ${login}` } });
    await lab.submit(1, RUNS_LONG);
    await lab.submit(1, RUNS_LONG, { login: 'second' });
    await lab.advance(600);
    host.key = 'B';
    const before = lab.connections().total;
    await lab.advance(2 * HOUR);
    expect(lab.connections().total).toBe(before + 1);
    expect(await lab.all('cluster_blocked')).toHaveLength(1);
    expect(await lab.all('escalation_raised')).toHaveLength(1);
  });

  it('a refused key keeps away its own login only', async () => {
    const { wrap } = gatekeeper();
    const refusing = { second: false };
    const lab = await cluster({
      login: 'second',
      wrap: (adapter) => ({
        ...wrap(adapter),
        connect: async (login) => {
          if (login === 'second' && refusing.second)
            throw new ClusterFailure('cluster/auth_refused', 'refused', { reason: 'key_refused', sent: 'no' });
          return adapter.connect(login);
        },
      }),
    });
    const [first] = await lab.submit(1, RUNS_LONG);
    const [second] = await lab.submit(1, RUNS_LONG, { login: 'second' });
    await lab.advance(600);
    refusing.second = true;
    await lab.advance(61);
    expect(await lab.told(first!)).not.toHaveProperty('clusterState');
    expect(await lab.told(second!)).toMatchObject({ clusterState: 'blocked' });
    const fence = async (login: string) => (await lab.store.readLease(CLUSTER, login))!.fence;
    const [firstFence, secondFence] = [await fence(LOGIN), await fence('second')];
    await lab.advance(300);
    expect([(await fence(LOGIN)) - firstFence, (await fence('second')) - secondFence]).toEqual([5, 0]);
  });
});

describe('a refused key', () => {
  it('P5.8: is tried every 15 min by one preflight, whatever the number of jobs', async () => {
    const { host, lab } = await running();
    host.authorized = 'k2';
    await lab.advance(61);
    const before = lab.connections().total;
    await lab.submit(1);
    await lab.advance(2 * HOUR);
    expect(lab.connections().total - before).toBe(8);
    expect(await lab.all('cluster_blocked')).toHaveLength(1);
  });

  it('a rotated key lets the next poll in, without a deploy', async () => {
    const { host, lab, jobs } = await running();
    host.authorized = 'k2';
    await lab.advance(61);
    expect((await lab.told(jobs[0]!)).why).toMatch(/refuses login default since .* ada@lab:22 refused the key/);
    await lab.advance(120);
    host.presented = 'k2';
    await lab.advance(61);
    expect(await lab.all('cluster_reachable')).toHaveLength(1);
    const probed = (await lab.all('cluster_probed')).at(-1);
    expect(probed).toMatchObject({ by: 'blocked' });
    await lab.advance(61);
    expect(await lab.told(jobs[0]!)).not.toHaveProperty('clusterState');
  });

  it('a key that is wrong in another way is another fact, tried once', async () => {
    const { host, lab } = await running();
    host.authorized = 'k2';
    await lab.advance(61);
    const before = lab.connections().total;
    host.presented = 'k3';
    await lab.advance(600);
    expect(lab.connections().total).toBe(before + 1);
    expect((await lab.all('cluster_blocked')).map(({ secret }) => secret)).toEqual(['digest of k1', 'digest of k3']);
  });

  it('a key that cannot be read is no change', async () => {
    const { wrap, host } = gatekeeper();
    const secretDigest = async () => {
      throw new Error('the store of secrets is away');
    };
    const lab = await cluster({ wrap, configuration: { digest: 'c1', secretDigest } });
    await lab.submit(1, RUNS_LONG);
    await lab.advance(120);
    host.authorized = 'k2';
    await lab.advance(61);
    const before = lab.connections().total;
    await lab.advance(600);
    expect(lab.connections().total).toBe(before);
  });

  it('two polls that are due at once try once', async () => {
    const { host, lab } = await running();
    host.authorized = 'k2';
    await lab.advance(61);
    const before = lab.connections().total;
    const ports = { ...lab.ports, now: () => lab.clock.now() + 1000 * 1000 };
    await Promise.all([1, 2, 3].map(() => poll(ports, { cluster: CLUSTER, login: LOGIN })));
    expect(lab.connections().total).toBe(before + 1);
  });
});
