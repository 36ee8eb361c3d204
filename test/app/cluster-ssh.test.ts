/**
 * Many submissions at once over real SSH connections, in real time (P5.8). The login node is an SSH server in this process; behind it
 * the memory cluster answers, so that what is measured is how dispatch connects.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterView } from '../../lib/app/cluster/load.ts';
import { loadView } from '../../lib/app/load.ts';
import { adapter as memoryAdapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import { sshTransport } from '../../lib/cluster/slurm/transport/ssh.ts';
import { realClock } from '../../lib/local/clock.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import { ed25519, startServer, type TestServer } from '../cluster/slurm/transport/ssh-server.ts';
import { CLUSTER, configurationOf, LOGIN, numbers, spec, submitMany, systemOf, TAG } from './cluster-world.ts';

const JOBS = 200;
const LIMIT_MS = 90_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ hostKeys: [ed25519('host')], authorized: () => [ed25519('ada').public] });
});
afterAll(() => server.close());

/** Every session is a connection of its own, on which every look-up runs a program. */
const overSsh = (adapter: Adapter): Adapter => {
  const host = { host: '127.0.0.1', port: server.port, user: 'ada', hostKeys: [ed25519('host').public] };
  const sources = { random: (bytes: number) => randomBytes(bytes), nowMs: () => performance.now() };
  const transport = sshTransport({ ...host, privateKey: async () => ed25519('ada').private, totalSeconds: 60 }, sources);
  return {
    ...adapter,
    connect: async (login) => {
      const connection = await transport.connect();
      const session = await adapter.connect(login);
      return {
        ...session,
        find: async (job) => {
          const said = await connection.run({ script: 'echo here', timeoutSeconds: 20, maxBytes: 1024 });
          return said.stdout === 'here\n' ? session.find(job) : { kind: 'unreachable', says: said.stderr };
        },
        close: async () => {
          await session.close();
          await connection.close();
        },
      };
    },
  };
};

it(
  `P5.8: ${JOBS} submissions at once hold at most four connections, lose nothing, and none is refused`,
  async () => {
    const world = createMemoryCluster({ shape: 'slurm', clock: realClock, random: numbers(7), logins: [LOGIN] });
    const store = createMemoryStore();
    const configuration = configurationOf(overSsh(memoryAdapter(world, { tag: TAG, cluster: CLUSTER })), { pollEverySeconds: 1 });
    const system = systemOf(realClock, store, configuration, Math.random);
    await system.start();
    try {
      const script = [{ program: { runsSeconds: 3600 } }];
      const specs = Array.from({ length: JOBS }, (_, i) => spec(`many${i}`, script));
      const jobs = await submitMany(system.ports, specs);
      const running = async (): Promise<number> => {
        const views = await Promise.all(jobs.map((id) => loadView(store, id)));
        return views.filter((view) => view?.attempts[0]?.state === 'running').length;
      };
      const began = Date.now();
      while ((await running()) < JOBS && Date.now() - began < LIMIT_MS) await delay(250);
      expect(await running()).toBe(JOBS);
      expect(server.mostOpen()).toBeGreaterThan(1);
      expect(server.mostOpen()).toBeLessThanOrEqual(4);
      expect(world.truth().objects).toHaveLength(JOBS);
      // Each was planned once: nothing was deferred, lost or sent again.
      const logs = await Promise.all(jobs.map((id) => store.read(id)));
      const types = logs.flatMap((log) => log.flatMap(({ events }) => events.map((event) => event.type)));
      const count = (type: string): number => types.filter((one) => one === type).length;
      expect([count('attempt_planned'), count('attempt_bound'), count('attempt_uncertain'), count('duplicate_found')]).toEqual([
        ...[JOBS, JOBS],
        ...[0, 0],
      ]);
      expect((await clusterView(store, CLUSTER)).logins[0]).not.toHaveProperty('unreachable');
    } finally {
      system.stop();
    }
  },
  LIMIT_MS + 30_000,
);
