import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { PUBLISHER_EXIT } from '../../lib/checkpoint/publisher.ts';
import { placeOf, type Run, runIn, type Shell, shells } from './publisher-rig.ts';

interface Post {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

const api = async (status: number, answer: string): Promise<{ url: string; posts: Post[] }> => {
  const posts: Post[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (data: Buffer) => {
      body += data.toString();
    });
    request.on('end', () => {
      posts.push({ url: `${request.method} ${request.url}`, headers: request.headers, body });
      response.writeHead(status, { 'content-type': 'application/problem+json' }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posts };
};

const given = (shell: Shell): Run => {
  const run = runIn(shell);
  open.push(run.remove);
  // The poorest node has no curl of its own.
  run.shadow('curl', `#!/bin/sh\nprintf '%s\\n' "$*" >> '${join(run.control, 'calls')}'\nexec ${placeOf('curl')} "$@"\n`);
  run.put('s "1"/__0_0.distcp', 'tensor');
  run.put('s "1"/.metadata', 'pickle');
  run.mark('token', 'd1.k.abc_-\n');
  return run;
};

describe.each(shells())('P8.1 the marker first, then the API, under $name', (shell) => {
  test('reports epoch, step, path and size with the token of the attempt, which no command line shows', async () => {
    const run = given(shell);
    const { url, posts } = await api(202, '{}');
    expect(await run.publish(['9', 's "1"'], { DISPATCH_API_URL: `${url}/v1/` })).toMatchObject({ code: 0, err: '' });
    expect(posts).toHaveLength(1);
    expect(posts[0]!.url).toBe('POST /v1/jobs/0123456789abcdef/checkpoints');
    expect(posts[0]!.headers).toMatchObject({ authorization: 'Bearer d1.k.abc_-', 'content-type': 'application/json' });
    expect(JSON.parse(posts[0]!.body)).toEqual({ epoch: 1_000_000, step: 9, path: 'exec/1-0/s "1"', size: 12 });
    expect(readFileSync(join(run.control, 'calls'), 'utf8')).not.toContain('abc_-');
  });

  test.each([
    ['K3 an API that fails', 503, '{}'],
    ['an API that refuses the token', 401, '{}'],
    ['another conflict', 409, '{"type":"checkpoint/exists"}'],
  ])('%s: published all the same, and said', async (_, status, answer) => {
    const run = given(shell);
    const { url } = await api(status, answer);
    const said = await run.publish(['9', 's "1"'], { DISPATCH_API_URL: url });
    expect(said).toMatchObject({ code: PUBLISHER_EXIT.published, err: expect.stringContaining(`not reported: ${answer} ${status}`) });
    expect(run.markers()).toHaveLength(1);
  });

  test('nobody listens: published all the same, and said', async () => {
    const run = given(shell);
    const said = await run.publish(['9', 's "1"'], { DISPATCH_API_URL: 'http://127.0.0.1:9' });
    expect(said).toMatchObject({ code: PUBLISHER_EXIT.published, err: expect.stringContaining('published, but not reported') });
    expect(run.markers()).toHaveLength(1);
  });

  test('P6.2 the record knows that it is late: the marker stays and the program is told', async () => {
    const run = given(shell);
    const { url } = await api(409, '{"type":"checkpoint/late"}');
    expect((await run.publish(['9', 's "1"'], { DISPATCH_API_URL: url })).code).toBe(PUBLISHER_EXIT.late);
    expect(run.markers()).toHaveLength(1);
  });

  test.each([
    ['no API', { DISPATCH_API_URL: '' }, 'd1.k.abc\n'],
    ['no token', {}, ''],
  ])('%s: nothing is sent, nothing is said', async (_, over, token) => {
    const run = given(shell);
    run.mark('token', token);
    const { url, posts } = await api(202, '{}');
    expect(await run.publish(['9', 's "1"'], { DISPATCH_API_URL: url, ...over })).toMatchObject({ code: 0, err: '' });
    expect(posts).toEqual([]);
  });

  test('a token that is none is sent to nobody', async () => {
    const run = given(shell);
    run.mark('token', 'a"\nheader = "x: y\n');
    const { url, posts } = await api(202, '{}');
    expect(await run.publish(['9', 's "1"'], { DISPATCH_API_URL: url })).toMatchObject({ code: 0, err: expect.stringContaining('token') });
    expect(posts).toEqual([]);
  });
});
