/**
 * Client: one request to the HTTP API of a world, served by the routes that are deployed, in a process of its own. On its way it may be
 * lost, doubled, or answered to nobody. Guards what no caller may ever be told: an error of ours, or a token where none belongs.
 */
import { createApi } from '../../lib/api/api.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { type Principal, SCOPES } from '../../lib/app/principal.ts';
import type { TokenKeys } from '../../lib/checkpoint/token.ts';
import type { Kernel, Process } from './kernel.ts';
import { holdsToken } from './token.ts';
import { holds } from './verdict.ts';

const API_MS = 29_000;

/** Of the attempts' tokens. */
export const KEYS: TokenKeys = [{ id: 'sim', secret: new Uint8Array(32).fill(7) }];

export const ADA: Principal = { id: 'ada', groups: ['p'], scopes: SCOPES };

export interface Served {
  readonly kernel: Kernel;
  readonly limits: boolean;
  portsFor(process: Process): Ports;
  failed(process: string, error: unknown): void;
  /** What is judged while a request is served. */
  must<T>(work: () => T): T;
  reach(what: string): void;
  /** In a process of its own. */
  preflight(cluster: string, login: string): void;
}

export interface Asked {
  /** The operation's id in the API's document. */
  readonly id: string;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Nonsense on purpose. */
  readonly wrong?: true;
}

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What comes back; undefined: nothing did. */
export const ask = async (world: Served, asked: Asked): Promise<Answered | undefined> => {
  const { kernel } = world;
  if (kernel.meets('api_request_lost')) {
    await new Promise<void>(
      (resolve) => void kernel.after(kernel.luck('api_request_lost').between(1, 30_000), resolve, `${asked.id} is lost`),
    );
    return undefined;
  }
  // A client that did not wait for its answer, or a proxy that tried again.
  if (kernel.meets('api_request_doubled')) {
    const luck = kernel.luck('api_request_doubled');
    kernel.after(luck.between(1, luck.pick([50, 20_000])), () => void serve(world, asked), `${asked.id} again`);
  }
  const answered = await serve(world, asked);
  return kernel.meets('api_reply_lost') ? undefined : answered;
};

/** A process that dies is a gateway's 502, of which a client knows as much as of no answer at all. */
const serve = (world: Served, asked: Asked): Promise<Answered | undefined> =>
  world.kernel
    .spawn(`api ${asked.id}`, world.limits ? API_MS : undefined, (process) => handle(world, process, asked))
    .catch((error: unknown) => {
      world.failed(asked.id, error);
      return undefined;
    });

const handle = async (world: Served, process: Process, asked: Asked): Promise<Answered> => {
  const { id, path, method = 'GET', body, headers = {} } = asked;
  const ports = world.portsFor(process);
  const api = createApi({
    only: [id],
    ports: async () => ports,
    principalOf: () => ADA,
    tokenKeys: async () => KEYS,
    preflight: async (cluster, login) => world.preflight(cluster, login),
  });
  const typed = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await api.fetch(new Request(`http://sim${path}`, { method, headers: typed, ...sent }));
  const text = await response.text();
  world.kernel.note(() => `  ${method} ${path} = ${response.status} ${text.slice(0, 200)}`);
  world.must(() => judge(asked, response.status, text));
  // A route that only ever refuses was not reached.
  if (response.ok) world.reach(`route ${id}`);
  return { status: response.status, body: JSON.parse(text) as Answered['body'] };
};

const judge = ({ id, method = 'GET', path, wrong }: Asked, status: number, text: string): void => {
  const where = (): string => `${method} ${path} is answered ${status} ${text.slice(0, 600)}`;
  holds(status < 500 || status === 503, 'api', where);
  holds(wrong || (status !== 400 && status !== 401 && status !== 403), 'api', where);
  holds(id === 'readToken' || !holdsToken(text), 'S12', where);
};
