/**
 * commit: a whole commit (read the log, decide, append, move the head) against the same requests by a bare client, on jobs with
 * the same log, one after the other. Two kinds: a supervisor's, which is awake and so has no token parked, needs three requests;
 * a poll's must read the head as well, since only the head knows what a waiting supervisor was promised.
 */
import { GetItemCommand, PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { commit as commitOn, SUPERVISOR } from '../../lib/app/commit.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { summaryOf } from '../../lib/app/summary.ts';
import type { Commit } from '../../lib/job/event.ts';
import { fold, type View } from '../../lib/job/view.ts';
import { newHeadItem } from '../../lib/record/dynamodb/head-item.ts';
import { toItem } from '../../lib/record/dynamodb/item.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { unsentValue } from '../../lib/record/keys.ts';
import { orderText } from '../../lib/record/order.ts';
import { bareClient, countRequests, dispatchClient } from './client.ts';
import { commitItem, type WireItem } from './item.ts';
import { live, START_MS } from './life.ts';
import { type Measure, speedRatio, tell } from './measure.ts';
import { TAG } from './quiet-jobs.ts';
import { startTable } from './table.ts';

const ROUNDS = 7;
const WARM_UP = 2;
const TURNS = 40;
/** As long as Step Functions' own. */
const TOKEN = 't'.repeat(600);

const table = await startTable();
const client = dispatchClient(table.endpoint);
const requests = countRequests(client);
const bare = bareClient(table.endpoint);
const { commits: log } = await live();
/** The first commit after the tenth by that actor: what the job's log is when it is made. */
const nextBy = (actor: string): number => log.findIndex((one) => one.version > 10 && one.actor.startsWith(actor));

const ports: Ports = {
  store: createDynamoStore({ client, table: table.table }),
  supervisors: { start: () => Promise.resolve('exists'), signal: () => Promise.resolve('superseded') },
  clusters: new Map(),
  probeOf: () => Promise.resolve(undefined),
  tag: TAG,
  now: () => START_MS,
  random: Math.random,
  sleep: () => Promise.resolve(),
  log: (_, message) => {
    throw new Error(message);
  },
};

/** Jobs `<side><turn>` with the first commits of the log and the head that belongs to them. */
const seed = async (side: string, before: readonly Commit[], parked: boolean): Promise<void> => {
  const items: WireItem[] = [];
  for (let turn = 0; turn < (ROUNDS + WARM_UP) * TURNS; turn++) {
    const job = side + turn;
    items.push(...before.map((one) => commitItem({ ...one, job })), headItem(job, before, parked));
  }
  await table.seed(items);
};

const headItem = (job: string, before: readonly Commit[], parked: boolean): WireItem => {
  const [at, version] = [START_MS, before.length];
  const supervisor = { generation: 1, machine: 1, failures: 0, seenAt: at, takenAt: 0 };
  const born = { job, version, bornAt: at, triedAt: at, principal: 'ada', key: 'bench', payloadHash: 'f00d' };
  const head = newHeadItem({
    ...born,
    summary: summaryOf(fold(before) as View),
    supervisor,
    tries: { version, count: 0 },
    notified: version,
  });
  // Promised a wake long before which nothing is due, so that the commit leaves it parked: the common case of a poll.
  const wake = {
    token: TOKEN,
    wake: 'parked',
    order: orderText({ generation: 1, enteredAt: at, retry: 0 }),
    wv: version,
    until: at + 60_000,
  };
  return toItem(parked ? { ...head, ...wake } : head);
};

const bareCommit = async (job: string, made: Commit, after: View, readsHead: boolean): Promise<void> => {
  const [TableName, pk] = [table.table, { S: `JOB#${job}` }];
  await bare.send(
    new QueryCommand({
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': { S: 'E#0000000001' }, ':to': { S: 'E#9999999999' } },
    }),
  );
  await bare.send(new PutItemCommand({ TableName, Item: commitItem({ ...made, job }), ConditionExpression: 'attribute_not_exists(pk)' }));
  const Key = { pk, sk: { S: 'HEAD' } };
  if (readsHead) await bare.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  const { active, state, watchline, name, project, cluster, login, cause, updatedAt } = summaryOf(after);
  await bare.send(
    new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression:
        'SET #v = :v, tries = :zero, active = :active, #state = :state, w = :w, #name = :name, #project = :project, unended = :yes, ' +
        '#cluster = :cluster, login = :login, cause = :cause, updatedAt = :updatedAt, unendedIn = :project, ' +
        'unsent = :yes, unsentKey = if_not_exists(unsentKey, :unsentKey)',
      // What safety demands is part of the request: forward only, and the token must be the one that was judged (protocols §2.3).
      ConditionExpression: readsHead
        ? '#v < :v AND wake = :parked AND #token = :token'
        : '#v < :v AND (attribute_not_exists(wake) OR wake <> :parked)',
      ExpressionAttributeNames: {
        '#v': 'v',
        '#state': 'state',
        '#name': 'name',
        '#project': 'project',
        '#cluster': 'cluster',
        ...(readsHead && { '#token': 'token' }),
      },
      ExpressionAttributeValues: {
        ':v': { N: String(made.version) },
        ':zero': { N: '0' },
        ':active': { S: active },
        ':state': { S: state },
        ':w': { S: watchline },
        ':name': { S: name },
        ':project': { S: project },
        ':yes': { S: 'yes' },
        ':cluster': { S: cluster },
        ':login': { S: login },
        ':cause': { S: cause },
        ':updatedAt': { N: String(updatedAt) },
        ':unsentKey': { S: unsentValue(START_MS, job) },
        ':parked': { S: 'parked' },
        ...(readsHead && { ':token': { S: TOKEN } }),
      },
    }),
  );
};

const compare = async (actor: string, who: string, readsHead: boolean, most: number): Promise<readonly Measure[]> => {
  const at = nextBy(actor);
  const [before, made] = [log.slice(0, at), log[at]!];
  const after = fold(log.slice(0, at + 1)) as View;
  await Promise.all(['ours', 'theirs'].map((side) => seed(actor.slice(0, 4) + side, before, readsHead)));
  requests();
  const ratio = await speedRatio({
    rounds: ROUNDS,
    turns: TURNS,
    warmUp: WARM_UP,
    ours: async (turn) => {
      const committed = await commitOn(ports, `${actor.slice(0, 4)}ours${turn}`, made.actor, () => made.events);
      if (committed.view.version !== made.version) throw new Error('nothing was committed');
    },
    theirs: (turn) => bareCommit(`${actor.slice(0, 4)}theirs${turn}`, made, after, readsHead),
  });
  const { reads, writes } = requests();
  const each = (ROUNDS + WARM_UP) * TURNS;
  return [
    { name: `${who}: throughput against the bare requests`, value: ratio, bound: { atLeast: 0.8 } },
    { name: `${who}: requests per commit`, value: (reads + writes) / each, bound: { atMost: most } },
    { name: `${who}: commits in the log before`, value: before.length },
  ];
};

const measures = [
  ...(await compare(SUPERVISOR, "a supervisor's commit", false, 3)),
  ...(await compare('poller', "a poll's commit", true, 4)),
];
client.destroy();
bare.destroy();
table.close();
tell(measures);
