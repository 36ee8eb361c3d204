/** Bad input: each a problem that names path and fix, and nothing is stored, nor anything of it kept (contract §11, §12). */
import { describe, expect, test } from 'vitest';
import { type Asking, errorsOf, given, SPEC, scripted } from './given.ts';

const deep = (depth: number): string => `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const label = 'x'.repeat(64);
const SECRET = 'hunter2-hunter2';

/** What is sent; the status; where the fault is; its code; what the fix says. */
const REFUSED: readonly (readonly [string, Asking, number, string, string, RegExp])[] = [
  ['a typo in a key', { body: { ...SPEC, timelimit: '1h' } }, 400, 'timelimit', 'unknown_key', /did you mean "timeLimit"/],
  [
    'a typo deep inside',
    { body: { ...SPEC, policy: { ...SPEC.policy, limits: { atempts: 1 } } } },
    400,
    'policy.limits.atempts',
    'unknown_key',
    /attempts/,
  ],
  ['timeLimit forever', { body: { ...SPEC, timeLimit: 'forever' } }, 400, 'timeLimit', 'not_finite', /finite duration such as/],
  ['0 nodes', { body: { ...SPEC, resources: { nodes: 0 } } }, 400, 'resources.nodes', 'out_of_range', /from 1 to/],
  ['an unknown cluster', { body: { ...SPEC, cluster: 'nowhere' } }, 400, 'cluster', 'unknown_value', /one of here/],
  [
    'a reserved variable',
    { body: { ...SPEC, program: { command: ['t'], env: { DISPATCH_JOB: '1' } } } },
    400,
    'program.env.DISPATCH_JOB',
    'reserved',
    /choose another/,
  ],
  ['a label over its limit', { body: { ...SPEC, labels: { team: label } } }, 400, 'labels.team', 'too_long', /at most 63/],
  [
    'an unknown cause in a rule',
    { body: { ...SPEC, policy: { ...SPEC.policy, rules: [{ on: ['preemted'], do: { stop: {} } }] } } },
    400,
    'policy.rules[0].on[0]',
    'unknown_value',
    /did you mean "preempted"/,
  ],
  ['JSON nested 10,000 deep', { text: deep(10_000) }, 400, `name${'[0]'.repeat(32)}`, 'too_deep', /flatten/],
  ['a spec that is a list', { body: [] }, 400, '', 'wrong_type', /write an object/],
  ['a spec that is null', { body: null }, 400, '', 'wrong_type', /write an object/],
  [
    'a name that would change a prototype',
    { text: `{"__proto__": {"name": "x"}, "name": "train"}` },
    400,
    '__proto__',
    'reserved',
    /choose another/,
  ],
];

describe.each(['/plans', '/jobs'])('POST %s', (path) => {
  test.each(REFUSED)('%s', async (_, asking, status, at, code, fix) => {
    const { ask, writes } = await given();
    const before = writes.length;
    const answer = await ask('POST', path, asking);
    expect([answer.status, answer.body['code'], answer.headers.get('content-type')]).toEqual([
      status,
      'request/invalid',
      'application/problem+json',
    ]);
    const fault = errorsOf(answer).find((one) => one.path === at && one.code === code);
    expect(fault, JSON.stringify(errorsOf(answer))).toBeDefined();
    expect(fault?.message).toMatch(fix);
    expect(writes.slice(before)).toEqual([]);
  });

  test.each([
    ['not JSON', { text: '{"name": ' }, 400, 'request/not_json'],
    ['nothing', { text: '' }, 400, 'request/not_json'],
    ['not UTF-8', { text: new Blob([Uint8Array.of(0x22, 0xff, 0x22)]).stream() }, 400, 'request/not_json'],
    ['another type', { body: SPEC, headers: { 'content-type': 'text/yaml' } }, 415, 'request/wrong_type'],
    ['a form', { body: SPEC, headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, 'request/wrong_type'],
    ['JSON of another name', { body: SPEC, headers: { 'content-type': 'application/jsonp' } }, 415, 'request/wrong_type'],
    ['5 MB', { text: `{"name":"${'x'.repeat(5 * 1024 * 1024)}"}` }, 413, 'request/too_large'],
    ['one byte more than 256 KiB', { text: `"${'x'.repeat(256 * 1024 - 1)}"` }, 413, 'request/too_large'],
    ['256 KiB of depth', { text: '['.repeat(256 * 1024) }, 400, 'request/not_json'],
  ] as readonly (readonly [string, Asking, number, string])[])('%s', async (_, asking, status, code) => {
    const { ask, writes } = await given();
    const before = writes.length;
    const answer = await ask('POST', path, asking);
    expect([answer.status, answer.body['code'], writes.slice(before)]).toEqual([status, code, []]);
    expect(answer.body['type']).toBe(`/problems/${code}`);
  });

  test('a body that never ends is left at its limit, whatever its length says', async () => {
    const { ask } = await given();
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    const answer = await ask('POST', path, { text: endless });
    expect([answer.status, answer.body['code']]).toEqual([413, 'request/too_large']);
    expect(pulled).toBeLessThan(12);
  });

  test('a body of exactly 256 KiB is read', async () => {
    const { ask } = await given();
    const answer = await ask('POST', path, { text: `"${'x'.repeat(256 * 1024 - 2)}"` });
    expect([answer.status, answer.body['code']]).toEqual([400, 'request/invalid']);
  });

  test('values of variables and of scripts never come back in a problem', async () => {
    const { ask } = await given();
    const program = { script: `echo ${SECRET}`, command: ['t'], env: { '1PASSWORD': SECRET }, secrets: { T: { ref: 1 } } };
    const answer = await ask('POST', path, { body: { ...SPEC, program } });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });
});

describe('queries, headers and paths', () => {
  test.each([
    ['/jobs?stat=failed', 'stat', 'unknown_key', /did you mean "state"/],
    ['/jobs?state=done', 'state', 'unknown_value', /succeeded/],
    ['/jobs?limit=0', 'limit', 'out_of_range', /at least 1/],
    ['/jobs?limit=101', 'limit', 'out_of_range', /at most 100/],
    ['/jobs?limit=1e1', 'limit', 'wrong_type', /number/],
    ['/jobs?limit=', 'limit', 'wrong_type', /number/],
    ['/jobs?limit=1&limit=2', 'limit', 'conflict', /once/],
    ['/jobs?label=team', 'label', 'malformed', /NAME=VALUE/],
    ['/jobs?cursor=', 'cursor', 'out_of_range', /at least 1/],
    ['/jobs?constructor=1', 'constructor', 'unknown_key', /known: state/],
    ['/jobs?__proto__=1', '__proto__', 'unknown_key', /known: state/],
    ['/escalations?blocking=yes', 'blocking', 'unknown_value', /true, false/],
    ['/jobs/0000000000000000/events?wait=26', 'wait', 'out_of_range', /at most 25/],
    ['/jobs/0000000000000000/events?after=-1', 'after', 'wrong_type', /number/],
    ['/clusters?x=1', 'x', 'unknown_key', /send none/],
  ])('GET %s', async (path, at, code, fix) => {
    const { ask } = await given();
    const answer = await ask('GET', path);
    expect([answer.status, answer.body['code']]).toEqual([400, 'request/invalid']);
    expect(errorsOf(answer)).toMatchObject([{ in: 'query', path: at, code, message: expect.stringMatching(fix) }]);
  });
  test.each([
    ['/jobs', { 'idempotency-key': 'with space' }, 'idempotency-key'],
    ['/jobs', { 'idempotency-key': 'x'.repeat(256) }, 'idempotency-key'],
    ['/jobs/0000000000000000/cancel', { 'if-match': '7' }, 'if-match'],
    ['/jobs/0000000000000000/cancel', { 'if-match': 'W/"7"' }, 'if-match'],
  ])('POST %s with %j', async (path, headers, at) => {
    const { ask, writes } = await given();
    const before = writes.length;
    const answer = await ask('POST', path, { body: {}, headers: headers as Record<string, string> });
    expect(errorsOf(answer)).toMatchObject([{ in: 'header', path: at }]);
    expect(writes.slice(before)).toEqual([]);
  });
  test.each(['tampered', 'of another list', 'made up', 'too long'])(
    'a cursor that was %s is refused, not answered with something else',
    async (how) => {
      const { ask, submit, clock } = await given();
      for (let i = 0; i < 3; i++) {
        await submit(SPEC);
        await clock.advance(1000);
      }
      const cursor = String((await ask('GET', '/jobs?limit=1')).body['nextCursor']);
      const last = cursor.at(-2) === 'A' ? 'B' : 'A';
      const bad: Record<string, string> = {
        tampered: cursor.slice(0, -2) + last + cursor.slice(-1),
        'of another list': cursor,
        'made up': 'aGVsbG8',
        'too long': 'a'.repeat(1025),
      };
      const list = how === 'of another list' ? '/jobs?state=pending&limit=1' : '/jobs?limit=1';
      const answer = await ask('GET', `${list}&cursor=${bad[how]}`);
      expect([answer.status, answer.body['code']]).toEqual([400, how === 'too long' ? 'request/invalid' : 'request/bad_cursor']);
    },
  );
  test.each([
    ['GET', '/nothing', 404, 'request/unknown_route', null],
    ['GET', '/jobs/', 404, 'request/unknown_route', null],
    ['GET', '/jobs/x/y/z', 404, 'request/unknown_route', null],
    ['GET', '/jobs/%E0%A4%A', 404, 'job/unknown', null],
    ['GET', '/jobs/..%2f..%2fetc', 404, 'job/unknown', null],
    ['GET', '/jobs/UPPER', 404, 'job/unknown', null],
    ['GET', '/jobs/0000000000000000', 404, 'job/unknown', null],
    ['GET', '/jobs/0000000000000000/attempts/0/output', 404, 'attempt/unknown', null],
    ['GET', '/jobs/0000000000000000/attempts/one/output', 404, 'attempt/unknown', null],
    ['GET', '/clusters/nowhere', 404, 'cluster/unknown', null],
    ['GET', '/clusters/nowhere/events', 404, 'cluster/unknown', null],
    ['GET', '/clusters/constructor', 404, 'cluster/unknown', null],
    ['DELETE', '/jobs', 405, 'request/wrong_method', 'POST, GET, HEAD'],
    ['PUT', '/jobs/0000000000000000', 405, 'request/wrong_method', 'GET, HEAD'],
    ['OPTIONS', '/jobs/0000000000000000/cancel', 405, 'request/wrong_method', 'POST'],
    ['GET', '/plans', 405, 'request/wrong_method', 'POST'],
  ])('%s %s is %i %s', async (method, path, status, code, allow) => {
    const { ask } = await given();
    const answer = await ask(method, path);
    expect([answer.status, answer.body['code'], answer.headers.get('allow')]).toEqual([status, code, allow]);
  });
});

test('each limit is taken at its edge', async () => {
  const { ask, submit } = await given();
  const labels = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${'k'.repeat(62)}${i}`, 'v'.repeat(63)]));
  const job = await submit({ ...SPEC, labels }, { headers: { 'idempotency-key': 'x'.repeat(255) } });
  for (const query of ['limit=1', 'limit=100', `cluster=${'c'.repeat(63)}`, `label=${'k'.repeat(62)}0=${'v'.repeat(63)}`])
    expect((await ask('GET', `/jobs?${query}`)).status).toBe(200);
  expect((await ask('GET', `/jobs/${job}/events?after=10000&wait=25`)).status).toBe(200);
  expect((await ask('POST', `/jobs/${job}/cancel`, { body: { reason: 'x'.repeat(1024) } })).status).toBe(202);
});

describe('commands', () => {
  test.each([
    [{ reason: 'x'.repeat(1025) }, 'reason', 'too_long'],
    [{ why: 'x' }, 'why', 'unknown_key'],
    [[], '', 'wrong_type'],
    ['no', '', 'wrong_type'],
  ])('POST /jobs/{job}/cancel with %j', async (body, path, code) => {
    const { ask, submit } = await given();
    const job = await submit(SPEC);
    const answer = await ask('POST', `/jobs/${job}/cancel`, { body });
    expect(errorsOf(answer)).toMatchObject([{ in: 'body', path, code }]);
    expect((await ask('GET', `/jobs/${job}`)).body['state']).not.toBe('cancelling');
  });
  test('an answer that is no option of the question is refused with those that are', async () => {
    const { ask, submit, until } = await given();
    const job = await submit(scripted([{ program: { ends: { exit: 3 } } }], { policy: { ...SPEC.policy, unmatched: 'escalate' } }));
    await until(job, (status) => status['state'] === 'awaiting');
    const path = `/jobs/${job}/escalations/q1/answer`;
    const other = await ask('POST', path, { body: { answer: 'block_submissions' } });
    expect([other.status, other.body['code']]).toEqual([400, 'escalation/not_an_option']);
    expect(errorsOf(other)).toMatchObject([{ path: 'answer', message: expect.stringContaining('relaunch_from_scratch') }]);
    const unknown = await ask('POST', path, { body: { answer: 'yes' } });
    expect(errorsOf(unknown)).toMatchObject([{ path: 'answer', code: 'unknown_value', message: expect.stringContaining('stop') }]);
    expect((await ask('POST', `/jobs/${job}/escalations/q9/answer`, { body: { answer: 'stop' } })).status).toBe(404);
  });
});
