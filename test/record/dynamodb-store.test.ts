import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { clientLimits, createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { aCommit, aHead, aJob, aKey, aMove, aWake, fresh, T0 } from '../contract/store/given.ts';
import { type LossyLine, openLossyLine } from '../contract/store/lossy.ts';
import { clientOf, openLocalTable, type TestTable } from '../contract/store/table.ts';

describe('what DynamoDB’s errors mean', () => {
  const client = new DynamoDBClient({ region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const aws = mockClient(client);
  const store = createDynamoStore({ client, table: 'dispatch' });
  beforeEach(() => aws.reset());

  const $metadata = {};
  const named = (name: string) => new DynamoDBServiceException({ name, message: 'account 123456789012', $fault: 'server', $metadata });

  it.each([
    new ProvisionedThroughputExceededException({ message: 'slow down', $metadata }),
    ...[
      'ThrottlingException',
      'RequestLimitExceeded',
      'InternalServerError',
      'TransactionConflictException',
      'ResourceNotFoundException',
      'AccessDeniedException',
      'ExpiredTokenException',
      'TimeoutError',
    ].map(named),
    Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
  ])('§12: $name: nothing is known, and the same call may succeed later', async (error) => {
    aws.rejects(error);
    const expected = { code: 'record/unavailable', retryable: true, cause: error };
    await expect(store.append(aCommit('j', 1))).rejects.toMatchObject(expected);
    await expect(store.read('j')).rejects.toMatchObject(expected);
    await expect(store.moveHead('j', aMove(1))).rejects.toMatchObject(expected);
    await expect(store.listActive('lumi', 'ml')).rejects.toMatchObject(expected);
    await expect(store.renewLease('lumi', 'ml', { fence: 1, at: T0, answeredAt: T0 })).rejects.toMatchObject(expected);
    const shown = await store.readHead('j').catch((failure: unknown) => `${failure}`);
    expect(shown).toContain(`(${error.name})`);
    expect(shown).not.toContain('1234');
  });

  it('C058: a write refused because another is in flight is told as retryable, and the retry succeeds', async () => {
    aws
      .on(PutItemCommand)
      .rejectsOnce(named('TransactionInProgressException'))
      .rejectsOnce(named('TransactionInProgressException'))
      .resolves({});
    for (let i = 0; i < 2; i++) await expect(store.append(aCommit('j', 1))).rejects.toMatchObject({ retryable: true });
    expect(await store.append(aCommit('j', 1))).toBe('appended');
  });

  it('§12: a request that is invalid is our mistake', async () => {
    aws.rejects(named('ValidationException'));
    await expect(store.readHead('j')).rejects.toThrow(AssertionFailed);
    await expect(store.append(aCommit('j', 1, { at: 0.5 }))).rejects.toThrow(AssertionFailed);
  });

  it('P1.2: a failed condition is explained by a consistent read of that very version', async () => {
    aws.on(PutItemCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata }));
    aws.on(GetItemCommand).resolves({ Item: { id: { S: 'j-1' } } });
    expect(await store.append(aCommit('j', 1))).toBe('appended');
    expect(await store.append(aCommit('j', 1, { commitId: 'other' }))).toBe('conflict');
    aws.on(GetItemCommand).resolves({});
    expect(await store.append(aCommit('j', 1))).toBe('conflict');
    for (const call of aws.commandCalls(GetItemCommand)) {
      expect(call.args[0].input).toMatchObject({ ConsistentRead: true, Key: { pk: { S: 'JOB#j' }, sk: { S: 'E#0000000001' } } });
    }
  });

  it('P1.5: a head or key that vanishes again and again is given up, not chased without end', async () => {
    aws.rejects(new ConditionalCheckFailedException({ message: 'no', $metadata }));
    aws.on(GetItemCommand).resolves({});
    await expect(store.createHead(aHead('j'))).rejects.toMatchObject({ code: 'record/unavailable' });
    await expect(store.claimKey(aKey('j'))).rejects.toMatchObject({ code: 'record/unavailable' });
    expect(aws.commandCalls(PutItemCommand)).toHaveLength(6);
  });

  it('P1.1, P1.6: the log is read consistently, an index cannot be', async () => {
    aws.on(QueryCommand).resolves({ Items: [] });
    await store.read('j');
    await store.listActive('lumi', 'ml');
    const [log, list] = aws.commandCalls(QueryCommand).map((call) => call.args[0].input);
    expect(log?.ConsistentRead).toBe(true);
    expect(list).toMatchObject({ IndexName: 'active' });
    expect(list).not.toHaveProperty('ConsistentRead');
  });

  it('§12: a table that never answers is given up in time, with all retries', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const patient = clientOf(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const limited = createDynamoStore({ client: patient, table: 'dispatch', callMs: 20 });
    await expect(limited.readHead('j')).rejects.toMatchObject({ code: 'record/unavailable', retryable: true });
    expect(clientLimits.requestHandler.throwOnRequestTimeout).toBe(true);
    patient.destroy();
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('P1.1: nothing is written without a condition except a watch', async () => {
    aws.onAnyCommand().resolves({});
    await store.append(aCommit('j', 1));
    await store.putBlob('j', 'text');
    await store.claimKey(aKey('j'));
    await store.createHead(aHead('j'));
    await store.resetFailures('j');
    await store.clearWake('j', '', 't');
    await store.renewLease('lumi', 'ml', { fence: 0, at: T0, answeredAt: T0 });
    const inputs = [...aws.commandCalls(PutItemCommand), ...aws.commandCalls(UpdateItemCommand)].map((call) => call.args[0].input);
    expect(inputs).toHaveLength(7);
    for (const input of inputs) expect(input.ConditionExpression).toBeTruthy();
  });
});

describe('what a call costs', () => {
  let table: TestTable;
  let line: LossyLine;
  let store: RecordStore;
  let job = '';
  beforeAll(async () => {
    table = await openLocalTable();
    line = await openLossyLine(table.endpoint);
    store = createDynamoStore({ client: clientOf(line.endpoint), table: table.table });
  });
  afterAll(async () => {
    await line.close();
    await table.close();
  });
  beforeEach(async () => {
    job = await aJob(store);
    await store.park(job, '', aWake('a', T0));
    await store.park(job, 'q', aWake('q', T0, { question: 'q' }));
  });

  const requests = () =>
    Object.fromEntries(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'].map((name) => [name, line.forwarded(name)]));
  const costOf = async (call: Promise<unknown>) => {
    const before = requests();
    await call;
    const after = requests();
    return Object.entries(after)
      .filter(([name, count]) => count !== before[name])
      .map(([name, count]) => `${count - before[name]!} ${name}`)
      .join(', ');
  };

  const one: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['moveHead that takes', () => store.moveHead(job, aMove(2, { token: 'a', take: true }))],
    ['park', () => store.park(job, '', aWake('b', T0 + 1))],
    ['takeWake', () => store.takeWake(job, 'q', 'q', T0, 9)],
    ['takeWake that finds nothing', () => store.takeWake(job, '', 'other', T0, 9)],
    ['clearWake', () => store.clearWake(job, '', 'a')],
    ['countTry', () => store.countTry(job, 1)],
    ['seen', () => store.seen(job, 1, 1, T0)],
    ['resetFailures', () => store.resetFailures(job)],
    ['raiseGeneration', () => store.raiseGeneration(job, 1, T0)],
    ['raiseGeneration that is late', () => store.raiseGeneration(job, 9, T0)],
    ['renewLease', () => store.renewLease(fresh('cluster'), 'ml', { fence: 0, at: T0, answeredAt: T0 })],
  ];
  it.each(one)('P2.3, P2.8: %s is one conditional update', async (_, call) => {
    expect(await costOf(call())).toBe('1 UpdateItem');
  });

  const explained: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['moveHead', () => store.moveHead(job, aMove(1))],
    ['park', () => store.park(job, '', aWake('late', T0 - 1))],
    ['seen', () => store.seen(job, 0, 1, T0)],
  ];
  it.each(explained)('P2.3, P2.8: %s that fails is explained by one read', async (_, call) => {
    expect(await costOf(call())).toBe('1 GetItem, 1 UpdateItem');
  });

  it('P1.1: an append is one put', async () => {
    expect(await costOf(store.append(aCommit(job, 1)))).toBe('1 PutItem');
  });
});
