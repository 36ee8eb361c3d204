/** The API of a local process over HTTP, on a table of the benchmark, with one memory cluster that was probed, and nobody who polls. */
import { preflight } from '../../lib/app/cluster/preflight.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import { admission } from '../../lib/local/address.ts';
import { localApi } from '../../lib/local/api.ts';
import { realClock } from '../../lib/local/clock.ts';
import { startServer } from '../../lib/local/server.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { countRequests, dispatchClient, type Requests } from './client.ts';
import { CLUSTER, LOGIN, TAG } from './quiet-jobs.ts';

export interface BenchApi {
  /** Answers with the body's text; anything but that status is an error. */
  ask(status: number, path: string, body?: string): Promise<string>;
  /** Of the record, since the last time. */
  readonly requests: () => Requests;
  close(): Promise<void>;
}

const CLOSE_MS = 2000;

export const startApi = async (endpoint: string, table: string): Promise<BenchApi> => {
  const client = dispatchClient(endpoint);
  const requests = countRequests(client);
  const world = createMemoryCluster({ shape: 'slurm', clock: realClock, random: Math.random, logins: [LOGIN] });
  const system = createSystem({
    store: createDynamoStore({ client, table }),
    clusters: [
      {
        ...{ id: CLUSTER, pollEverySeconds: 60, landingBoundSeconds: 90, readOnly: false, logins: [{ id: LOGIN, user: 'alice' }] },
        adapter: adapter(world, { cluster: CLUSTER, tag: TAG }),
      },
    ],
    ...{ tag: TAG, clock: realClock, random: Math.random },
    log: (level, message, fields) => {
      if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
    },
    // A deployment's answer to StartExecution takes its time elsewhere; what is measured is the API and its table.
    supervisors: { start: async () => 'started', signal: async () => 'superseded' },
  });
  await preflight(system.ports, CLUSTER, LOGIN, 'first');
  const server = await startServer({ host: '127.0.0.1', port: 0, admits: admission(undefined) });
  const notices = { put: async () => undefined, after: () => ({ items: [], last: 0 }), close: () => undefined };
  server.serve(localApi({ ports: system.ports, notices, tokenKeys: [{ id: 'k', secret: new Uint8Array(32).fill(1) }] }));
  return {
    ask: async (status, path, body) => {
      const given = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const response = await fetch(`${server.url}${path}`, given);
      const text = await response.text();
      if (response.status !== status) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
      return text;
    },
    requests,
    close: async () => {
      await server.close(CLOSE_MS);
      system.stop();
      client.destroy();
    },
  };
};
