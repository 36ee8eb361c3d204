/**
 * status: `GET /jobs/{id}` over HTTP with ten thousand jobs stored, against one Query of the same log by a bare client, one after the
 * other. Every job has its head, and each that is asked for its log; who is asked for is drawn.
 */
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Commit } from '../../lib/job/event.ts';
import { bareClient } from './client.ts';
import { commitItem } from './item.ts';
import { drawn, live } from './life.ts';
import { startApi } from './local-api.ts';
import { tell } from './measure.ts';
import { headItems } from './quiet-heads.ts';
import { JOBS, queuedJobs } from './quiet-jobs.ts';
import { startTable } from './table.ts';

const WARM_UP = 50;
const ASKED = 600;

const table = await startTable();
const { commits } = await live();
const running = commits.findIndex(({ events }) => events.some((one) => one.type === 'attempt_observed' && one.state === 'running'));
const log: readonly Commit[] = commits.slice(0, running + 1);
const random = drawn(5);
const jobs = queuedJobs();
const asked = Array.from({ length: WARM_UP + ASKED }, () => jobs[Math.floor(random() * jobs.length)]!.job);
// Every job has its first commit, and those that are asked for the rest of the log: the table holds all that a status could touch.
await table.seed([...(await headItems()), ...jobs.map(({ job }) => commitItem({ ...log[0]!, job }))]);
await table.seed([...new Set(asked)].flatMap((job) => log.slice(1).map((commit) => commitItem({ ...commit, job }))));

const api = await startApi(table.endpoint, table.table);
const bare = bareClient(table.endpoint);
const query = (job: string) =>
  bare.send(
    new QueryCommand({
      ...{ TableName: table.table, ConsistentRead: true, KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to' },
      ExpressionAttributeValues: { ':pk': { S: `JOB#${job}` }, ':from': { S: 'E#0000000001' }, ':to': { S: 'E#9999999999' } },
    }),
  );

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const [ours, theirs]: [number[], number[]] = [[], []];
api.requests();
for (const [i, job] of asked.entries()) {
  // Who goes first changes, as elsewhere.
  const first = i % 2 === 0 ? await timed(() => api.ask(200, `/jobs/${job}`)) : undefined;
  const their = await timed(() => query(job));
  const our = first ?? (await timed(() => api.ask(200, `/jobs/${job}`)));
  if (i < WARM_UP) continue;
  ours.push(our);
  theirs.push(their);
}
const { reads, writes } = api.requests();
await api.close();
bare.destroy();
table.close();

const at = (values: readonly number[], part: number): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!;
tell([
  { name: 'jobs stored', value: JOBS },
  { name: 'p50, ms', value: at(ours, 0.5) },
  { name: 'p95, ms', value: at(ours, 0.95) },
  { name: 'p50 of the raw Query, ms', value: at(theirs, 0.5) },
  { name: 'p95 of the raw Query, ms', value: at(theirs, 0.95) },
  { name: 'p50, in raw Queries', value: at(ours, 0.5) / at(theirs, 0.5), bound: { atMost: 7 } },
  { name: 'p95, in raw Queries', value: at(ours, 0.95) / at(theirs, 0.95), bound: { atMost: 7 } },
  { name: 'record requests per status', value: (reads + writes) / asked.length, bound: { atMost: 3 } },
]);
