import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoStore } from '../../../lib/record/dynamodb-store.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { aCommit, aHead, aJob, aKey, aMove, aWake, fresh, T0 } from './given.ts';
import { type LossyLine, openLossyLine } from './lossy.ts';
import { clientOf, openLocalTable, type TestTable } from './table.ts';

/** Every write below is carried out, its answer is lost, and the SDK by itself sends it again. */
describe('DynamoDB behind a lossy line', () => {
  let table: TestTable;
  let line: LossyLine;
  let store: RecordStore;
  let direct: RecordStore;
  let close: () => Promise<void>;
  beforeAll(async () => {
    table = await openLocalTable();
    line = await openLossyLine(table.endpoint);
    const client = clientOf(line.endpoint);
    store = createDynamoStore({ client, table: table.table });
    direct = createDynamoStore({ client: table.client, table: table.table });
    close = async () => {
      client.destroy();
      await line.close();
      await table.close();
    };
  });
  afterAll(() => close());

  it('P1.2: a Put that timed out and had succeeded is appended, once', async () => {
    const job = fresh();
    const before = line.forwarded('PutItem');
    line.drop('PutItem', 1);
    expect(await store.append(aCommit(job, 1))).toBe('appended');
    expect(line.forwarded('PutItem') - before).toBe(2);
    expect(await direct.read(job)).toEqual([aCommit(job, 1)]);
  });

  it('P1.2: the same Put that met another writer’s item is a conflict', async () => {
    const job = fresh();
    await direct.append(aCommit(job, 1, { commitId: 'faster' }));
    line.drop('PutItem', 1);
    expect(await store.append(aCommit(job, 1))).toBe('conflict');
  });

  it('P1.2: when every answer is lost nothing is known, and asking again finds the commit', async () => {
    const job = fresh();
    line.drop('PutItem', 4);
    await expect(store.append(aCommit(job, 1))).rejects.toMatchObject({ code: 'record/unavailable', retryable: true });
    expect(await store.append(aCommit(job, 1))).toBe('appended');
    expect(await direct.read(job)).toHaveLength(1);
  });

  it('P1.5: a birth whose answers were lost is found by its repeat', async () => {
    const head = aHead(fresh());
    line.drop('PutItem', 1);
    expect(await store.createHead(head)).toBe('exists');
    const key = aKey(fresh());
    line.drop('PutItem', 1);
    expect(await store.claimKey(key)).toEqual(key);
    expect(await direct.readHead(head.job)).toEqual(head);
  });

  it('W3: the update that took the token was applied and its answer lost: the token stays owed, for the sweep', async () => {
    const job = await aJob(direct);
    await direct.park(job, '', aWake('a', T0));
    line.drop('UpdateItem', 1);
    expect(await store.moveHead(job, aMove(2, { token: 'a', take: true, at: 1000 }))).toBe('behind');
    expect(await direct.readWake(job, '')).toMatchObject({ token: 'a', state: 'owed' });
    expect(await direct.listOwed(1001, 10)).toEqual([{ job, slot: '' }]);
  });

  it('P2.2: a Park whose answer was lost is parked', async () => {
    const job = await aJob(direct);
    line.drop('UpdateItem', 1);
    expect(await store.park(job, '', aWake('a', T0))).toBe('parked');
    line.drop('UpdateItem', 1);
    expect(await store.park(job, 'q1', aWake('b', T0, { question: 'q1' }))).toBe('parked');
  });

  it('P5.8: a slot that was taken without an answer is taken, and no second one beside it', async () => {
    const cluster = fresh('cluster');
    line.drop('PutItem', 1);
    expect(await store.takeSlot(cluster, 'ml', { slots: ['1', '2'], owner: 'me', at: T0 })).toEqual({ kind: 'taken', slot: '1' });
    expect(await direct.takeSlot(cluster, 'ml', { slots: ['1', '2'], owner: 'you', at: T0 })).toEqual({ kind: 'taken', slot: '2' });
    line.drop('DeleteItem', 1);
    expect(await store.returnSlot(cluster, 'ml', '1', 'me')).toBe('gone');
    expect(await direct.takeSlot(cluster, 'ml', { slots: ['1'], owner: 'other', at: T0 })).toEqual({ kind: 'taken', slot: '1' });
  });

  it('P2.7: what was noted without an answer is noted', async () => {
    const job = await aJob(direct, 3);
    line.drop('UpdateItem', 1);
    expect(await store.setNotified(job, 3)).toBe('behind');
    expect(await direct.readHead(job)).toMatchObject({ notified: 3 });
    expect(await direct.listUnnotified(Number.MAX_SAFE_INTEGER, 1000)).not.toContain(job);
  });

  it('contract §8: a cluster’s commit whose answer was lost is appended, once; a plan is there', async () => {
    const cluster = fresh('cluster');
    const { job: _, ...commit } = aCommit(cluster, 1);
    line.drop('PutItem', 1);
    expect(await store.appendCluster({ cluster, ...commit })).toBe('appended');
    expect(await direct.readCluster(cluster)).toHaveLength(1);
    line.drop('PutItem', 1);
    expect(await store.putPlan(cluster, 'text', T0)).toBe('exists');
    expect(await direct.getPlan(cluster, T0)).toBe('text');
  });

  it('P5.1: a lease renewed without an answer is lost: the look is dropped, nothing worse', async () => {
    const cluster = fresh('cluster');
    line.drop('UpdateItem', 1);
    expect(await store.renewLease(cluster, 'ml', { fence: 0, at: T0, answeredAt: T0 })).toEqual({ kind: 'lost' });
    expect((await direct.readLease(cluster, 'ml'))?.fence).toBe(1);
  });
});
