/** Log lines and metrics as the platform reads them: JSON, one line each, searchable, and never a secret (P2.6). */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { hideIn, hiding } from '../../lib/aws/hide.ts';
import { createLog, type Invocation } from '../../lib/aws/log.ts';
import { METRICS } from '../../lib/aws/metric-names.ts';
import { createMeter } from '../../lib/aws/metrics.ts';
import { issueToken } from '../../lib/checkpoint/token.ts';

const JOB = '1q3dcbd0002kwy6g';
const ATTEMPT_TOKEN = issueToken([{ id: 'k1', secret: Buffer.alloc(32, 7) }], JOB, 3);
const TASK_TOKEN = `AQCEAAAAKgAAAAMAAAAAAAAAAe${'xYz9+/'.repeat(60)}==`;
const PRIVATE_KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----';
const SECRETS = [ATTEMPT_TOKEN, TASK_TOKEN, PRIVATE_KEY, 'b3BlbnNzaC1rZXktdjEA'];

let written: string[] = [];
beforeEach(() => {
  written = [];
  // As the platform says of a process that was not made ahead of its first invocation.
  vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
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
const lines = (): Record<string, unknown>[] =>
  written.flatMap((text) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );

const invocation = (awsRequestId: string): Invocation => ({
  awsRequestId,
  functionName: 'advance',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:eu-north-1:123456789012:function:advance',
  memoryLimitInMB: '512',
  getRemainingTimeInMillis: () => 1000,
});

describe('log', () => {
  test('a line says what it is about: job, attempt, version, request and cold start', () => {
    const { log, begin } = createLog('dispatch-aaaa');
    begin(invocation('request-1'), { job: JOB, generation: 2 });
    log('warn', 'release refused', { n: 3, version: 7, says: 'no' });
    expect(lines()).toEqual([
      expect.objectContaining({
        ...{ level: 'WARN', message: 'release refused', service: 'dispatch-aaaa', function_request_id: 'request-1', cold_start: true },
        ...{ job: JOB, generation: 2, attempt: 3, version: 7, says: 'no' },
      }),
    ]);
  });

  test('a function that is used again says nothing of the invocation before', () => {
    const { log, begin } = createLog('dispatch-aaaa');
    begin(invocation('request-1'), { job: JOB, cluster: 'lab' });
    begin(invocation('request-2'), { job: 'other' });
    log('info', 'x', {});
    const [line] = lines();
    expect(line).toMatchObject({ function_request_id: 'request-2', job: 'other', cold_start: false });
    expect(line).not.toHaveProperty('cluster');
  });

  test('below its level nothing is written', () => {
    const { log } = createLog('dispatch-aaaa', 'ERROR');
    log('info', 'x', {});
    log('warn', 'x', {});
    expect(written).toEqual([]);
  });

  test.each([
    ['in the message', (secret: string) => ({ message: `failed with ${secret}`, fields: {} })],
    ['in a field', (secret: string) => ({ message: 'x', fields: { says: `it said ${secret}, and no more` } })],
    ['deep in a field', (secret: string) => ({ message: 'x', fields: { input: { list: [{ payload: secret }] } } })],
    ['in an error', (secret: string) => ({ message: 'x', fields: { error: new Error(`refused ${secret}`) } })],
    ['in what the lines are about', (secret: string) => ({ message: 'x', about: { job: secret }, fields: {} })],
  ])(
    'P2.6: given a secret %s, then it is in no line',
    (_, given: (secret: string) => { message: string; fields: object; about?: object }) => {
      for (const secret of SECRETS.slice(0, 3)) {
        const { log, begin } = createLog('dispatch-aaaa');
        const { message, fields, about } = given(secret);
        begin(invocation('r'), { ...about });
        log('error', message, { ...fields });
      }
      expect(lines()).toHaveLength(3);
      for (const secret of SECRETS) expect(written.join('')).not.toContain(secret);
      expect(written.join('').match(/\[hidden\]/g)?.length).toBeGreaterThanOrEqual(3);
    },
  );
});

describe('hide', () => {
  test('by the name of a field, whatever its form', () => {
    const shown = JSON.parse(
      JSON.stringify({ token: 'abc', Authorization: 'Basic x', secret: 'lab/key', nested: { password: 'p' } }, hiding),
    );
    expect(shown).toEqual({ token: '[hidden]', Authorization: '[hidden]', secret: 'lab/key', nested: { password: '[hidden]' } });
  });

  test('what people read stays readable', () => {
    const said = `job ${JOB} attempt dp-aaaa-${JOB}-3: arn:aws:states:eu-north-1:123456789012:stateMachine:dispatch ${'a0'.repeat(32)}`;
    expect(hideIn(said)).toBe(said);
  });

  test('a signed address keeps its path and loses its signature', () => {
    expect(hideIn('https://b.s3.amazonaws.com/k?X-Amz-Signature=abc&X-Amz-Date=1')).toBe(
      'https://b.s3.amazonaws.com/k?[hidden]&X-Amz-Date=1',
    );
  });
});

describe('metrics', () => {
  test('one line per set of dimensions, in the documented shape, at the end of an invocation', () => {
    const meter = createMeter('dispatch-aaaa');
    meter.add('PollHeartbeat', 1, { cluster: 'lab', login: 'ml' });
    meter.add('ActiveJobs', 12, { cluster: 'lab', login: 'ml' });
    meter.add('SignalsSent', 1);
    meter.add('SignalsSent', 1);
    expect(written).toEqual([]);
    meter.flush();
    expect(lines()).toEqual([
      expect.objectContaining({
        ...{ service: 'dispatch-aaaa', cluster: 'lab', login: 'ml', PollHeartbeat: 1, ActiveJobs: 12 },
        _aws: expect.objectContaining({
          CloudWatchMetrics: [
            {
              Namespace: 'dispatch',
              Dimensions: [['service', 'cluster', 'login']],
              Metrics: [
                { Name: 'PollHeartbeat', Unit: 'Count' },
                { Name: 'ActiveJobs', Unit: 'Count' },
              ],
            },
          ],
        }),
      }),
      expect.objectContaining({ service: 'dispatch-aaaa', SignalsSent: [1, 1] }),
    ]);
  });

  test('nothing is sent twice, and an invocation without anything to say writes no line', () => {
    const meter = createMeter('dispatch-aaaa');
    meter.add('SignalsSent', 1);
    meter.flush();
    meter.flush();
    expect(lines()).toHaveLength(1);
  });

  test('however many logins one invocation speaks of, nothing that it added is lost', () => {
    const meter = createMeter('dispatch-aaaa');
    for (const round of [1, 2]) {
      for (let i = 0; i < 200; i++) meter.add('PollHeartbeat', 1, { cluster: 'lab', login: `l${round}-${i}` });
      meter.flush();
      expect(lines()).toHaveLength(200 * round);
    }
  });

  test('the idle bill: a zero is sent of heartbeats alone', () => {
    const meter = createMeter('dispatch-aaaa');
    for (const name of Object.keys(METRICS) as (keyof typeof METRICS)[]) meter.add(name, 0, { cluster: 'lab', login: 'ml' });
    meter.flush();
    const sent = lines().flatMap((line) => Object.keys(line).filter((name) => name in METRICS));
    expect(sent.sort()).toEqual(['PollHeartbeat', 'ReconcileHeartbeat']);
  });
});
