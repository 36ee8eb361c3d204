/** The API behind a real socket: what a request of bytes, rather than of objects, makes of the bounds (contract §4, §12). */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Dispatch, given, SPEC } from './given.ts';

let dispatch: Dispatch;
let server: Server;
let port = 0;
beforeAll(async () => {
  dispatch = await given();
  server = createAdaptorServer({ fetch: dispatch.api.fetch }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What comes back until the status line and the whole of a short body are there, or the other side closes. */
const raw = (send: (socket: Socket) => void): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => send(socket));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no answer within 5 s: ${text}`)));
    socket.on('data', (data) => {
      text += data.toString();
      if (/\r\n\r\n[\s\S]*\}/.test(text)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (text === '' ? reject(error) : resolve(text)));
    socket.on('close', () => resolve(text));
  });
const head = (method: string, path: string, ...lines: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer ada', ...lines, '', ''].join('\r\n');
const JSON_TYPE = 'Content-Type: application/json';

test('a body of 5 MB is 413 without waiting for it', async () => {
  const answer = await raw((socket) => socket.write(head('POST', '/jobs', JSON_TYPE, 'Content-Length: 5242880') + 'x'.repeat(1000)));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('"code":"request/too_large"');
});
test('a body of 5 MB in pieces, with no length, is 413 at its limit', async () => {
  const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const answer = await raw((socket) => socket.write(head('POST', '/plans', JSON_TYPE, 'Transfer-Encoding: chunked') + piece.repeat(6)));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});
test('a whole client that sends 5 MB is answered, and the server goes on', async () => {
  const sent = await fetch(`http://127.0.0.1:${port}/jobs`, {
    method: 'POST',
    headers: { authorization: 'Bearer ada', 'content-type': 'application/json' },
    body: JSON.stringify({ ...SPEC, name: 'x'.repeat(5 * 1024 * 1024) }),
  }).then(
    (response) => response.status,
    // Some clients stop at the answer, others at the end of what they could send.
    (error: unknown) => (error instanceof TypeError ? 413 : 0),
  );
  expect(sent).toBe(413);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});
test.each(['TRACE', 'CONNECT', 'FROB'])('%s is refused without a 5xx', async (method) => {
  const answer = await raw((socket) => socket.write(head(method, '/jobs')));
  expect(answer === '' || /^HTTP\/1\.1 4\d\d /.test(answer), answer).toBe(true);
});
test.each(['/jobs?cursor=%FF%FE', '/jobs/%00', '//jobs', '/jobs?limit=%31', '/%2e%2e/jobs', `/jobs/${'a'.repeat(4000)}`, '/jobs?a[b]=1'])(
  'GET %s is an answer of ours, and no 5xx',
  async (path) => {
    const answer = await raw((socket) => socket.write(head('GET', path)));
    expect(answer).toMatch(/^HTTP\/1\.1 (200|4\d\d) /);
    expect(answer).toMatch(/content-type: application\/(problem\+)?json/i);
  },
);
test('HEAD is GET without a body', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/jobs`, { method: 'HEAD', headers: { authorization: 'Bearer ada' } });
  expect([response.status, await response.text()]).toEqual([200, '']);
});
