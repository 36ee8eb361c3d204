import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import * as sfn from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { startEndpoint } from '../../../lib/local/endpoint/endpoint.ts';
import type { Engine } from '../../../lib/local/engine/engine.ts';
import { clientOf, post, type World, world } from './world.ts';

const SUCCESS = { 'x-amz-target': 'AWSStepFunctions.SendTaskSuccess' };

/** Everything the other side says until it closes. */
async function heard(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  await once(socket, 'close');
  return text;
}

async function connected(w: World): Promise<Socket> {
  const socket = connect(Number(new URL(w.endpoint.url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** A request whose headers promise more than its body holds. */
const headOf = (members: string, promised: number): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: ${SUCCESS['x-amz-target']}\r\nContent-Length: ${promised}\r\n\r\n${members}`;

describe('where it listens', () => {
  test.each(['0.0.0.0', '::', '192.0.2.1', 'example.org', ''])('nowhere but on loopback: %j is refused', async (host) => {
    const { engine } = await world();
    await expect(startEndpoint({ engine, host })).rejects.toMatchObject({ code: 'endpoint/not_loopback', retryable: false });
  });

  test('a port that is taken is an error of the start', async () => {
    const { engine, endpoint } = await world();
    const port = Number(new URL(endpoint.url).port);
    await expect(startEndpoint({ engine, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('its url names the host and the port', async () => {
    expect((await world()).endpoint.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await world(undefined, { host: 'localhost' })).endpoint.url).toMatch(/^http:\/\/localhost:\d+$/);
  });

  test('a page whose name was bent to this machine is turned away', async () => {
    const w = await world();
    const status = await new Promise((resolve, reject) => {
      const sending = request(w.endpoint.url, { method: 'POST', headers: { ...SUCCESS, host: 'example.org' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.on('error', reject);
      sending.end('{}');
    });
    expect(status).toBe(403);
  });
});

describe('the protocol', () => {
  test.each(['', '{', '[]', 'null', '"{}"', '5'])('a body that is no JSON object is a SerializationException: %j', async (body) => {
    const { endpoint } = await world();
    expect(await post(endpoint.url, body)).toMatchObject({ status: 400, type: 'com.amazon.coral.service#SerializationException' });
  });

  test('so is one that is no UTF-8: a replaced character would be another input', async () => {
    const { endpoint } = await world();
    const body = new Uint8Array([...new TextEncoder().encode('{"taskToken":"'), 0xff, ...new TextEncoder().encode('","output":"{}"}')]);
    expect(await post(endpoint.url, body)).toMatchObject({ status: 400, type: 'com.amazon.coral.service#SerializationException' });
  });

  test.each(['AWSStepFunctions.constructor', 'AWSStepFunctions.', 'SendTaskSuccess', 'DynamoDB_20120810.SendTaskSuccess', ''])(
    'a target that is not implemented is an UnknownOperationException: %j',
    async (target) => {
      const { endpoint } = await world();
      const answer = await post(endpoint.url, '{}', { 'x-amz-target': target });
      expect(answer).toMatchObject({ status: 400, type: 'com.amazon.coral.service#UnknownOperationException' });
    },
  );

  test('an operation of the SDK that is not implemented is refused by name, once', async () => {
    const { client } = await world();
    const error: unknown = await client.send(new sfn.ListStateMachinesCommand({})).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'UnknownOperationException', $metadata: { httpStatusCode: 400, attempts: 1 } });
  });

  test('nothing but POST is answered with more than a refusal', async () => {
    const { endpoint } = await world();
    expect((await fetch(endpoint.url, { headers: SUCCESS })).status).toBe(400);
    const preflight = await fetch(endpoint.url, { method: 'OPTIONS', headers: SUCCESS });
    expect(preflight.status).toBe(400);
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('members it does not know are ignored and null is not there, as on AWS', async () => {
    const w = await world();
    const members = { stateMachineArn: w.machineArn, name: null, traceHeader: 'Root=1', more: { a: 1 } };
    expect(await post(w.endpoint.url, JSON.stringify(members), { 'x-amz-target': 'AWSStepFunctions.StartExecution' })).toMatchObject({
      status: 200,
    });
  });

  test('answers carry the type of the protocol and a number of their own', async () => {
    const { endpoint } = await world();
    for (const id of ['local-1', 'local-2']) {
      const { headers } = await post(endpoint.url, '{}');
      expect(headers.get('content-type')).toBe('application/x-amz-json-1.0');
      expect(headers.get('x-amzn-requestid')).toBe(id);
    }
  });

  test('a bug is a 500 that says nothing of it, and is told', async () => {
    const bugs: unknown[] = [];
    const w = await world(undefined, { onBug: (bug) => bugs.push(bug) });
    const bug = new TypeError('a secret');
    const broken: Engine = {
      ...w.engine,
      sendTaskHeartbeat: () => {
        throw bug;
      },
    };
    const endpoint = await startEndpoint({ engine: broken, onBug: (told) => bugs.push(told) });
    const client = clientOf(endpoint.url, { maxAttempts: 1 });
    const error: unknown = await client.send(new sfn.SendTaskHeartbeatCommand({ taskToken: 't' })).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'InternalFailure', $metadata: { httpStatusCode: 500 } });
    expect(String(error)).not.toContain('secret');
    expect(bugs).toEqual([bug]);
    await endpoint.close();
  });
});

describe('limits', () => {
  test('a body over 1 MiB is refused while it arrives, and the connection serves on', async () => {
    const w = await world();
    const output = JSON.stringify('x'.repeat(2 ** 20));
    const tooLong = w.client.send(new sfn.SendTaskSuccessCommand({ taskToken: 't', output }));
    await expect(tooLong).rejects.toMatchObject({
      name: 'RequestEntityTooLargeException',
      $metadata: { httpStatusCode: 413, attempts: 1 },
    });
    const { executions } = await w.client.send(new sfn.ListExecutionsCommand({ stateMachineArn: w.machineArn }));
    expect(executions).toEqual([]);
  });

  test('a body of exactly the limit is read, one byte more is not', async () => {
    const { endpoint } = await world(undefined, { limits: { bodyBytes: 100 } });
    const bodyOf = (length: number): string => JSON.stringify({ a: 'x'.repeat(length - 8) });
    expect(await post(endpoint.url, bodyOf(100))).toMatchObject({ status: 400, type: 'com.amazon.coral.validate#ValidationException' });
    expect(await post(endpoint.url, bodyOf(101))).toMatchObject({
      status: 413,
      type: 'com.amazon.coral.service#RequestEntityTooLargeException',
      message: 'the body is longer than 100 bytes',
    });
  });

  test('a request that does not arrive in time is ended and not carried out', async () => {
    const w = await world(undefined, { limits: { requestMs: 100 } });
    await w.start();
    const members = JSON.stringify({ taskToken: w.token(), output: '{}' });
    const socket = await connected(w);
    socket.write(headOf(members, members.length + 1));
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 408 /);
    expect(w.engine.describeExecution('e').status).toBe('RUNNING');
  });

  test('a request that was cut off is not carried out', async () => {
    const w = await world();
    await w.start();
    const members = JSON.stringify({ taskToken: w.token(), output: '{}' });
    const socket = await connected(w);
    socket.write(headOf(members, members.length + 1));
    socket.end();
    expect(await heard(socket)).not.toContain(' 200 ');
    w.engine.sendTaskHeartbeat(w.token());
    expect(w.engine.describeExecution('e').status).toBe('RUNNING');
  });

  test('200 requests at once are all answered, and each start happens once', async () => {
    const w = await world();
    const names = Array.from({ length: 200 }, (_, at) => `e${at % 100}`);
    const started = await Promise.all(
      names.map((name) => w.client.send(new sfn.StartExecutionCommand({ stateMachineArn: w.machineArn, name, input: '{}' }))),
    );
    expect(new Set(started.map(({ executionArn }) => executionArn)).size).toBe(100);
    await w.clock.settle();
    expect(w.calls).toHaveLength(100);

    // Two for each token: one of them wins.
    const tokens = names.map((_, at) => w.token(at % 100));
    const signals = await Promise.allSettled(
      tokens.map((taskToken) => w.client.send(new sfn.SendTaskSuccessCommand({ taskToken, output: '{}' }))),
    );
    const lost = signals.filter((signal) => signal.status === 'rejected');
    expect(lost).toHaveLength(100);
    for (const { reason } of lost) expect(reason).toBeInstanceOf(sfn.TaskTimedOut);
    await w.clock.settle();
    expect(w.ended.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 'SUCCEEDED'));
  });
});

describe('closing', () => {
  test('idle connections are ended, new ones refused, the engine runs on; closing twice is closing once', async () => {
    const w = await world();
    await w.start();
    await w.client.send(new sfn.SendTaskHeartbeatCommand({ taskToken: w.token() }));
    const closing = w.endpoint.close();
    expect(w.endpoint.close()).toBe(closing);
    await closing;
    const client = clientOf(w.endpoint.url, { maxAttempts: 1 });
    await expect(client.send(new sfn.SendTaskHeartbeatCommand({ taskToken: w.token() }))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    w.engine.sendTaskHeartbeat(w.token());
  });

  test('a request under way is carried out and answered first', async () => {
    const w = await world();
    await w.start();
    const sending = request(w.endpoint.url, { method: 'POST', headers: { ...SUCCESS, expect: '100-continue' } });
    const answered = once(sending, 'response');
    const arrived = once(sending, 'continue');
    sending.flushHeaders();
    await arrived;
    let open = true;
    const closing = w.endpoint.close().then(() => {
      open = false;
    });
    await w.clock.settle();
    expect(open).toBe(true);
    sending.end(JSON.stringify({ taskToken: w.token(), output: '{}' }));
    const [response] = await answered;
    response.resume();
    expect(response).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
    await closing;
    await w.clock.settle();
    expect(w.end().status).toBe('SUCCEEDED');
  });

  test('one that never arrives is waited for no longer than the time limit', async () => {
    const w = await world(undefined, { limits: { requestMs: 100 } });
    const socket = await connected(w);
    const over = heard(socket);
    // The answer to the first request shows that the second one is under way too.
    socket.write(headOf('{}', 2) + headOf('{', 2));
    await once(socket, 'data');
    await w.endpoint.close();
    await over;
  });
});
