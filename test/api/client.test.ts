/**
 * A client generated from the document alone, one call per operation: whoever has the document needs nothing else to submit a job,
 * watch it, answer for it and read what became of it. Its types are as good as its calls: a mistake does not compile.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDocument } from '../../lib/api/document.ts';
import { issueToken } from '../../lib/checkpoint/token.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { given, KEYS, SPEC } from './given.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What a call of the generated client answers; it throws the same where the status is not of the successes. */
interface Reply {
  // biome-ignore lint/suspicious/noExplicitAny: a shape that only the generated code knows
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly error: any;
  readonly status: number;
  readonly headers: Headers;
}
type Client = Readonly<Record<string, Readonly<Record<string, (...given: unknown[]) => Promise<Reply>>>>>;
interface Generated {
  readonly Api: new (given: { readonly baseUrl: string; readonly baseApiParams: object; readonly customFetch: typeof fetch }) => Client;
}

let folder: string;
let generated: Generated;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dispatch-client-'));
  const { files } = await generateApi({
    spec: JSON.parse(JSON.stringify(makeDocument())),
    output: false,
    enumStyle: 'union',
    silent: true,
  });
  expect(files).toHaveLength(1);
  await writeFile(join(folder, 'client.ts'), files[0]!.fileContent);
  generated = (await import(/* @vite-ignore */ join(folder, 'client.ts'))) as Generated;
});
afterAll(() => rm(folder, { recursive: true }));

type Api = Awaited<ReturnType<typeof given>>['api'];
const clientOf = (api: Api, token: string): Client =>
  new generated.Api({
    baseUrl: 'http://dispatch.example',
    baseApiParams: { headers: { authorization: `Bearer ${token}` } },
    customFetch: async (input, init) => api.fetch(new Request(input, init)),
  });

/** The problem that a call was refused with: the generated client throws its reply. */
const refused = async (call: Promise<Reply>): Promise<unknown> => {
  const reply = await call.then(
    () => undefined,
    (error: Reply) => error,
  );
  if (!reply?.error) throw new Error('the call was not refused');
  return reply.error;
};
const headers = (given: Readonly<Record<string, string>>, token: string) => ({
  headers: { authorization: `Bearer ${token}`, ...given },
});

test('a job’s whole story is told and steered through it', async () => {
  const { api, clock } = await given();
  const { jobs, plans, clusters, escalations, health } = clientOf(api, 'ada') as Record<string, Client[string]>;

  expect((await health!['readHealth']!()).data).toEqual({ status: 'ok' });
  const script = [{ program: { runsSeconds: 30, ends: { exit: 3 } } }, { program: { runsSeconds: 600 } }];
  const spec = { ...SPEC, checkpoint: {}, policy: { ...SPEC.policy, unmatched: 'escalate' }, extensions: { memory: { script } } };
  const plan = (await plans!['planJob']!(spec)).data;
  const accepted = await jobs!['submitJob']!(spec, { plan: plan.digest }, headers({ 'idempotency-key': 'once' }, 'ada'));
  const job = String(accepted.data.id);
  expect(accepted.headers.get('location')).toBe(`/jobs/${job}`);

  const seen: string[] = [];
  let after = 0;
  while (!seen.includes('escalation_raised')) {
    const watch = jobs!['watchEvents']!(job, { after, wait: 25 });
    for (let i = 0; i < 26; i++) await clock.advance(1000);
    const { items, next } = (await watch).data as { items: { event: { type: string } }[]; next: number };
    seen.push(...items.map((item) => item.event.type));
    after = next;
  }
  expect(seen[0]).toBe('job_submitted');
  expect((await escalations!['listEscalations']!()).data).toMatchObject({ items: [{ job, id: 'q1', kind: 'unmatched_outcome' }] });
  expect((await jobs!['readToken']!(job, 'q1')).data).toMatchObject({ question: 'q1' });
  expect((await jobs!['answerEscalation']!(job, 'q1', { answer: 'relaunch' })).data).toMatchObject({ state: 'recovering' });
  await clock.advance(60_000);

  const attempt = clientOf(api, issueToken(KEYS, job, 2))['jobs']!;
  const report = { epoch: epochOf(2, 0), step: 7, path: 'exec/2-0/step-7' };
  expect((await attempt['publishCheckpoint']!(job, report)).data).toEqual({ recorded: true });
  expect((await jobs!['listCheckpoints']!(job)).data).toMatchObject({ items: [{ trainingStep: 7, standing: 'reported' }] });
  expect(await refused(jobs!['readLatestCheckpoint']!(job, { refresh: 'true' }))).toMatchObject({ code: 'checkpoint/none' });
  expect((await jobs!['readOutput']!(job, 2, { limit: 10 })).data).toMatchObject({ text: '..........' });

  const etag = (await jobs!['readJob']!(job)).headers.get('etag')!;
  const cancel = (match: string, reason?: object) => jobs!['cancelJob']!(job, reason, headers({ 'if-match': match }, 'ada'));
  expect(await refused(cancel('"1"'))).toMatchObject({ code: 'job/changed' });
  expect((await cancel(etag, { reason: 'enough' })).status).toBe(202);
  await clock.advance(60_000);
  expect((await jobs!['listJobs']!({ state: 'cancelled' })).data).toMatchObject({ items: [{ id: job, cause: 'cancelled_by_dispatch' }] });

  expect((await clusters!['listClusters']!()).data).toMatchObject({ items: [{ id: 'here' }] });
  expect((await clusters!['readCluster']!('here')).data).toMatchObject({ state: 'reachable' });
  expect((await clusters!['listClusterEvents']!('here')).data).toMatchObject({ items: [{ event: { type: 'cluster_probed' } }] });
  expect(await refused(clusters!['startPreflight']!('here'))).toMatchObject({ code: 'auth/missing_scope' });
  const operator = clientOf(api, 'op');
  expect((await operator['clusters']!['startPreflight']!('here')).status).toBe(202);
  const blocking = operator['clusters']!['answerClusterEscalation']!('here', 'q1', { answer: 'wait' });
  expect(await refused(blocking)).toMatchObject({ code: 'escalation/unknown' });
  const observed = operator['observedJobs']!['observeJob']!({ cluster: 'here', schedulerId: '424242' });
  expect(await refused(observed)).toMatchObject({ code: 'job/unknown' });
  expect((await operator['openapiJson']!['readDocument']!()).data).toEqual(JSON.parse(JSON.stringify(makeDocument())));
});

test('it has one call per operation of the document', () => {
  const document = makeDocument() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
  };
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  const client = new generated.Api({ baseUrl: '', baseApiParams: {}, customFetch: fetch });
  const calls = Object.values(client).flatMap((group) =>
    Object.entries(group ?? {}).flatMap(([name, one]) => (typeof one === 'function' ? [name] : [])),
  );
  expect(calls.filter((name) => operations.includes(name)).sort()).toEqual(operations.sort());
});

test('its types accept a right call and refuse a wrong one', async () => {
  const usage = (policy: string) => `
    import { Api } from './client.ts';
    const { jobs } = new Api({ baseUrl: 'http://dispatch.example' });
    const { data } = await jobs.submitJob({
      name: 'train', cluster: 'lab', resources: { nodes: 2 }, program: { command: ['./train'] }, timeLimit: '1h', policy: ${policy},
    });
    const state: 'pending' | 'queued' | 'running' | 'recovering' | 'awaiting' | 'cancelling' | 'succeeded' | 'failed' | 'cancelled' = data.state;
    export const said: string = state + data.why;
  `;
  await writeFile(join(folder, 'right.ts'), usage(`{ unmatched: 'stop', limits: { attempts: 3 } }`));
  await writeFile(join(folder, 'wrong.ts'), usage(`{ unmatched: 'retry', limits: { attempts: 3 } }`));
  const errors = await compiled(['right.ts', 'wrong.ts']);
  expect(errors.map((line) => line.replace(/\(.*/, ''))).toEqual(['wrong.ts']);
  expect(errors[0]).toContain(`'"retry"' is not assignable`);
});

/** What the compiler has against these files, a line each. */
const compiled = async (files: readonly string[]): Promise<readonly string[]> => {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--module', 'nodenext', '--target', 'es2024'];
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const said = await promisify(execFile)(process.execPath, [tsc, ...flags, ...files], { cwd: folder, timeout: 60_000 }).catch(
    (error: { stdout?: string }) => {
      if (error.stdout === undefined) throw error;
      return { stdout: error.stdout };
    },
  );
  return said.stdout.split('\n').filter((line) => /error TS/.test(line));
};
