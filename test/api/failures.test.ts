/** When the world fails: what a caller is told, and what only the log learns (contract §12). */
import { expect, test, vi } from 'vitest';
import { createApi } from '../../lib/api/api.ts';
import { SupervisorsFailure } from '../../lib/app/ports.ts';
import { RecordFailure } from '../../lib/job/failure.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { CALLERS, given, SPEC } from './given.ts';

const failing =
  (name: keyof RecordStore, error: () => Error, from: { now: boolean }) =>
  (store: RecordStore): RecordStore => ({
    ...store,
    [name]: (...args: unknown[]) => {
      if (from.now) throw error();
      return (store[name] as (...given: unknown[]) => unknown)(...args);
    },
  });

test('a record that does not answer is 503 with Retry-After, without a word of the inside', async () => {
  const from = { now: false };
  const { ask } = await given({
    store: failing('listJobs', () => new RecordFailure('record/unavailable', 'table dispatch-7 at 10.0.0.1'), from),
  });
  from.now = true;
  const { status, body, headers } = await ask('GET', '/jobs');
  expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'record/unavailable', '2']);
  expect(JSON.stringify(body)).not.toContain('10.0.0.1');
});

test('a record of a newer release is 503', async () => {
  const from = { now: false };
  const { ask, submit } = await given({ store: failing('read', () => new RecordFailure('record/newer_schema', 'schema 2'), from) });
  const job = await submit(SPEC);
  from.now = true;
  expect((await ask('GET', `/jobs/${job}`)).body['code']).toBe('record/newer_schema');
});

test('what nobody expected is 500, told by nothing but that, and logged', async () => {
  const from = { now: false };
  const { ask, logs } = await given({ store: failing('listJobs', () => new TypeError('secret of the inside'), from) });
  from.now = true;
  const { status, body } = await ask('GET', '/jobs');
  expect([status, body['code']]).toEqual([500, 'internal']);
  expect(JSON.stringify(body)).not.toContain('secret');
  expect(logs.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { request: 'GET /jobs', error: 'TypeError: secret of the inside' } },
  ]);
});

test('a deployment whose parts cannot be made answers 500, and says why in its own errors', async () => {
  const said: unknown[] = [];
  const spy = vi.spyOn(console, 'error').mockImplementation((text) => said.push(text));
  const api = createApi({
    ports: async () => {
      throw new Error('DISPATCH_TAG is not set');
    },
    principalOf: () => CALLERS['ada'],
  });
  const response = await api.request('/jobs');
  spy.mockRestore();
  expect([response.status, JSON.stringify(await response.json())]).toEqual([500, expect.not.stringContaining('DISPATCH_TAG')]);
  expect(said).toEqual([expect.stringContaining('DISPATCH_TAG is not set')]);
});

test('P1.5 a submission whose execution could not be started is 503, and its repeat is the same job', async () => {
  const { ask, ports, system } = await given();
  const start = system.ports.supervisors.start;
  const supervisors = ports.supervisors as { start: typeof start };
  supervisors.start = async () => {
    throw new SupervisorsFailure('throttled');
  };
  const headers = { 'idempotency-key': 'k' };
  expect((await ask('POST', '/jobs', { body: SPEC, headers })).status).toBe(503);
  supervisors.start = start;
  const again = await ask('POST', '/jobs', { body: SPEC, headers });
  expect(again.status).toBe(202);
  expect((await ask('GET', '/jobs')).body['items']).toMatchObject([{ id: again.body['id'] }]);
});

test('GET /health asks nobody', async () => {
  const from = { now: false };
  const { ask } = await given({ store: failing('listJobs', () => new TypeError('no'), from) });
  expect((await ask('GET', '/health?probe=1', { as: '' })).body).toEqual({ status: 'ok' });
});
