/** What a cluster's record tells, at least once, whoever dies between its commit and the bus (protocols §2.7). */
import { expect, test } from 'vitest';
import { commitCluster } from '../../lib/app/cluster/commit.ts';
import { clusterView } from '../../lib/app/cluster/load.ts';
import { notifyCluster } from '../../lib/app/cluster/notify.ts';
import { type Notice, noticeSchema } from '../../lib/app/notices.ts';
import { type Bus, BusFailure, type Ports } from '../../lib/app/ports.ts';
import type { ClusterEvent } from '../../lib/job/cluster-event.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';

const CLUSTER = 'lumi';
const raised = (id: string): ClusterEvent => ({
  ...{ type: 'escalation_raised', id, kind: 'cluster_unreachable', episode: 1, options: ['wait', 'block_submissions'] },
  ...{ onExpiry: 'wait', expiresAt: Date.UTC(2030, 0, 4), says: 'cluster lumi has not answered for 6 h: no route' },
});
/** An outage, its question, its answer, and another outage; one commit each. */
const LIFE: readonly (readonly ClusterEvent[])[] = [
  [{ type: 'cluster_unreachable', login: 'ml', says: 'no route' }],
  [raised('q1')],
  [{ type: 'escalation_answered', id: 'q1', answer: 'wait', by: 'ada' }],
  [{ type: 'cluster_reachable', login: 'ml' }],
  [{ type: 'cluster_blocked', login: 'ml', why: 'auth_refused', says: 'the key is refused', configuration: '', secret: '' }, raised('q2')],
  [
    { type: 'cluster_reachable', login: 'ml' },
    { type: 'escalation_withdrawn', id: 'q2', moot: 'the cluster answers again' },
  ],
];
const TOLD = [
  'lumi:1:0 dispatch.cluster.unreachable',
  'lumi:2:0 dispatch.escalation.raised',
  'lumi:3:0 dispatch.escalation.closed',
  'lumi:5:0 dispatch.cluster.unreachable',
  'lumi:5:1 dispatch.escalation.raised',
  'lumi:6:1 dispatch.escalation.closed',
];

/** A process: what it knows beside the store goes with it. */
const processOn = (inner: RecordStore, bus: Bus): Ports => ({
  ...({} as Ports),
  store: { ...inner },
  bus,
  ...{ now: () => Date.UTC(2030, 0, 1), random: () => 0.5, sleep: async () => undefined, log: () => undefined },
});
const lives = async (ports: Ports, from = 0): Promise<void> => {
  for (const events of LIFE.slice(from)) await commitCluster(ports, CLUSTER, 'poller:lumi', () => events);
};
const short = (notices: readonly Notice[]): string[] => notices.map(({ id, type }) => `${id} ${type}`);

test('each is sent once, in order, with its link and without a token', async () => {
  const notices: Notice[] = [];
  await lives(processOn(createMemoryStore(), { put: async (told) => void notices.push(...told) }));
  expect(short(notices)).toEqual(TOLD);
  for (const notice of notices) expect(noticeSchema.parse(notice)).toEqual(notice);
  expect(notices[1]).toMatchObject({ cluster: CLUSTER, link: '/clusters/lumi/escalations/q1/answer', escalation: { blocks: false } });
  expect(notices[2]).toMatchObject({ how: 'answered', answer: 'wait', by: 'ada' });
});

test.each(LIFE.map((_, i) => i))(
  'given a process that dies after commit %i, then the next one that comes by tells what it did not',
  async (i) => {
    const store = createMemoryStore();
    const notices: Notice[] = [];
    const bus: Bus = { put: async (told) => void notices.push(...told) };
    const first = processOn(store, bus);
    for (const events of LIFE.slice(0, i)) await commitCluster(first, CLUSTER, 'poller:lumi', () => events);
    // The commit is there, nobody was told: what a kill between the two leaves.
    await commitCluster(processOn(store, { put: () => Promise.reject(new BusFailure('dying')) }), CLUSTER, 'poller:lumi', () => LIFE[i]!);
    expect(short(notices)).toEqual(TOLD.filter((text) => Number(text.split(':')[1]) <= i));
    const next = processOn(store, bus);
    await notifyCluster(next, CLUSTER, (await clusterView(next.store, CLUSTER)).version);
    expect(short(notices)).toEqual(TOLD.filter((text) => Number(text.split(':')[1]) <= i + 1));
    await lives(next, i + 1);
    expect(short(notices)).toEqual(TOLD);
  },
);

test('given nothing new, then a poll that comes by reads and writes nothing for it', async () => {
  const store = createMemoryStore();
  const ports = processOn(store, { put: async () => undefined });
  await lives(ports);
  let asked = 0;
  Object.assign(ports.store, {
    readClusterNotified: async () => {
      asked += 1;
      return 0;
    },
  });
  await notifyCluster(ports, CLUSTER, LIFE.length);
  expect(asked).toBe(0);
});
