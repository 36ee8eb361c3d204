/**
 * What AWS does to us, as one table: each fault, where it strikes, and what it ends in: a retry, a wake that is owed, a typed error, or
 * nothing lost at all. Real use cases over the real adapters; only the SDK's answers are made up. Guards P1.2, P2.3, P2.4, P2.7, §12.
 */
import { DynamoDBClient, DynamoDBServiceException, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ExecutionAlreadyExists,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApi } from '../../lib/api/api.ts';
import { cancelJob } from '../../lib/app/command-job.ts';
import { notify, notifyUnsent } from '../../lib/app/notify.ts';
import type { ClusterConfiguration, Ports } from '../../lib/app/ports.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import { sendOwed } from '../../lib/app/wake.ts';
import { eventBridgeBus } from '../../lib/aws/bus.ts';
import { keptSecrets, secretsManager } from '../../lib/aws/secrets.ts';
import { stepFunctionsSupervisors } from '../../lib/aws/supervisors.ts';
import { tokenKeysOf } from '../../lib/aws/token-keys.ts';
import { openCluster } from '../../lib/cluster/open.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { given, SPEC, scripted } from '../api/given.ts';
import { aCommit, aJob, aWake, HOUR, T0 } from '../contract/store/given.ts';

const MACHINE = 'arn:aws:states:eu-north-1:123456789012:stateMachine:dispatch-aaaa-supervisor';
const region = 'eu-north-1';
const sfn = mockClient(SFNClient);
const bridge = mockClient(EventBridgeClient);
const secrets = mockClient(SecretsManagerClient);

const called = (name: string): Error => Object.assign(new Error(`${name} happened`), { name });
const because = { message: 'm', $metadata: {} };
/** None of these says whether the request was carried out. */
const OUTAGES = [
  'ThrottlingException',
  'TimeoutError',
  'ServiceUnavailable',
  'InternalServerError',
  'ExpiredTokenException',
  'CredentialsProviderError',
];

beforeEach(() => {
  for (const service of [sfn, bridge, secrets]) service.reset();
});

const said = { invalid: 0, lines: [] as { level: string; message: string }[] };
const supervisors = stepFunctionsSupervisors({
  client: new SFNClient({ region }),
  machineArn: MACHINE,
  onInvalidToken: () => said.invalid++,
});
const bus = eventBridgeBus({ client: new EventBridgeClient({ region }), bus: 'dispatch-aaaa', log: () => undefined });

const world = (store: RecordStore, from: Partial<Ports> = {}) => {
  let now = from.now?.() ?? T0 + 60_000;
  const ports: Ports = {
    ...{ store, tag: 'aaaa', clusters: new Map([['lumi', {} as ClusterConfiguration]]), probeOf: async () => undefined },
    ...{ random: () => 0.5, sleep: async () => undefined },
    ...from,
    ...{ supervisors, bus },
    now: () => now,
    log: (level, message) => void said.lines.push({ level, message }),
  };
  return { ports, later: (ms: number) => (now += ms) };
};

/** A job that runs, whose supervisor waits beside a token; from here on nothing moves but what a test does. */
const waiting = async () => {
  const dispatch = await given();
  const job = await dispatch.submit(scripted([{ program: { ends: 'hangs' } }]));
  await dispatch.clock.advance(60_000);
  dispatch.stop();
  const store = dispatch.memory;
  const { ports, later } = world(store, dispatch.ports);
  const token = (await store.readWake(job, ''))?.token;
  expect(token).toBeTruthy();
  return {
    ...{ store, job, token, ports, later },
    /** A commit that the supervisor must be woken for. */
    cancel: () => cancelJob(ports, job, { principal: 'ada', reason: 'enough' }),
    wake: async () => (await store.readWake(job, ''))?.state ?? 'none',
    unsent: async () => {
      const head = await store.readHead(job);
      return (head?.version ?? 0) - (head?.notified ?? 0);
    },
  };
};

/** The bus keeps everything. */
const keeps = async ({ Entries = [] }: { Entries?: PutEventsRequestEntry[] }) => ({
  FailedEntryCount: 0,
  Entries: Entries.map(() => ({ EventId: 'e' })),
});
const sentTokens = () => sfn.commandCalls(SendTaskSuccessCommand).map(({ args }) => args[0].input.taskToken);
const ids = (): string[][] =>
  bridge.commandCalls(PutEventsCommand).map(({ args }) => (args[0].input.Entries ?? []).map((entry) => JSON.parse(entry.Detail ?? '').id));

describe('waking a supervisor', () => {
  beforeEach(() => bridge.on(PutEventsCommand).callsFake(keeps));

  test.each(OUTAGES)('given %s, then the wake is owed, and the next sweep brings it', async (name) => {
    const { cancel, ports, later, wake, token } = await waiting();
    sfn.on(SendTaskSuccessCommand).rejectsOnce(called(name)).resolves({});
    await cancel();
    expect(await wake()).toBe('owed');
    later(31_000);
    expect(await sendOwed(ports, 30_000)).toBe(1);
    expect(await wake()).toBe('none');
    expect(sentTokens()).toEqual([token, token]);
  });

  test('given a signal that timed out and had arrived, then the sweep meets TaskTimedOut, which ends it: nobody is woken twice', async () => {
    const { cancel, ports, later, wake } = await waiting();
    sfn.on(SendTaskSuccessCommand).rejectsOnce(called('TimeoutError')).rejects(new TaskTimedOut(because));
    await cancel();
    later(31_000);
    await sendOwed(ports, 30_000);
    expect(await wake()).toBe('none');
    later(31_000);
    expect(await sendOwed(ports, 30_000)).toBe(0);
  });

  test.each([
    ['TaskTimedOut', new TaskTimedOut(because)],
    ['TaskDoesNotExist', new TaskDoesNotExist(because)],
  ])('given %s, then superseded: the token is forgotten at once, and that is no failure', async (_, error) => {
    const { cancel, wake } = await waiting();
    sfn.on(SendTaskSuccessCommand).rejects(error);
    await cancel();
    expect(await wake()).toBe('none');
  });

  test('given InvalidToken, then an alarm, and the token is forgotten: no retry could help', async () => {
    const { cancel, wake } = await waiting();
    said.invalid = 0;
    sfn.on(SendTaskSuccessCommand).rejects(called('InvalidToken'));
    await cancel();
    expect([said.invalid, await wake()]).toEqual([1, 'none']);
  });

  test('given one wake of three that cannot be sent, then the two others are', async () => {
    const store = createMemoryStore();
    const { ports } = world(store);
    for (let i = 0; i < 3; i++) {
      const job = await aJob(store);
      await store.park(job, '', aWake(`token${i}`, T0));
      await store.takeWake(job, '', `token${i}`, T0, 2);
    }
    sfn.on(SendTaskSuccessCommand).resolves({});
    sfn.on(SendTaskSuccessCommand, { taskToken: 'token1' }).rejects(called('ThrottlingException'));
    expect(await sendOwed(ports, 30_000)).toBe(3);
    expect((await store.listOwed(T0 + HOUR, 10)).length).toBe(1);
  });
});

describe('starting a supervisor', () => {
  const submitting = async () => {
    const dispatch = await given();
    const api = createApi({
      ports: async () => ({ ...dispatch.ports, supervisors }),
      principalOf: () => ({ id: 'ada', groups: ['vision'], scopes: ['read', 'submit'] }),
    });
    const post = () =>
      api.request('/jobs', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify(SPEC),
      });
    return { dispatch, post };
  };

  test.each(OUTAGES)('given %s at a submission, then 503, and the same request again finishes the same job', async (name) => {
    const { post } = await submitting();
    sfn.on(StartExecutionCommand).rejectsOnce(called(name)).resolves({});
    const first = await post();
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '2']);
    const again = await post();
    expect(again.status).toBe(202);
    const names = sfn.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input.name);
    expect(names).toEqual([names[0], names[0]]);
    expect(((await again.json()) as { id: string }).id).toBe(names[0]?.replace(/-1$/, ''));
  });

  test('given a start that timed out and had succeeded, then ExecutionAlreadyExists is the answer that was lost', async () => {
    const { post } = await submitting();
    sfn.on(StartExecutionCommand).rejectsOnce(called('TimeoutError')).rejects(new ExecutionAlreadyExists(because));
    expect((await post()).status).toBe(503);
    expect((await post()).status).toBe(202);
  });

  test.each(OUTAGES)('given %s at a reconcile, then a later one starts another generation: no job stays alone', async (name) => {
    const { ports, later, job } = await waiting();
    bridge.on(PutEventsCommand).callsFake(keeps);
    sfn.on(StartExecutionCommand).rejectsOnce(called(name)).resolves({});
    expect(await reconcile(ports, { ended: { job, generation: 1 } })).toMatchObject({ restarted: 0 });
    // What the first try raised counts as a failure: the next one waits for silence.
    later(13 * HOUR);
    expect(await reconcile(ports)).toMatchObject({ restarted: 1 });
    const names = sfn.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input.name);
    expect(names).toEqual([`${job}-2`, `${job}-3`]);
  });
});

describe('telling the bus', () => {
  beforeEach(() => sfn.on(SendTaskSuccessCommand).resolves({}));

  test.each([...OUTAGES, 'ResourceNotFoundException', 'AccessDeniedException'])(
    'P2.7: given %s, then `notified` does not move, the commit stands, and the sweep sends the same ids',
    async (name) => {
      const { cancel, ports, later, unsent } = await waiting();
      bridge.on(PutEventsCommand).rejectsOnce(called(name)).callsFake(keeps);
      const before = await unsent();
      await cancel();
      expect(await unsent()).toBe(before + 1);
      later(31_000);
      expect(await notifyUnsent(ports, 30_000)).toBe(1);
      expect(await unsent()).toBe(0);
      expect(ids()[1]).toEqual(ids()[0]);
    },
  );

  test.each(['ThrottlingException', 'InternalFailure'])(
    'P2.7: given a partial failure, %s for one entry, then none counts as told',
    async (code) => {
      const { cancel, job, ports, unsent } = await waiting();
      bridge
        .on(PutEventsCommand)
        .callsFakeOnce(async ({ Entries = [] }: { Entries?: PutEventsRequestEntry[] }) => ({
          FailedEntryCount: 1,
          Entries: Entries.map((_, i) => (i === 1 ? { ErrorCode: code } : { EventId: 'e' })),
        }))
        .callsFake(keeps);
      const before = await unsent();
      await cancel();
      expect(await unsent()).toBe(before + 1);
      await notify(ports, job);
      expect(await unsent()).toBe(0);
      expect(ids()[1]).toEqual(ids()[0]);
      expect(ids()[0]?.length).toBeGreaterThan(1);
    },
  );
});

describe('reading secrets', () => {
  const read = keptSecrets(secretsManager({ client: new SecretsManagerClient({ region }) }), () => 0);
  const KEYS = JSON.stringify({ keys: [{ id: 'k1', secret: Buffer.alloc(32, 7).toString('base64') }] });
  const FAILURES = [...OUTAGES, 'ResourceNotFoundException', 'AccessDeniedException', 'DecryptionFailure'];

  test.each(FAILURES)(
    'given %s for a login’s key, then the cluster is unreachable for now, never blocked, and nothing was sent',
    async (name) => {
      secrets.on(GetSecretValueCommand).rejects(called(name));
      const opened = await openCluster(
        {
          ...{ kind: 'slurm', id: 'lab', root: '/srv', readOnly: false, pollEverySeconds: 60, landingBoundSeconds: 90 },
          ...{ gpus: {}, buckets: {}, purges: false },
          transport: { type: 'ssh', host: '127.0.0.1', port: 1, hostKeys: [HOST_KEY], jump: [] },
          logins: [{ id: 'ml', user: 'ml', privateKeyFile: 'lab/key' }],
        } as Parameters<typeof openCluster>[0],
        { tag: 'aaaa', now: () => 0, random: () => 0.5, secret: read },
      );
      const failure: unknown = await opened.adapter.connect('ml').catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'cluster/unreachable', reason: 'key_unreadable', sent: 'no' });
      await expect(opened.secretDigest?.('ml')).rejects.toMatchObject({ code: 'secret/unavailable', retryable: true });
    },
  );

  test.each(FAILURES)('given %s for the keys of attempts’ tokens, then a report is 503, to be repeated, and never 401', async (name) => {
    secrets.on(GetSecretValueCommand).rejectsOnce(called(name)).resolves({ SecretString: KEYS });
    const dispatch = await given();
    const api = createApi({
      ports: async () => dispatch.ports,
      principalOf: () => undefined,
      tokenKeys: async () => tokenKeysOf(await read('keys', true)),
    });
    const post = () =>
      api.request('/jobs/1q3dcbd0002kwy6g/checkpoints', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
        body: JSON.stringify({ epoch: 1_000_000, step: 1, path: 'exec/1-0/s1' }),
      });
    const first = await post();
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await post()).status).toBe(401);
  });
});

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

describe('committing to the record', () => {
  const client = new DynamoDBClient({ region, credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  const table = mockClient(client);
  const store = createDynamoStore({ client, table: 'dispatch' });
  const error = (name: string) => new DynamoDBServiceException({ name, message: 'm', $fault: 'client', $metadata: {} });
  beforeEach(() => table.reset());

  test.each(['ThrottlingException', 'RequestLimitExceeded', 'ExpiredTokenException', 'UnrecognizedClientException', 'InternalServerError'])(
    'given %s, then record/unavailable: the machine repeats the step',
    async (name) => {
      table.on(PutItemCommand).rejects(error(name));
      await expect(store.append(aCommit('j', 1))).rejects.toMatchObject({ code: 'record/unavailable', retryable: true });
    },
  );

  test('P1.2: given a Put that timed out and had succeeded, then its repetition meets its own item, and the commit is ours', async () => {
    table.on(PutItemCommand).rejects(error('ConditionalCheckFailedException'));
    table.on(GetItemCommand).resolves({ Item: { id: { S: 'j-1' } } });
    expect(await store.append(aCommit('j', 1))).toBe('appended');
  });
});
