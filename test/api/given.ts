/**
 * Given: the API over a whole dispatch in virtual time: memory store, memory cluster, the machine on the engine, and callers of several
 * kinds. Every answer to `ask` is held against the document: its status must be there for that operation, and its body must fit.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import { createApi } from '../../lib/api/api.ts';
import { makeDocument } from '../../lib/api/document.ts';
import type { Limits } from '../../lib/api/route.ts';
import { preflight } from '../../lib/app/cluster/preflight.ts';
import type { ClusterConfiguration } from '../../lib/app/ports.ts';
import type { Principal } from '../../lib/app/principal.ts';
import type { TokenKeys } from '../../lib/checkpoint/token.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster, type World } from '../../lib/cluster/memory/world.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { numbers } from '../contract/core/life.ts';

export const START_MS = Date.UTC(2030, 0, 1);
export const TAG = 'ap1s';
export const KEYS: TokenKeys = [{ id: 'k1', secret: new Uint8Array(32).fill(7) }];

/** Who calls, by the word after `Bearer`. */
export const CALLERS: Readonly<Record<string, Principal>> = {
  ada: { id: 'ada', groups: ['vision'], scopes: ['read', 'submit', 'cancel', 'answer'] },
  bob: { id: 'bob', groups: ['speech'], scopes: ['read', 'submit', 'cancel', 'answer'] },
  cleo: { id: 'cleo', groups: ['vision'], scopes: ['read'] },
  eve: { id: 'eve', groups: [], scopes: ['read', 'submit'] },
  op: { id: 'op', groups: [], scopes: ['read', 'submit', 'cancel', 'answer', 'operate'] },
};

export const SPEC = {
  name: 'train',
  cluster: 'here',
  resources: { nodes: 2, tasksPerNode: 1 },
  program: { command: ['train'] },
  timeLimit: '1h',
  policy: { rules: [] as unknown[], unmatched: 'stop', limits: { attempts: 5 } },
};
export const AT_ONCE = { initial: '0s', factor: 1, max: '1s' };
export const scripted = (script: readonly unknown[], over: Readonly<Record<string, unknown>> = {}) => ({
  ...SPEC,
  ...over,
  extensions: { memory: { script } },
});

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export interface Asking {
  readonly as?: string;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly text?: string | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const document = JSON.parse(JSON.stringify(makeDocument())) as {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }> }>
  >;
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema(document, 'document');
const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/** The documented path that a request's path is of. */
const pathOf = (path: string): string | undefined => {
  const given = path.split('?')[0]!;
  const fits = Object.keys(document.paths).filter((known) => new RegExp(`^${known.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(given));
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0];
};

/** Holds an answer against the document: its status, type, body and headers. */
export const holdsTo = (method: string, path: string, answer: Pick<Answer, 'status' | 'headers'> & { readonly body: unknown }): void => {
  const known = pathOf(path);
  const operation = known === undefined ? undefined : document.paths[known]?.[method.toLowerCase()];
  const type = answer.headers.get('content-type') ?? '';
  if (!known || !operation) {
    // No operation: only the two answers that say so.
    expect([404, 405]).toContain(answer.status);
    expect(ajv.validate({ $ref: 'document#/components/schemas/Problem' }, answer.body), ajv.errorsText()).toBe(true);
    return;
  }
  const response = operation.responses[answer.status];
  expect(response, `${method} ${known} answers ${answer.status}, which is not documented`).toBeDefined();
  expect(Object.keys(response?.content ?? {}), `${method} ${known} ${answer.status}`).toContain(type);
  const at = `document#/paths/${escaped(known)}/${method.toLowerCase()}/responses/${answer.status}/content/${escaped(type)}/schema`;
  const fits = ajv.validate({ $ref: at }, answer.body);
  expect(
    fits,
    `${method} ${known} ${answer.status}: ${ajv.errorsText(ajv.errors?.slice(0, 5))}\n${JSON.stringify(answer.body).slice(0, 800)}`,
  ).toBe(true);
  for (const header of Object.keys(response?.headers ?? {})) expect(answer.headers.has(header), `${method} ${known}: ${header}`).toBe(true);
};

const READS = /^(read|list|get|count|dump)/;
/** Taken and given back whatever comes of it. */
const PASSING = new Set(['takeSlot', 'returnSlot']);

/** The store, and the names of the writes that were asked of it. */
const counted = (store: RecordStore, writes: string[]): RecordStore =>
  Object.fromEntries(
    Object.entries(store).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        if (!READS.test(name) && !PASSING.has(name)) writes.push(name);
        return (call as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  ) as unknown as RecordStore;

export interface Given {
  readonly limits?: Partial<Limits>;
  readonly clusters?: (cluster: ClusterConfiguration) => readonly ClusterConfiguration[];
  /** Laid over the store: what a test wants to fail. */
  readonly store?: (store: RecordStore) => RecordStore;
}

export const given = async (over: Given = {}) => {
  const clock = virtualClock(START_MS);
  const random = numbers(11);
  const world: World = createMemoryCluster({ shape: 'slurm', clock, random, logins: ['default'] });
  const writes: string[] = [];
  const memory = createMemoryStore();
  const store = counted(over.store ? over.store(memory) : memory, writes);
  const here: ClusterConfiguration = {
    id: 'here',
    adapter: adapter(world, { tag: TAG, cluster: 'here' }),
    pollEverySeconds: 5,
    landingBoundSeconds: 90,
    readOnly: false,
    logins: [{ id: 'default', user: 'demo' }],
  };
  const logs: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const system = createSystem({
    store,
    clusters: over.clusters?.(here) ?? [here],
    tag: TAG,
    clock,
    random,
    log: (level, message, fields) => logs.push({ level, message, fields }),
  });
  const { ports } = system;
  const api = createApi({
    ports: async () => ports,
    principalOf: (request) => CALLERS[/^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''],
    tokenKeys: async () => KEYS,
    ...(over.limits ? { limits: over.limits } : {}),
    document: async () => makeDocument(),
  });
  for (const id of over.clusters ? [] : ['here']) await preflight(ports, id, 'default', 'first');
  await system.start();

  const send = async (method: string, path: string, asking: Asking = {}): Promise<Answer> => {
    const { as = 'ada', body, text, headers, signal } = asking;
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await api.request(path, {
      method,
      headers: {
        ...(as === '' ? {} : { authorization: `Bearer ${as}` }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent, duplex: 'half' }),
      ...(signal ? { signal } : {}),
    } as RequestInit);
    const answer = { status: response.status, body: (await response.json()) as Answer['body'], headers: response.headers };
    holdsTo(method, path, answer);
    return answer;
  };
  /** Asks while virtual time goes on for at most so long: what waits on the clock comes back. */
  const ask = async (method: string, path: string, asking: Asking & { readonly seconds?: number } = {}): Promise<Answer> => {
    let answered = false;
    const answer = send(method, path, asking).finally(() => {
      answered = true;
    });
    answer.catch(() => undefined);
    for (let i = 0; i < (asking.seconds ?? 0) && !answered; i++) await clock.advance(1000);
    return answer;
  };
  const submit = async (spec: unknown, asking: Asking = {}): Promise<string> => {
    const answer = await ask('POST', '/jobs', { body: spec, ...asking });
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
    return String(answer.body['id']);
  };
  const until = async (job: string, sees: (status: Answer['body']) => boolean, seconds = 3600): Promise<Answer['body']> => {
    for (let passed = 0; passed < seconds; passed += 5) {
      const { body } = await ask('GET', `/jobs/${job}`, { as: 'op' });
      if (sees(body)) return body;
      await clock.advance(5000);
    }
    throw new Error(`not seen: ${JSON.stringify((await ask('GET', `/jobs/${job}`, { as: 'op' })).body)}`);
  };
  const ended = (job: string): Promise<Answer['body']> =>
    until(job, (status) => ['succeeded', 'failed', 'cancelled'].includes(String(status['state'])));
  return { ...{ clock, world, ports, system, api, logs, writes, memory, send, ask, submit, until, ended }, stop: () => system.stop() };
};
export type Dispatch = Awaited<ReturnType<typeof given>>;

export const errorsOf = (
  answer: Answer,
): readonly { readonly path: string; readonly code: string; readonly message: string; readonly in: string }[] =>
  (answer.body['errors'] ?? []) as never;
