/**
 * Server: the API of a local process over HTTP. It takes its address before anything else is touched, answers 503 until the process is
 * ready, and on an orderly end finishes what it has taken.
 * Guards: every connection, header and wait has a bound, and nobody is let in who is not admitted (address.ts). Health needs no token.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Admission } from './address.ts';
import { StartRefused, saysOf } from './refusal.ts';

export interface ApiServer {
  /** `http://127.0.0.1:8080`. */
  readonly url: string;
  /** From now on requests are answered. */
  serve(api: Hono): void;
  /** Takes no more, and waits for what it has, at most so long. Whether all of it was answered. */
  close(ms: number): Promise<boolean>;
}

export interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly admits: Admission;
}

/** A request must have arrived by then; a body has at most 256 KiB. */
const REQUEST_MS = 30_000;
const KEEP_ALIVE_MS = 60_000;
const CONNECTIONS = 1024;
const IDLE_MS = 50;

const SAYS = {
  host: [403, 'The Host header does not name this machine', 'Use the address that the server printed when it started.'],
  origin: [403, 'A page from elsewhere sent this', 'Call the API from this machine, or start it with --token-file.'],
  token: [401, 'The bearer token is missing or wrong', 'Send `Authorization: Bearer …` with what the token file holds.'],
  starting: [503, 'The process is starting', 'Repeat it in a moment.'],
} as const;

/** Attempts report with a token of their own, which their route checks. */
const OWN_TOKEN = /^\/jobs\/[^/]+\/checkpoints$/;

/** Throws StartRefused when the address cannot be had. */
export const startServer = async ({ host, port, admits }: ServerOptions): Promise<ApiServer> => {
  let api: Hono | undefined;
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const refused = admits({
      host: request.headers.get('host') ?? '',
      origin: request.headers.get('origin') ?? undefined,
      authorization: request.headers.get('authorization') ?? undefined,
    });
    const open = pathname === '/health' || (request.method === 'POST' && OWN_TOKEN.test(pathname));
    if (refused && !(refused === 'token' && open)) return problem(refused);
    return api ? api.fetch(request) : problem('starting');
  };
  const server = createAdaptorServer({
    fetch: answer,
    serverOptions: { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS },
  }) as Server;
  server.maxConnections = CONNECTIONS;
  await listen(server, host, port);
  const at = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${at}`,
    serve: (made) => {
      api = made;
    },
    close: (ms) => close(server, ms),
  };
};

const problem = (what: keyof typeof SAYS): Response => {
  const [status, title, detail] = SAYS[what];
  const headers = {
    'content-type': 'application/problem+json',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  };
  return new Response(JSON.stringify({ type: `/problems/local/${what}`, title, status, detail, code: `local/${what}` }), {
    status,
    headers,
  });
};

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      const says =
        saysOf(error) === 'EADDRINUSE'
          ? 'something else listens there: stop it, or give another --port'
          : `cannot listen there (${saysOf(error)})`;
      reject(new StartRefused(`${host} port ${port}: ${says}`));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });

const close = (server: Server, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    let whole = true;
    // A connection whose last answer has gone out would wait for the client's next request.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
    const bound = setTimeout(() => {
      whole = false;
      server.closeAllConnections();
    }, ms);
    server.close(() => {
      clearTimeout(bound);
      clearInterval(idle);
      resolve(whole);
    });
  });
