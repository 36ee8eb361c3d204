/** Routes about jobs (contract §11): what each answers, to whom, and what it leaves behind. */
import { describe, expect, test } from 'vitest';
import { AT_ONCE, errorsOf, given, SPEC, START_MS, scripted } from './given.ts';

describe('POST /plans', () => {
  test('given a sound spec, then the plan, kept under its digest', async () => {
    const { ask, ports, writes } = await given();
    const before = writes.length;
    const { status, body } = await ask('POST', '/plans', { body: SPEC });
    expect([status, body['refusals']]).toEqual([200, []]);
    expect(writes.slice(before)).toEqual(['putPlan']);
    expect(JSON.parse((await ports.store.getPlan(String(body['digest']), START_MS))!)).toEqual(body);
  });
  test('given a spec that the cluster cannot run, then a plan with its refusals', async () => {
    const { ask } = await given({ clusters: (here) => [{ ...here, readOnly: true }] });
    const { status, body } = await ask('POST', '/plans', { body: SPEC });
    expect([status, (body['refusals'] as unknown[]).length > 0]).toEqual([200, true]);
  });
});

describe('POST /jobs', () => {
  test('given a sound spec, then 202 with its status, place and ETag', async () => {
    const { ask } = await given();
    const { status, body, headers } = await ask('POST', '/jobs', { body: SPEC });
    expect([status, body['owner'], body['project'], body['state']]).toEqual([202, 'ada', 'vision', 'pending']);
    expect([headers.get('location'), headers.get('etag')]).toEqual([`/jobs/${body['id']}`, '"1"']);
  });
  test('P1.5 given the same key again, then the same job, whatever has changed', async () => {
    const { ask, submit } = await given({ limits: { maxActiveJobs: 1 } });
    const headers = { 'idempotency-key': 'k-1' };
    const job = await submit(SPEC, { headers });
    // The project is full by now, and the plan that is named is not this one: it was accepted before.
    const again = await ask('POST', `/jobs?plan=${'0'.repeat(64)}`, { body: SPEC, headers });
    expect([again.status, again.body['id']]).toEqual([202, job]);
  });
  test('P1.5 given the same key with another spec, then 422', async () => {
    const { ask, submit } = await given();
    const headers = { 'idempotency-key': 'k-1' };
    const job = await submit(SPEC, { headers });
    const other = await ask('POST', '/jobs', { body: { ...SPEC, name: 'other' }, headers });
    expect([other.status, other.body['code']]).toEqual([422, 'request/key_reused']);
    expect(other.body['detail']).toContain(job);
  });
  test('given no key, then every request is a job of its own', async () => {
    const { submit } = await given();
    expect(await submit(SPEC)).not.toBe(await submit(SPEC));
  });
  test('contract §6 given the digest that was read, then accepted; given another, 409 with both plans', async () => {
    const { ask } = await given();
    const plan = (await ask('POST', '/plans', { body: SPEC })).body;
    const other = (await ask('POST', '/plans', { body: { ...SPEC, timeLimit: '2h' } })).body;
    expect((await ask('POST', `/jobs?plan=${plan['digest']}`, { body: SPEC })).status).toBe(202);
    const changed = await ask('POST', `/jobs?plan=${other['digest']}`, { body: SPEC });
    expect([changed.status, changed.body['code']]).toEqual([409, 'plan/changed']);
    expect(changed.body['now']).toMatchObject({ digest: plan['digest'] });
    expect(changed.body['read']).toMatchObject({ digest: other['digest'] });
    const unread = await ask('POST', `/jobs?plan=${'0'.repeat(64)}`, { body: SPEC });
    expect([unread.status, 'read' in unread.body]).toEqual([409, false]);
  });
  test('contract §6 a plan with a refusal cannot be submitted', async () => {
    const { ask, writes } = await given({ clusters: (here) => [{ ...here, readOnly: true }] });
    await ask('POST', '/plans', { body: SPEC });
    const before = writes.length;
    const { status, body } = await ask('POST', '/jobs', { body: SPEC });
    expect([status, body['code'], writes.slice(before)]).toEqual([422, 'plan/refused', []]);
    expect((body['plan'] as { refusals: unknown[] }).refusals.length).toBeGreaterThan(0);
  });
  test('contract §11 a login is for those that it allows; no login, 403', async () => {
    const logins = [
      { id: 'mine', user: 'm', allow: ['bob'] },
      { id: 'default', user: 'd', allow: ['vision'] },
    ];
    const { ask, submit, ports } = await given({ clusters: (here) => [{ ...here, logins }] });
    const job = await submit(SPEC);
    expect((await ports.store.readHead(job))?.summary.login).toBe('default');
    const refused = await ask('POST', '/jobs', { body: SPEC, as: 'eve' });
    expect([refused.status, refused.body['code']]).toEqual([403, 'cluster/no_login']);
    expect((await ask('POST', '/plans', { body: { ...SPEC, login: 'mine' } })).status).toBe(403);
  });
  test('contract §11 a project is one of the caller’s own, or for an operator any', async () => {
    const { ask } = await given();
    const foreign = await ask('POST', '/jobs', { body: { ...SPEC, project: 'speech' } });
    expect([foreign.status, foreign.body['code']]).toEqual([403, 'auth/foreign_project']);
    expect((await ask('POST', '/jobs', { body: { ...SPEC, project: 'speech' }, as: 'op' })).body['project']).toBe('speech');
    expect((await ask('POST', '/jobs', { body: SPEC, as: 'eve' })).body['project']).toBe('default');
  });
  test('contract §11 beyond maxActiveJobs of a project, 429; another project is not concerned', async () => {
    const { ask, submit, ended } = await given({ limits: { maxActiveJobs: 2 } });
    const first = await submit(SPEC);
    await submit(SPEC);
    const third = await ask('POST', '/jobs', { body: SPEC });
    expect([third.status, third.body['code'], third.headers.get('retry-after')]).toEqual([429, 'project/too_many_jobs', '60']);
    await submit(SPEC, { as: 'bob' });
    await ended(first);
    await submit(SPEC);
  });
});

describe('GET /jobs/{job}', () => {
  test('the status says why a job was restarted, by which rule, from where', async () => {
    const script = [
      { program: { runsSeconds: 60, publishes: [{ atSeconds: 20, step: 100 }], ends: 'preempted' } },
      { program: { runsSeconds: 600, publishes: [{ atSeconds: 300, step: 50 }] } },
    ];
    const rules = [{ on: ['preempted'], do: { relaunch: { max: 3, backoff: AT_ONCE, from: 'checkpoint' } } }];
    const { submit, until, ended } = await given();
    const job = await submit(scripted(script, { checkpoint: {}, policy: { ...SPEC.policy, rules } }));
    const running = await until(
      job,
      (status) => (status['attempt'] as { n: number; state: string } | undefined)?.n === 2 && status['state'] === 'running',
    );
    expect(running['why']).toContain('preempted');
    expect(running['why']).toContain('rule 0');
    expect(running['resumedFrom']).toEqual({ attempt: 1, trainingStep: 100, path: 'exec/1-0/step-100' });
    expect(running['checkpoint']).toMatchObject({ trainingStep: 100, source: 'listed' });
    expect(running['attempt']).toMatchObject({ n: 2, stale: false });
    expect(running['attempts']).toMatchObject([
      { n: 1, outcome: expect.stringContaining('preempted'), decision: expect.stringContaining('rule 0') },
      { n: 2 },
    ]);
    const done = await ended(job);
    expect([done['state'], (done['outcome'] as { cause: string }).cause]).toEqual(['succeeded', 'completed']);
  });
  test('while its cluster does not answer, the attempt is stale, the state what it was, and why says it', async () => {
    const { submit, until, world, clock } = await given();
    const job = await submit(scripted([{ program: { runsSeconds: 7200 } }]));
    await until(job, (status) => status['state'] === 'running');
    world.unreachable(true);
    await clock.advance(1_200_000);
    const status = await until(job, () => true);
    expect(status).toMatchObject({ state: 'running', attempt: { stale: true }, clusterState: 'unreachable' });
    expect(status['why']).toContain('has not answered');
  });
  test('ETag is the version', async () => {
    const { submit, ask, ended } = await given();
    const job = await submit(SPEC);
    await ended(job);
    const { headers, body } = await ask('GET', `/jobs/${job}`);
    expect(headers.get('etag')).toBe(`"${body['version']}"`);
  });
});

describe('projects', () => {
  test('a job of another project does not exist, whatever is asked of it; its owner and operators see it', async () => {
    const { submit, ask, until } = await given();
    const job = await submit(scripted([{ program: { ends: { exit: 3 } } }], { policy: { ...SPEC.policy, unmatched: 'escalate' } }));
    await until(job, (status) => status['state'] === 'awaiting');
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `/jobs/${job}`],
      ['GET', `/jobs/${job}/events`],
      ['GET', `/jobs/${job}/attempts/1/output`],
      ['GET', `/jobs/${job}/checkpoints`],
      ['GET', `/jobs/${job}/checkpoints/latest`],
      ['GET', `/jobs/${job}/escalations/q1/token`],
      ['POST', `/jobs/${job}/cancel`],
      ['POST', `/jobs/${job}/escalations/q1/answer`, { answer: 'stop' }],
    ];
    for (const [method, path, body] of asked) {
      const answer = await ask(method, path, { as: 'bob', ...(body === undefined ? {} : { body }) });
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'job/unknown']);
    }
    expect((await ask('GET', '/jobs', { as: 'bob' })).body['items']).toEqual([]);
    expect((await ask('GET', '/escalations', { as: 'bob' })).body['items']).toEqual([]);
    expect((await ask('GET', `/jobs/${job}`, { as: 'cleo' })).status).toBe(200);
    expect((await ask('GET', `/jobs/${job}`, { as: 'op' })).status).toBe(200);
  });
  test.each([
    ['POST', '/plans', 'cleo', 'submit'],
    ['POST', '/jobs', 'cleo', 'submit'],
    ['POST', '/observed-jobs', 'cleo', 'submit'],
    ['POST', '/jobs/0000000000000000/cancel', 'cleo', 'cancel'],
    ['POST', '/jobs/0000000000000000/escalations/q1/answer', 'cleo', 'answer'],
    ['GET', '/jobs/0000000000000000/escalations/q1/token', 'cleo', 'answer'],
    ['POST', '/clusters/here/preflight', 'ada', 'operate'],
    ['POST', '/clusters/here/escalations/q1/answer', 'ada', 'operate'],
  ])('%s %s without the scope is 403, before anything of the request is judged', async (method, path, as, scope) => {
    const { ask, writes } = await given();
    const before = writes.length;
    const { status, body } = await ask(method, path, { as, ...(method === 'POST' ? { text: '{' } : {}) });
    expect([status, body['code'], writes.slice(before)]).toEqual([403, 'auth/missing_scope', []]);
    expect(body['detail']).toContain(`'${scope}'`);
  });
  test('nobody is 401, and told how to sign in', async () => {
    const { ask } = await given();
    const { status, headers } = await ask('GET', '/jobs', { as: '' });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });
});

describe('GET /jobs', () => {
  test('lists newest first, in pages, and each filter keeps what it names', async () => {
    const { ask, submit, ended, clock } = await given();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const jobs: string[] = [];
    for (const name of names) {
      const script = name === 'b' ? [{ program: { ends: { exit: 3 } } }] : [];
      jobs.push(await submit(scripted(script, { name, labels: { team: name < 'c' ? 'x' : 'y' } })));
      await clock.advance(1000);
    }
    for (const job of jobs) await ended(job);
    await submit(SPEC, { as: 'bob' });
    const list = async (query: string, as = 'ada') => {
      const found: string[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < 20; pages++) {
        const { status, body } = await ask('GET', `/jobs?${query}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`, {
          as,
        });
        expect(status).toBe(200);
        found.push(...(body['items'] as { name: string }[]).map((row) => row.name));
        cursor = body['nextCursor'] as string | undefined;
        if (cursor === undefined) return found;
      }
      throw new Error('the list has no end');
    };
    expect(await list('limit=2')).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await list('')).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await list('', 'op')).toEqual(['train', 'e', 'd', 'c', 'b', 'a']);
    expect(await list('state=failed')).toEqual(['b']);
    expect(await list('cause=exited&limit=1')).toEqual(['b']);
    expect(await list('label=team=x')).toEqual(['b', 'a']);
    expect(await list('label=team%3Dx&state=succeeded')).toEqual(['a']);
    expect(await list('cluster=here&limit=3')).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await list('cluster=there')).toEqual([]);
    expect(await list('project=vision', 'op')).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await list('project=speech')).toEqual([]);
  });
});

describe('POST /jobs/{job}/cancel', () => {
  test('202, and 200 when it is so already or has ended', async () => {
    const { ask, submit, ended } = await given();
    const job = await submit(scripted([{ program: { runsSeconds: 3000 } }]));
    const first = await ask('POST', `/jobs/${job}/cancel`, { body: { reason: 'no longer wanted' } });
    expect([first.status, first.body['state']]).toEqual([202, 'cancelling']);
    expect((await ask('POST', `/jobs/${job}/cancel`)).status).toBe(200);
    await ended(job);
    const late = await ask('POST', `/jobs/${job}/cancel`);
    expect([late.status, late.body['state']]).toEqual([200, 'cancelled']);
  });
  test('If-Match of another version is 412 and cancels nothing; of this one, or *, it does', async () => {
    const { ask, submit, until } = await given();
    const job = await submit(scripted([{ program: { runsSeconds: 3000 } }]));
    await until(job, (status) => status['state'] === 'running');
    const { headers } = await ask('GET', `/jobs/${job}`);
    const stale = await ask('POST', `/jobs/${job}/cancel`, { headers: { 'if-match': '"1"' } });
    expect([stale.status, stale.body['code'], stale.headers.get('etag')]).toEqual([412, 'job/changed', headers.get('etag')]);
    expect((await ask('GET', `/jobs/${job}`)).body['state']).toBe('running');
    expect((await ask('POST', `/jobs/${job}/cancel`, { headers: { 'if-match': headers.get('etag')! } })).status).toBe(202);
    const other = await submit(SPEC);
    expect((await ask('POST', `/jobs/${other}/cancel`, { headers: { 'if-match': '*' } })).status).toBe(202);
  });
});

describe('POST /observed-jobs', () => {
  test('contract §7 what somebody else submitted is watched, reported, and never acted upon', async () => {
    const { ask, world, ended } = await given();
    const id = world.foreign.submit({ name: 'nightly', login: 'default', script: [{ program: { runsSeconds: 60 } }] })!;
    const body = { cluster: 'here', schedulerId: id };
    const adopted = await ask('POST', '/observed-jobs', { body });
    expect([adopted.status, adopted.body['name'], adopted.body['project']]).toEqual([202, 'nightly', 'vision']);
    const job = String(adopted.body['id']);
    expect((await ask('POST', '/observed-jobs', { body })).body['id']).toBe(job);
    const cancelled = await ask('POST', `/jobs/${job}/cancel`);
    expect([cancelled.status, cancelled.body['code']]).toEqual([409, 'job/observe_only']);
    expect((await ask('GET', `/jobs/${job}/checkpoints?refresh=true`)).status).toBe(409);
    expect(await ended(job)).toMatchObject({ state: 'succeeded', outcome: { cause: 'completed' } });
  });
  test.each([
    [{ cluster: 'nowhere', schedulerId: '1' }, 404, 'cluster/unknown'],
    [{ cluster: 'here', schedulerId: '99999' }, 404, 'job/unknown'],
    [{ cluster: 'here', schedulerId: '1', project: 'speech' }, 403, 'auth/foreign_project'],
    [{ cluster: 'here', login: 'other', schedulerId: '1' }, 403, 'cluster/no_login'],
  ])('%j is %i %s', async (body, status, code) => {
    const { ask } = await given();
    const answer = await ask('POST', '/observed-jobs', { body });
    expect([answer.status, answer.body['code']]).toEqual([status, code]);
  });
  test('where the adapter has no such verb, 409, and an unreachable cluster is 503', async () => {
    const without = await given({
      clusters: (here) => [
        {
          ...here,
          adapter: {
            ...here.adapter,
            connect: async (login) => {
              const { adopt: _, output: __, ...session } = await here.adapter.connect(login);
              return session;
            },
          },
        },
      ],
    });
    const body = { cluster: 'here', schedulerId: '1' };
    expect((await without.ask('POST', '/observed-jobs', { body })).body['code']).toBe('cluster/unsupported');
    const job = await without.submit(SPEC);
    await without.ended(job);
    expect((await without.ask('GET', `/jobs/${job}/attempts/1/output`)).body['code']).toBe('cluster/unsupported');
    const down = await given();
    down.world.unreachable(true);
    const { status, headers } = await down.ask('POST', '/observed-jobs', { body, seconds: 30 });
    expect([status, headers.get('retry-after')]).toEqual([503, '60']);
  });
  test('an object of dispatch’s own is watched by its own job', async () => {
    const { ask, submit, until } = await given();
    const job = await submit(scripted([{ program: { runsSeconds: 600 } }]));
    const { attempt } = (await until(job, (status) => status['state'] === 'running')) as unknown as {
      attempt: { receipt: { schedulerId: string } };
    };
    const { status, body } = await ask('POST', '/observed-jobs', { body: { cluster: 'here', schedulerId: attempt.receipt.schedulerId } });
    expect([status, body['code']]).toEqual([409, 'cluster/unsupported']);
  });
});

test('a spec that is refused names each fault where it is', async () => {
  const { ask } = await given();
  const answer = await ask('POST', '/jobs', { body: { ...SPEC, timelimit: '1h', resources: { nodes: 0 } } });
  expect(errorsOf(answer).map(({ path, code, in: where }) => [where, path, code])).toEqual([
    ['body', 'timelimit', 'unknown_key'],
    ['body', 'resources.nodes', 'out_of_range'],
  ]);
});
