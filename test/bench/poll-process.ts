/**
 * The process that polls: `node poll-process.ts ENDPOINT TABLE`. Its peak of memory is its own, so it holds what a poll holds and
 * nothing else: dynalite and the making of the jobs are elsewhere, and its parts are timed after the peak was read.
 */
import { poll } from '../../lib/app/poll.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { watchedOf } from '../../lib/app/summary.ts';
import { createSlurmAdapter } from '../../lib/cluster/slurm/adapter.ts';
import { FIELD, ROW } from '../../lib/cluster/slurm/squeue.ts';
import { identityOf } from '../../lib/job/identity.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import type { ActiveRow } from '../../lib/record/port.ts';
import { countRequests, dispatchClient, indexBytesRead } from './client.ts';
import { type Measure, speedRatio, tell } from './measure.ts';
import { CLUSTER, CLUSTER_NOW_SECONDS, JOBS, LOGIN, queuedJobs, TAG } from './quiet-jobs.ts';
import { queueOf, standIn } from './squeue-cluster.ts';

const [endpoint, table] = process.argv.slice(2) as [string, string];
/** The first makes the lease; the last is the one that is counted. */
const POLLS = 5;

const client = dispatchClient(endpoint);
const requests = countRequests(client);
const bytesRead = indexBytesRead(client);
const queue = queueOf(queuedJobs());
const { transport, counted } = standIn(queue, CLUSTER_NOW_SECONDS);
const adapter = createSlurmAdapter({ id: CLUSTER, tag: TAG, root: '/srv/dispatch', transports: () => transport, random: Math.random });
const store = createDynamoStore({ client, table });
const logins = [{ id: LOGIN, user: 'alice' }];
const ports: Ports = {
  ...{ store, tag: TAG, now: Date.now, random: Math.random },
  supervisors: { start: () => Promise.resolve('exists'), signal: () => Promise.resolve('superseded') },
  clusters: new Map([[CLUSTER, { id: CLUSTER, adapter, pollEverySeconds: 60, landingBoundSeconds: 90, readOnly: false, logins }]]),
  probeOf: () => Promise.resolve(undefined),
  sleep: () => Promise.resolve(),
  log: () => undefined,
};

const counts = async (): Promise<readonly Measure[]> => {
  for (let i = 0; i < POLLS; i++) {
    counted();
    requests();
    bytesRead();
    const polled = await poll(ports, { cluster: CLUSTER, login: LOGIN });
    // Anything else would be measured as a quiet poll and be none.
    if (polled.kind !== 'looked' || polled.active !== JOBS || polled.commits !== 0) throw new Error(JSON.stringify(polled));
  }
  const [cluster, record, read] = [counted(), requests(), bytesRead()];
  return [
    { name: 'scheduler commands', value: cluster.scheduler, bound: { atLeast: 1, atMost: 1 } },
    { name: 'programs on the login node', value: cluster.programs },
    { name: 'record writes', value: record.writes, bound: { atLeast: 1, atMost: 1 } },
    { name: 'record read requests', value: record.reads },
    { name: 'bytes read per job, on average', value: read.bytes / JOBS, bound: { atMost: 256 } },
    { name: 'bytes read per job, at most', value: read.most, bound: { atMost: 256 } },
    { name: 'peak memory of the process, MiB', value: process.resourceUsage().maxRSS / 1024, bound: { atMost: 256 } },
  ];
};

const watchedAll = async () => {
  const rows: ActiveRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listActive(CLUSTER, LOGIN, cursor);
    rows.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows.map((row) => watchedOf(row, CLUSTER, LOGIN, (n) => identityOf(TAG, row.job, n)).target);
};

/** Parsing and comparing against only splitting the same text into fields, which any reader of it must do. */
const parsing = async (): Promise<Measure> => {
  const targets = await watchedAll();
  const session = await adapter.connect(LOGIN);
  let fields = 0;
  const ratio = await speedRatio({
    rounds: 7,
    turns: 4,
    warmUp: 1,
    ours: async () => {
      const seen = await session.observe(targets);
      if (seen.kind !== 'observed' || seen.changed.length + seen.absent.length > 0) throw new Error('the look was not quiet');
    },
    theirs: () => {
      for (const row of queue.split(`${ROW}\n`)) fields += row.split(FIELD).length;
    },
  });
  if (fields < JOBS) throw new Error('nothing was split');
  return { name: 'parse and compare, times the split into fields', value: 1 / ratio, bound: { atMost: 5 } };
};

const measured = await counts();
tell([...measured, await parsing()]);
client.destroy();
process.disconnect?.();
