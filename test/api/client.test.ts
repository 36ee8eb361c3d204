/**
 * A client made from the served document alone, one call per operation: whoever has the document needs nothing else to submit a job,
 * watch it, answer for it and read what became of it.
 */
import createClient from 'openapi-fetch';
import { expect, test } from 'vitest';
import { issueToken } from '../../lib/checkpoint/token.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { given, KEYS, SPEC } from './given.ts';

type In = 'path' | 'query' | 'header';
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: In; readonly required?: boolean }[];
  readonly requestBody?: { readonly required?: boolean };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Reply {
  readonly data?: Record<string, unknown>;
  readonly error?: Record<string, unknown>;
  readonly response: Response;
}
type Call = (given?: Readonly<Record<string, unknown>> & { readonly body?: unknown }) => Promise<Reply>;

/** One function per operation; arguments go where the document says, and one that it does not know is refused. */
const clientOf = (document: Document, fetch: (request: Request) => Promise<Response>, token: string): Readonly<Record<string, Call>> => {
  const client = createClient({ baseUrl: 'http://dispatch.example', fetch, headers: { authorization: `Bearer ${token}` } });
  const request = client.request as unknown as (method: string, path: string, init: object) => Promise<Reply>;
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]): [string, Call] => [
      operationId,
      ({ body, ...given } = {}) => {
        const unknown = Object.keys(given).filter((name) => !parameters.some((one) => one.name === name));
        const missing = parameters.filter((one) => one.required && given[one.name] === undefined).map((one) => one.name);
        if (unknown.length + missing.length > 0) throw new Error(`${operationId}: unknown ${unknown.join()}, missing ${missing.join()}`);
        if (body === undefined && requestBody?.required) throw new Error(`${operationId} needs a body`);
        const params: Record<In, Record<string, unknown>> = { path: {}, query: {}, header: {} };
        for (const one of parameters) if (given[one.name] !== undefined) params[one.in][one.name] = given[one.name];
        return request(method, path, { params, ...(body === undefined ? {} : { body }) });
      },
    ]),
  );
  return Object.fromEntries(calls);
};

test('a job’s whole story is told and steered through it', async () => {
  const { api, clock } = await given();
  const fetch = async (request: Request): Promise<Response> => api.fetch(request);
  const document = (await (await api.request('/openapi.json')).json()) as Document;
  const ada = clientOf(document, fetch, 'ada');

  expect((await ada['readHealth']!()).data).toEqual({ status: 'ok' });
  const script = [{ program: { runsSeconds: 30, ends: { exit: 3 } } }, { program: { runsSeconds: 600 } }];
  const spec = { ...SPEC, checkpoint: {}, policy: { ...SPEC.policy, unmatched: 'escalate' }, extensions: { memory: { script } } };
  const plan = (await ada['planJob']!({ body: spec })).data!;
  const accepted = await ada['submitJob']!({ body: spec, plan: plan['digest'], 'idempotency-key': 'once' });
  const job = String(accepted.data!['id']);
  expect(accepted.response.headers.get('location')).toBe(`/jobs/${job}`);

  const seen: string[] = [];
  let after = 0;
  while (!seen.includes('escalation_raised')) {
    const watch = ada['watchEvents']!({ job, after, wait: 25 });
    for (let i = 0; i < 26; i++) await clock.advance(1000);
    const { items, next } = (await watch).data as unknown as { items: { event: { type: string } }[]; next: number };
    seen.push(...items.map((item) => item.event.type));
    after = next;
  }
  expect(seen[0]).toBe('job_submitted');
  expect((await ada['listEscalations']!()).data).toMatchObject({ items: [{ job, id: 'q1', kind: 'unmatched_outcome' }] });
  expect((await ada['readToken']!({ job, escalation: 'q1' })).data).toMatchObject({ question: 'q1' });
  const answered = await ada['answerEscalation']!({ job, escalation: 'q1', body: { answer: 'relaunch' } });
  expect(answered.data).toMatchObject({ state: 'recovering' });
  await clock.advance(60_000);

  const attempt = clientOf(document, fetch, issueToken(KEYS, job, 2));
  const report = { epoch: epochOf(2, 0), step: 7, path: 'exec/2-0/step-7' };
  expect((await attempt['publishCheckpoint']!({ job, body: report })).data).toEqual({ recorded: true });
  expect((await ada['listCheckpoints']!({ job })).data).toMatchObject({ items: [{ trainingStep: 7, standing: 'reported' }] });
  expect((await ada['readLatestCheckpoint']!({ job, refresh: 'true' })).error).toMatchObject({ code: 'checkpoint/none' });
  expect((await ada['readOutput']!({ job, attempt: 2, limit: 10 })).data).toMatchObject({ text: '..........' });

  const status = await ada['readJob']!({ job });
  const etag = status.response.headers.get('etag');
  expect((await ada['cancelJob']!({ job, 'if-match': '"1"' })).error).toMatchObject({ code: 'job/changed' });
  expect((await ada['cancelJob']!({ job, 'if-match': etag, body: { reason: 'enough' } })).response.status).toBe(202);
  await clock.advance(60_000);
  expect((await ada['listJobs']!({ state: 'cancelled' })).data).toMatchObject({ items: [{ id: job, cause: 'cancelled_by_dispatch' }] });

  expect((await ada['listClusters']!()).data).toMatchObject({ items: [{ id: 'here' }] });
  expect((await ada['readCluster']!({ cluster: 'here' })).data).toMatchObject({ state: 'reachable' });
  expect((await ada['listClusterEvents']!({ cluster: 'here' })).data).toMatchObject({ items: [{ event: { type: 'cluster_probed' } }] });
  expect((await ada['startPreflight']!({ cluster: 'here' })).error).toMatchObject({ code: 'auth/missing_scope' });
  const op = clientOf(document, fetch, 'op');
  expect((await op['startPreflight']!({ cluster: 'here' })).response.status).toBe(202);
  expect((await op['answerClusterEscalation']!({ cluster: 'here', escalation: 'q1', body: { answer: 'wait' } })).error).toMatchObject({
    code: 'escalation/unknown',
  });
  expect((await op['observeJob']!({ body: { cluster: 'here', schedulerId: '424242' } })).error).toMatchObject({ code: 'job/unknown' });
  expect((await op['readDocument']!()).data).toEqual(document);

  // Every operation that the document has was used.
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  expect(Object.keys(ada).sort()).toEqual(all.sort());
});
