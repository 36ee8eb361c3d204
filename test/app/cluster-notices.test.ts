/** What a cluster's record tells the bus: at least once, in order, whoever dies or fails on the way (P2.7). */
import { describe, expect, it } from 'vitest';
import { preflightHandler } from '../../functions/preflight.ts';
import { commitCluster } from '../../lib/app/cluster/commit.ts';
import { noteUnreachable, tendCluster } from '../../lib/app/cluster/note.ts';
import type { Notice } from '../../lib/app/notices.ts';
import { BusFailure, type Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import { CLUSTER, cluster, HOUR, LOGIN } from './cluster-world.ts';

const bus = () => {
  const kept: Notice[] = [];
  const state = { down: false, puts: 0 };
  return {
    kept,
    state,
    put: async (notices: readonly Notice[]) => {
      state.puts += 1;
      if (state.down) throw new BusFailure('away');
      kept.push(...notices);
    },
  };
};
const ids = (kept: readonly Notice[]): readonly string[] => kept.map(({ type, id }) => `${id} ${type.replace('dispatch.', '')}`);
const outage = (ports: Ports) => noteUnreachable(ports, ports.clusters.get(CLUSTER)!, LOGIN, 'refused', 'poller:lab');

describe('notices of a cluster', () => {
  it('an outage, its question and the end of both', async () => {
    const lab = await cluster();
    const told = bus();
    const ports = { ...lab.ports, bus: told };
    // Nobody else polls.
    lab.system.stop();
    await outage(ports);
    await lab.advance(6 * HOUR);
    await tendCluster(ports, CLUSTER, 'system');
    expect(await preflightHandler(async () => ports)({ cluster: CLUSTER })).toEqual([{ login: LOGIN, kind: 'probed' }]);
    expect(ids(told.kept)).toEqual(['lab:1:0 cluster.unreachable', 'lab:2:0 escalation.raised', 'lab:3:2 escalation.closed']);
    const puts = told.state.puts;
    await tendCluster(ports, CLUSTER, 'system');
    expect(told.state.puts).toBe(puts);
  });

  it('P2.7: a bus that is away loses none: the next reconcile sends them', async () => {
    const lab = await cluster();
    const told = bus();
    const ports = { ...lab.ports, bus: told };
    told.state.down = true;
    await outage(ports);
    expect(told.kept).toEqual([]);
    told.state.down = false;
    await reconcile(ports);
    expect(ids(told.kept)).toEqual(['lab:1:0 cluster.unreachable']);
  });

  it('P2.7: a writer that died between commit and bus loses none', async () => {
    const lab = await cluster();
    const told = bus();
    // Without a bus nobody is told, as by a process that ends right after its commit.
    await outage(lab.ports);
    await commitCluster(lab.ports, CLUSTER, 'system', () => [{ type: 'cluster_reachable', login: LOGIN }]);
    await tendCluster({ ...lab.ports, bus: told }, CLUSTER, 'system');
    expect(ids(told.kept)).toEqual(['lab:1:0 cluster.unreachable']);
  });

  it('a mistake of the bus’s own is not taken for its absence', async () => {
    const lab = await cluster();
    const ports = { ...lab.ports, bus: { put: () => Promise.reject(new TypeError('ours')) } };
    await expect(outage(ports)).rejects.toThrow('ours');
  });

  it.each([
    ['no such cluster', { cluster: 'nowhere' }, []],
    ['no such login', { cluster: CLUSTER, login: 'bob' }, [{ login: 'bob', kind: 'unknown', says: 'cluster lab has no login bob' }]],
  ])('a preflight by hand of %s says so', async (_, input, expected) => {
    const lab = await cluster();
    expect(await preflightHandler(async () => lab.ports)(input)).toEqual(expected);
  });
});
