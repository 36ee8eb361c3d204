/** Routes about parts of a job: events and their watch, output, checkpoints by listing and by report (contract §11, protocols §8). */
import { describe, expect, test } from 'vitest';
import { issueToken } from '../../lib/checkpoint/token.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { AT_ONCE, type Dispatch, errorsOf, given, KEYS, SPEC, scripted } from './given.ts';

const long = scripted([{ program: { runsSeconds: 3000, publishes: [{ atSeconds: 30, step: 10 }] } }], { checkpoint: {} });
const running = async (over: Parameters<typeof given>[0] = {}) => {
  const dispatch = await given(over);
  const job = await dispatch.submit(long);
  await dispatch.until(job, (status) => status['state'] === 'running');
  return { ...dispatch, job };
};

describe('GET /jobs/{job}/events', () => {
  test('the whole record, in order, and from any version on', async () => {
    const { ask, submit, ended } = await given();
    const job = await submit(SPEC);
    await ended(job);
    const { body } = await ask('GET', `/jobs/${job}/events`);
    const items = body['items'] as { id: string; version: number; event: { type: string } }[];
    expect(items[0]).toMatchObject({ id: `${job}:1:0`, actor: 'user:ada', event: { type: 'job_submitted' } });
    expect(items.at(-1)?.event.type).toBe('job_ended');
    expect(body).toMatchObject({ next: items.at(-1)?.version, more: false, ended: true });
    const rest = (await ask('GET', `/jobs/${job}/events?after=2`)).body['items'] as typeof items;
    expect(rest).toEqual(items.filter((item) => item.version > 2));
    expect((await ask('GET', `/jobs/${job}/events?after=${body['next']}&wait=25`)).body).toMatchObject({ items: [], ended: true });
  });
  test('a watch comes back with the next commit, and after its time with nothing', async () => {
    const { ask, job, clock } = await running();
    const version = Number((await ask('GET', `/jobs/${job}`)).body['version']);
    const nothing = await ask('GET', `/jobs/${job}/events?after=${version}&wait=3`, { seconds: 5 });
    expect(nothing.body).toMatchObject({ items: [], next: version, ended: false });
    const watch = ask('GET', `/jobs/${job}/events?after=${version}&wait=25`, { seconds: 30 });
    await clock.settle();
    await ask('POST', `/jobs/${job}/cancel`);
    const items = (await watch).body['items'] as { version: number; event: { type: string } }[];
    expect(items[0]).toMatchObject({ version: version + 1, event: { type: 'cancel_requested' } });
  });
  test('a version beyond the job’s own is answered at once', async () => {
    const { ask, job } = await running();
    expect((await ask('GET', `/jobs/${job}/events?after=9999&wait=25`)).body).toMatchObject({ items: [], next: 9999 });
  });
  test('at most 5 watches of one principal at once; another’s are its own, and an ended one makes room', async () => {
    const { ask, send, job, clock } = await running();
    const version = (await ask('GET', `/jobs/${job}`)).body['version'];
    const path = `/jobs/${job}/events?after=${version}&wait=20`;
    const open = Array.from({ length: 5 }, () => send('GET', path));
    await clock.settle();
    const sixth = await send('GET', path);
    expect([sixth.status, sixth.body['code'], sixth.headers.get('retry-after')]).toEqual([429, 'request/too_many_watches', '5']);
    expect((await ask('GET', `/jobs/${job}/events?after=${version}`)).status).toBe(200);
    const other = send('GET', path, { as: 'cleo' });
    await clock.advance(21_000);
    expect((await Promise.all([...open, other])).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await ask('GET', path, { seconds: 25 })).status).toBe(200);
  });
  test('a caller that is gone is not waited for', async () => {
    const { send, ask, job, clock, ports } = await running();
    const version = (await ask('GET', `/jobs/${job}`)).body['version'];
    const gone = new AbortController();
    const watch = send('GET', `/jobs/${job}/events?after=${version}&wait=25`, { signal: gone.signal });
    await clock.settle();
    gone.abort();
    const from = ports.now();
    for (let i = 0; i < 3; i++) await clock.advance(1000);
    await watch;
    expect(ports.now() - from).toBeLessThanOrEqual(3000);
  });
});

describe('GET /jobs/{job}/attempts/{attempt}/output', () => {
  const output = (dispatch: Dispatch, job: string, query = '') => dispatch.ask('GET', `/jobs/${job}/attempts/1/output${query}`);
  test('a piece, the next one from its end, and the whole is what was written', async () => {
    const dispatch = await running();
    const { job, clock } = dispatch;
    await clock.advance(150_000);
    const whole = String((await output(dispatch, job)).body['text']);
    expect(whole).toMatch(/^\.{59}\n\.{59}\n\.+$/);
    const first = (await output(dispatch, job, '?limit=70')).body;
    const second = (await output(dispatch, job, `?offset=${first['nextOffset']}&limit=1000`)).body;
    expect(`${first['text']}${second['text']}`).toBe(whole);
    expect((await output(dispatch, job, '?stream=stderr')).body).toMatchObject({ text: '', totalBytes: 0, run: 0 });
    expect((await output(dispatch, job, '?offset=99999')).body).toMatchObject({ text: '', nextOffset: 99999 });
  });
  test('what is not there is said: no attempt, no output yet, a cluster that does not answer', async () => {
    const dispatch = await running();
    const { ask, job, world } = dispatch;
    expect((await ask('GET', `/jobs/${job}/attempts/2/output`)).body['code']).toBe('attempt/unknown');
    expect((await output(dispatch, job, '?run=7')).body['code']).toBe('output/none');
    world.unreachable(true);
    expect((await output(dispatch, job)).status).toBe(503);
  });
  test('a piece never ends within a character, so pieces put together are the text', async () => {
    const text = 'aä€😀z'.repeat(20);
    const bytes = new TextEncoder().encode(text);
    const dispatch = await given({
      clusters: (here) => [
        {
          ...here,
          adapter: {
            ...here.adapter,
            connect: async (login) => ({
              ...(await here.adapter.connect(login)),
              output: async ({ offset, limit }) => ({
                kind: 'piece',
                bytes: bytes.slice(offset, offset + limit),
                totalBytes: bytes.length,
              }),
            }),
          },
        },
      ],
    });
    const job = await dispatch.submit(SPEC);
    await dispatch.ended(job);
    for (const limit of [4, 5, 7, 11]) {
      let [read, at] = ['', 0];
      while (at < bytes.length) {
        const { body } = await output(dispatch, job, `?offset=${at}&limit=${limit}`);
        read += String(body['text']);
        expect(Number(body['nextOffset'])).toBeGreaterThan(at);
        at = Number(body['nextOffset']);
      }
      expect(read).toBe(text);
    }
  });
});

describe('checkpoints', () => {
  const publish = (dispatch: Dispatch, job: string, body: unknown, token = issueToken(KEYS, job, 1)) =>
    dispatch.ask('POST', `/jobs/${job}/checkpoints`, { as: '', headers: { authorization: `Bearer ${token}` }, body });
  const report = (step: number, over: Readonly<Record<string, unknown>> = {}) => ({
    epoch: epochOf(1, 0),
    step,
    path: `exec/1-0/step-${step}`,
    size: 4096,
    ...over,
  });

  test('P8.1 a report is shown and counts as a report until a listing saw its marker', async () => {
    const dispatch = await running();
    const { ask, job, clock } = dispatch;
    expect((await publish(dispatch, job, report(10))).body).toEqual({ recorded: true });
    expect((await ask('GET', `/jobs/${job}`)).body['checkpoint']).toMatchObject({ trainingStep: 10, source: 'reported' });
    expect((await ask('GET', `/jobs/${job}/checkpoints`)).body).toMatchObject({
      refreshed: false,
      items: [{ attempt: 1, run: 0, trainingStep: 10, standing: 'reported', latest: false, sizeBytes: 4096 }],
    });
    expect((await ask('GET', `/jobs/${job}/checkpoints/latest`)).body['code']).toBe('checkpoint/none');
    await clock.advance(60_000);
    expect((await ask('GET', `/jobs/${job}/checkpoints?refresh=true`)).body).toMatchObject({
      refreshed: true,
      items: [{ trainingStep: 10, standing: 'eligible', latest: true, sizeBytes: 4096 }],
    });
    expect((await ask('GET', `/jobs/${job}/checkpoints/latest?refresh=true`)).body).toMatchObject({ trainingStep: 10, latest: true });
  });
  test('a report that is repeated is told so, and recorded once', async () => {
    const dispatch = await running();
    const { job, ask } = dispatch;
    await publish(dispatch, job, report(10));
    const again = await publish(dispatch, job, report(10));
    expect([again.status, again.body['code']]).toEqual([409, 'checkpoint/exists']);
    const all = Promise.all([publish(dispatch, job, report(20)), publish(dispatch, job, report(20))]);
    await dispatch.clock.advance(1000);
    const both = await all;
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409]);
    const events = (await ask('GET', `/jobs/${job}/events`)).body['items'] as { event: { type: string } }[];
    expect(events.filter(({ event }) => event.type === 'checkpoint_published')).toHaveLength(2);
  });
  test('P6.2 what an earlier attempt reports after a later one was given its point is late, and noted once', async () => {
    const script = [{ program: { runsSeconds: 60, ends: 'preempted' } }, { program: { runsSeconds: 3000 } }];
    const rules = [{ on: ['preempted'], do: { relaunch: { max: 3, backoff: AT_ONCE, from: 'checkpoint' } } }];
    const dispatch = await given();
    const job = await dispatch.submit(scripted(script, { checkpoint: {}, policy: { ...SPEC.policy, rules } }));
    await dispatch.until(job, (status) => (status['attempts'] as unknown[]).length === 2 && status['state'] === 'running');
    for (const step of [30, 40]) {
      const late = await publish(dispatch, job, report(step));
      expect([late.status, late.body['code']]).toEqual([409, 'checkpoint/late']);
    }
    const events = (await dispatch.ask('GET', `/jobs/${job}/events`)).body['items'] as { event: { type: string; late?: boolean } }[];
    expect(events.filter(({ event }) => event.late)).toHaveLength(1);
    expect((await dispatch.ask('GET', `/jobs/${job}/checkpoints`)).body['items']).toMatchObject([
      { trainingStep: 30, standing: 'late', latest: false },
    ]);
  });
  test('contract §13 after the end of its job, every report is late', async () => {
    const dispatch = await running();
    await dispatch.ask('POST', `/jobs/${dispatch.job}/cancel`);
    await dispatch.ended(dispatch.job);
    expect((await publish(dispatch, dispatch.job, report(10))).body['code']).toBe('checkpoint/late');
  });
  test('a token speaks for its own attempt of its own job, and no caller’s sign-in replaces it', async () => {
    const dispatch = await running();
    const { job, ask } = dispatch;
    const other = await dispatch.submit(SPEC);
    const wrong = [
      issueToken(KEYS, other, 1),
      issueToken([{ id: 'k1', secret: new Uint8Array(32).fill(8) }], job, 1),
      issueToken(KEYS, job, 7),
      'op',
      '',
    ];
    for (const token of wrong) expect((await publish(dispatch, job, report(10), token)).body['code']).toBe('auth/bad_token');
    expect((await ask('POST', '/jobs/0000000000000000/checkpoints', { as: 'op', body: report(10) })).status).toBe(401);
    const foreign = await publish(dispatch, job, report(10, { epoch: epochOf(2, 0) }));
    expect([foreign.status, foreign.body['code'], errorsOf(foreign)[0]?.path]).toEqual([400, 'checkpoint/invalid', 'path']);
    expect((await publish(dispatch, job, report(10, { path: '../../etc' }))).body['code']).toBe('request/invalid');
  });
  test('the list comes in pages, the greatest first', async () => {
    const dispatch = await running();
    const { job, ask } = dispatch;
    for (const step of [10, 20, 30]) await publish(dispatch, job, report(step));
    const first = (await ask('GET', `/jobs/${job}/checkpoints?limit=2`)).body;
    expect(first).toMatchObject({ items: [{ trainingStep: 30 }, { trainingStep: 20 }], nextCursor: '2' });
    const second = (await ask('GET', `/jobs/${job}/checkpoints?limit=2&cursor=${first['nextCursor']}`)).body;
    expect(second).toMatchObject({ items: [{ trainingStep: 10 }] });
    expect('nextCursor' in second).toBe(false);
  });
  test('a listing that cannot be made is no listing', async () => {
    const { ask, job, world } = await running();
    world.faults.pubUnreadable = true;
    expect((await ask('GET', `/jobs/${job}/checkpoints?refresh=true`)).status).toBe(503);
  });
});
