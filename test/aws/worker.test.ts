/** What stands around a handler: its wiring from the environment, its lines, its counts, and how a failure is told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { StaleDecision } from '../../lib/app/park.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { door } from '../../lib/aws/http.ts';
import type { Invocation } from '../../lib/aws/log.ts';
import { deployedAs, fromEnvironment } from '../../lib/aws/wiring.ts';
import { worker } from '../../lib/aws/worker.ts';
import { AssertionFailed } from '../../lib/job/assertion.ts';
import { RecordFailure } from '../../lib/job/failure.ts';

const JOB = '1q3dcbd0002kwy6g';
const CONFIGURATION = {
  clusters: [
    {
      ...{ id: 'lab', kind: 'slurm', root: '/srv/dispatch' },
      transport: {
        ...{ type: 'ssh', host: '127.0.0.1', port: 1 },
        hostKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'],
      },
      logins: [{ id: 'ml', user: 'ml', privateKeyFile: 'lab/ml' }],
    },
  ],
};
const PERSON = 'arn:aws:iam::123456789012:role/op';

let folder = '';
let written: string[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dispatch-worker-'));
  writeFileSync(join(folder, 'clusters.json'), JSON.stringify(CONFIGURATION));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  written = [];
  const variables = {
    ...{ DISPATCH_TAG: 'aaaa', DISPATCH_CONFIG: join(folder, 'clusters.json'), DISPATCH_TABLE: 'record', DISPATCH_BUS: 'bus' },
    DISPATCH_CALLERS: JSON.stringify([{ arn: PERSON, scopes: ['read', 'operate'] }]),
    AWS_REGION: 'eu-north-1',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const keep = (chunk: unknown): boolean => {
    written.push(String(chunk));
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
const lines = (): Record<string, unknown>[] => written.map((text) => JSON.parse(text));

const invocation: Invocation = {
  ...{ awsRequestId: 'request-1', functionName: 'park', functionVersion: '1', invokedFunctionArn: 'arn', memoryLimitInMB: '512' },
  getRemainingTimeInMillis: () => 1000,
};
const event = { job: JOB, generation: 2, token: 'secret-token', cluster: { id: 'x' } };

describe('worker', () => {
  test('given a result, then it is the handler’s, and what is told and counted of it is one line each', async () => {
    const handle = worker('park', {
      handler: (ports) => async () => [...(await ports()).clusters.keys()],
      tell: ({ log, meter }, clusters) => {
        log('info', 'told', { clusters });
        meter.add('SignalsSent', 1);
      },
    });
    expect(await handle(event, invocation)).toEqual(['lab']);
    expect(lines()).toMatchObject([
      {
        level: 'INFO',
        message: 'told',
        job: JOB,
        generation: 2,
        function_request_id: 'request-1',
        clusters: ['lab'],
        service: 'dispatch-aaaa',
      },
      { SignalsSent: 1, service: 'dispatch-aaaa' },
    ]);
    expect(written.join('')).not.toContain('secret-token');
  });

  test.each([
    ['a failure of the world', new RecordFailure('record/unavailable', 'no answer'), 'ERROR', 'park failed', 'record/unavailable'],
    ['a mistake of ours', new AssertionFailed('cannot be'), 'ERROR', 'park failed', undefined],
    ['an answer of this function', new StaleDecision('moved on'), 'INFO', 'answered by an error', undefined],
  ])('given %s, then it is said with its name and code, and thrown for the machine to see', async (_, error, level, message, code) => {
    const handle = worker('park', { handler: () => () => Promise.reject(error), answers: ['StaleDecision'] });
    await expect(handle(event, invocation)).rejects.toBe(error);
    expect(lines()).toMatchObject([{ level, message, job: JOB, error: `${error.name}: ${error.message}`, ...(code ? { code } : {}) }]);
  });

  test('given no context, as when it is called by hand, then it works all the same', async () => {
    expect(await worker('park', { handler: () => async () => 'done' })(event)).toBe('done');
  });
});

describe('wiring', () => {
  test('least privilege: what a function was not told of it cannot use', async () => {
    const { ports } = await deployedAs('park');
    await expect(ports.supervisors.signal('t')).rejects.toThrow('this function is not told of DISPATCH_MACHINE_ARN');
    expect(await (await deployedAs('park')).tokenKeys()).toBeUndefined();
  });

  test('given a bad configuration, then its fault is named, and the next call tries again', async () => {
    const variables = { ...process.env, DISPATCH_CONFIG: join(folder, 'bad.json') };
    writeFileSync(variables.DISPATCH_CONFIG, '{"clusters":[]}');
    await expect(fromEnvironment('park', variables)).rejects.toThrow(/^DISPATCH_CONFIG: clusters/);
    writeFileSync(variables.DISPATCH_CONFIG, JSON.stringify(CONFIGURATION));
    expect([...(await fromEnvironment('park', variables)).ports.clusters.keys()]).toEqual(['lab']);
  });

  test('every function that reads the record is wired from its own variables alone', async () => {
    const ports: Ports = (await fromEnvironment('plan', process.env)).ports;
    expect(ports.tag).toBe('aaaa');
    expect(ports.bus).toBeDefined();
  });
});

describe('door', () => {
  const asking = (authorizer: unknown, path = '/clusters/lab/preflight') => ({
    ...{
      version: '2.0',
      routeKey: '',
      rawPath: path,
      rawQueryString: '',
      headers: { 'content-type': 'application/json' },
      isBase64Encoded: false,
    },
    body: '{}',
    requestContext: {
      authorizer,
      requestId: 'gateway-1',
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '', userAgent: '' },
    },
  });
  const call = async (authorizer: unknown) => {
    const answer = (await door('clusters')(asking(authorizer) as never, {} as never)) as { statusCode: number; body: string };
    return { status: answer.statusCode, body: JSON.parse(answer.body) as Record<string, unknown> };
  };

  test('given nobody whom the gateway vouches for, then 401, and nothing is asked of anybody', async () => {
    const bridge = mockClient(EventBridgeClient);
    expect(await call(undefined)).toMatchObject({ status: 401, body: { code: 'auth/missing' } });
    expect(await call({ iam: { userArn: 'arn:aws:iam::123456789012:role/other' } })).toMatchObject({ status: 401 });
    expect(bridge.commandCalls(PutEventsCommand)).toEqual([]);
    bridge.restore();
  });

  test('given an environment that lacks something, then a problem says that something is wrong, and the log says what', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    vi.stubEnv('DISPATCH_CALLERS', '[{"arn": 1}]');
    expect(await call({ iam: { userArn: PERSON } })).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify(said.mock.calls)).toContain('ZodError');
    vi.stubEnv('DISPATCH_TABLE', undefined);
    expect(await call({ iam: { userArn: PERSON } })).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(JSON.stringify(said.mock.calls.at(-1))).toContain('DISPATCH_TABLE is not set');
  });
});
