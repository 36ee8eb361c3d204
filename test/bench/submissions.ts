/**
 * submissions: `POST /jobs` over HTTP against a raw Put of the same first commit by a bare client, on the same table, several at once and
 * one side after the other. A submission reads its cluster, claims its key, makes its head, writes its labels and its first event, and
 * moves the head: what it costs is told in requests of the record and in raw Puts.
 */
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { storySpec } from '../../lib/cli/story.ts';
import type { Commit } from '../../lib/job/event.ts';
import { bareClient } from './client.ts';
import { commitItem } from './item.ts';
import { live } from './life.ts';
import { startApi } from './local-api.ts';
import { speedRatio, tell } from './measure.ts';
import { CLUSTER } from './quiet-jobs.ts';
import { startTable } from './table.ts';

const ROUNDS = 7;
const WARM_UP = 2;
const TURNS = 12;
const AT_ONCE = 8;

const table = await startTable();
const api = await startApi(table.endpoint, table.table);
const bare = bareClient(table.endpoint);
const body = JSON.stringify({ ...storySpec({ cluster: CLUSTER, kind: 'memory', steps: 1 }), labels: { team: 'vision' } });
const [first] = (await live()).commits as readonly [Commit];

const times: Record<'ours' | 'theirs', number> = { ours: 0, theirs: 0 };
const several = async (side: 'ours' | 'theirs', turn: number, once: (k: number) => Promise<unknown>): Promise<void> => {
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => once(turn * AT_ONCE + i)));
  if (turn >= WARM_UP * TURNS) times[side] += performance.now() - began;
};

api.requests();
const ratio = await speedRatio({
  ...{ rounds: ROUNDS, turns: TURNS, warmUp: WARM_UP },
  ours: (turn) => several('ours', turn, () => api.ask(202, '/jobs', body)),
  theirs: (turn) =>
    several('theirs', turn, (k) =>
      bare.send(
        new PutItemCommand({
          TableName: table.table,
          Item: commitItem({ ...first, job: `raw${k}` }),
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      ),
    ),
});
const { reads, writes } = api.requests();
const each = (ROUNDS + WARM_UP) * TURNS * AT_ONCE;
const counted = ROUNDS * TURNS * AT_ONCE;
await api.close();
bare.destroy();
table.close();
tell([
  { name: 'submissions per second', value: counted / (times.ours / 1000) },
  { name: 'raw Puts per second', value: counted / (times.theirs / 1000) },
  { name: 'a submission, in raw Puts', value: 1 / ratio, bound: { atMost: 40 } },
  { name: 'record reads per submission', value: reads / each, bound: { atMost: 6 } },
  { name: 'record writes per submission', value: writes / each, bound: { atMost: 8 } },
]);
