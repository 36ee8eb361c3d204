/**
 * The endpoint: an engine behind the wire protocol of Step Functions, so that an unmodified `@aws-sdk/client-sfn` talks to it when
 * `AWS_ENDPOINT_URL_SFN` names its url. So production code needs no branch for the local mode.
 *
 * It listens on loopback only and checks no signature: who can reach it could as well stop the process. Guards: nothing that a body
 * holds (task tokens) is ever logged or repeated in an answer; a request that did not arrive whole is never carried out; every
 * body, connection and wait has a limit.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '../engine/api.ts';
import { type Answer, answerTo, INTERNAL_FAILURE, refusalOf } from './answer.ts';
import { readBody } from './body.ts';
import { CallRefused } from './refusal.ts';

export interface EndpointOptions {
  readonly engine: Engine;
  /** `127.0.0.1` (the default), `::1` or `localhost`; anything else is refused. */
  readonly host?: string;
  /** 0, the default: any free port. */
  readonly port?: number;
  /**
   * Told of an error that is no refusal, hence a bug; the caller gets a 500. By default it is thrown outside of any request and
   * brings the process down, as the bugs of the engine do.
   */
  readonly onBug?: (error: unknown) => void;
  readonly limits?: EndpointLimits;
}

export interface EndpointLimits {
  /** Longest body; 1 MiB: 256 KiB of JSON text, quoted once more, is at most twice as long, and there is room for the rest. */
  readonly bodyBytes?: number;
  /** How long a request may take to arrive, and how long `close` waits for those that are arriving; 10,000. */
  readonly requestMs?: number;
}

export interface Endpoint {
  /** What `AWS_ENDPOINT_URL_SFN` has to be, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Takes no new request, ends idle connections, waits for requests under way. Leaves the engine running. */
  close(): Promise<void>;
}

/** The endpoint was told to listen where other machines could reach it. */
export class NotLoopback extends Error {
  override readonly name = 'NotLoopback';
  readonly code = 'endpoint/not_loopback';
  readonly retryable = false;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
/** What a client that meant this machine says; a page in a browser whose name was bent to this machine says its own name. */
const LOCAL_HOST_HEADER = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;
const BODY_BYTES = 1_048_576;
const REQUEST_MS = 10_000;
/** Longer than the pauses between polls: a connection that closes just as a request is sent on it costs that client a retry. */
const KEEP_ALIVE_MS = 60_000;
/** Each holds at most one body. A client of the SDK opens at most 50. */
const CONNECTIONS = 512;

/** Resolves once it listens. Throws NotLoopback, and what listening throws (EADDRINUSE). */
export async function startEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { engine, host = '127.0.0.1', port = 0, onBug = bringDown } = options;
  if (!LOOPBACK.has(host)) throw new NotLoopback(`the endpoint checks no signatures and listens on loopback only, not on ${host}`);
  const bodyBytes = options.limits?.bodyBytes ?? BODY_BYTES;
  const requestMs = options.limits?.requestMs ?? REQUEST_MS;
  let requests = 0;
  let closed: Promise<void> | undefined;

  const answer = async (request: IncomingMessage): Promise<Answer | undefined> => {
    try {
      if (!LOCAL_HOST_HEADER.test(request.headers.host ?? '')) {
        throw new CallRefused('AccessDeniedException', 'the Host header does not name this machine');
      }
      const body = await readBody(request, bodyBytes);
      if (body.kind === 'cut_off') return undefined;
      if (body.kind === 'too_long') throw new CallRefused('RequestEntityTooLargeException', `the body is longer than ${bodyBytes} bytes`);
      const target = request.headers['x-amz-target'];
      return answerTo(engine, request.method === 'POST' && typeof target === 'string' ? target : '', body.bytes);
    } catch (error) {
      const refused = refusalOf(error);
      if (refused === undefined) onBug(error);
      return refused ?? INTERNAL_FAILURE;
    }
  };

  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.min(1000, requestMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    async (request, response) => {
      const id = `local-${++requests}`;
      const given = await answer(request);
      if (given !== undefined) send(response, given, id, closed !== undefined);
    },
  );
  server.maxConnections = CONNECTIONS;
  await listen(server, host, port);

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    close: () => {
      closed ??= end(server, requestMs);
      return closed;
    },
  };
}

function send(response: ServerResponse, { status, body }: Answer, id: string, last: boolean): void {
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': Buffer.byteLength(body),
    'x-amzn-requestid': id,
    // Otherwise the connection stays open for the client's next request, and closing waits for it.
    ...(last ? { connection: 'close' } : {}),
  });
  response.end(body);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      // From here on an error of the server is nobody's answer: unheard, it brings the process down.
      server.off('error', reject);
      resolve();
    });
  });
}

function end(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // A closing server no longer enforces its own time limits: a request that never arrives whole would keep it open.
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close((error) => {
      clearTimeout(grace);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

function bringDown(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
