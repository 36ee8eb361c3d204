/** Routes for people: questions of jobs and clusters, their tokens and answers; clusters, their record and their preflight. */
import { describe, expect, test } from 'vitest';
import { given, SPEC, scripted } from './given.ts';

const failing = scripted([{ program: { ends: { exit: 3 } } }], { policy: { ...SPEC.policy, unmatched: 'escalate' } });
const asking = async () => {
  const dispatch = await given();
  const job = await dispatch.submit(failing);
  await dispatch.until(job, (status) => status['state'] === 'awaiting');
  return { ...dispatch, job };
};

describe('escalations of jobs', () => {
  test('an open question is listed with what it asks and where it is answered; an answer closes it', async () => {
    const { ask, job, ended } = await asking();
    const { body } = await ask('GET', '/escalations');
    expect(body['items']).toMatchObject([
      {
        id: 'q1',
        job,
        name: 'train',
        project: 'vision',
        attempt: 1,
        cluster: 'here',
        kind: 'unmatched_outcome',
        blocks: true,
        onExpiry: 'stop',
      },
    ]);
    const { answerAt } = (body['items'] as { answerAt: string }[])[0]!;
    const answered = await ask('POST', answerAt, { body: { answer: 'relaunch' } });
    expect([answered.status, answered.body['state']]).toEqual([200, 'recovering']);
    expect(answered.body['why']).toBe("Attempt 1 exited with 3: the answer 'relaunch' to q1 relaunches it from checkpoint, at once.");
    const second = await ask('POST', answerAt, { body: { answer: 'stop' } });
    expect([second.status, second.body['code']]).toEqual([409, 'escalation/closed']);
    expect((await ask('GET', '/escalations')).body['items']).toEqual([]);
    expect((await ended(job))['why']).toContain('relaunch');
  });
  test('of 8 answers at once one wins, and the others are told that it is closed', async () => {
    const { send, job, clock } = await asking();
    const all = Array.from({ length: 8 }, () => send('POST', `/jobs/${job}/escalations/q1/answer`, { body: { answer: 'stop' } }));
    await clock.advance(10_000);
    const answers = await Promise.all(all);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    const winner = answers.find((answer) => answer.status === 200);
    expect(winner?.body['why']).toBe("Attempt 1 exited with 3; q1 was answered 'stop': the job ends.");
  });
  test('P2.6 the token is given to who may answer, answers by the machine, and is in no other answer', async () => {
    const { ask, job, system, ended } = await asking();
    const path = `/jobs/${job}/escalations/q1/token`;
    const { status, body, headers } = await ask('GET', path);
    expect([status, body['question'], headers.get('cache-control')]).toEqual([200, 'q1', 'no-store']);
    const token = String(body['token']);
    for (const other of [`/jobs/${job}`, `/jobs/${job}/events`, '/escalations', '/jobs'])
      expect(JSON.stringify((await ask('GET', other)).body)).not.toContain(token);
    system.engine.sendTaskSuccess(token, JSON.stringify({ answer: 'accept_success' }));
    expect((await ended(job))['state']).toBe('succeeded');
    expect((await ask('GET', path)).body['code']).toBe('escalation/closed');
    expect((await ask('GET', `/jobs/${job}/escalations/q7/token`)).body['code']).toBe('escalation/unknown');
  });
  test('what blocks nothing is listed apart, and has no token', async () => {
    const { ask, submit, until, world } = await given();
    const job = await submit(scripted([{ queueSeconds: 7200 }]));
    const { attempt } = (await until(job, (status) => status['state'] === 'queued')) as unknown as {
      attempt: { receipt: { schedulerId: string } };
    };
    world.foreign.hold(attempt.receipt.schedulerId);
    await until(job, () => false, 1800).catch(() => undefined);
    expect((await ask('GET', '/escalations')).body['items']).toEqual([]);
    const items = (await ask('GET', '/escalations?blocking=false')).body['items'] as { id: string; kind: string; blocks: boolean }[];
    expect(items[0]).toMatchObject({ blocks: false, job });
    const token = await ask('GET', `/jobs/${job}/escalations/${items[0]!.id}/token`);
    expect([token.status, token.body['code']]).toEqual([409, 'escalation/no_token']);
  });
});

describe('clusters', () => {
  test('listed with state and logins; one with what a probe found, and the evidence', async () => {
    const { ask, clock } = await given();
    // A cluster without jobs is looked at by every fifth poll.
    await clock.advance(30_000);
    const { body } = await ask('GET', '/clusters');
    expect(body['items']).toMatchObject([
      { id: 'here', kind: 'memory', state: 'reachable', logins: [{ id: 'default', allowed: true, answeredAt: expect.any(String) }] },
    ]);
    const one = (await ask('GET', '/clusters/here')).body as unknown as {
      logins: { probe: { capabilities: Record<string, { support: string; evidence: string }> } }[];
    };
    expect(one.logins[0]?.probe.capabilities['gate']).toMatchObject({ support: 'yes', evidence: expect.stringMatching(/./) });
  });
  test('POST preflight is 202, and what it finds is in the record', async () => {
    const { ask, clock } = await given();
    const started = await ask('POST', '/clusters/here/preflight', { as: 'op' });
    expect([started.status, started.body['logins']]).toEqual([202, ['default']]);
    await clock.advance(5000);
    const events = (await ask('GET', String(started.headers.get('location')))).body['items'];
    expect(events).toMatchObject([{ event: { type: 'cluster_probed', by: 'hand' } }]);
    const other = await ask('POST', '/clusters/here/preflight', { as: 'op', body: { login: 'other' } });
    expect([other.status, other.body['detail']]).toEqual([400, 'login: is no login of this cluster; one of default']);
    expect((await ask('POST', '/clusters/nowhere/preflight', { as: 'op' })).status).toBe(404);
  });
  test('one question per outage; block_submissions refuses jobs with 503 until the cluster answers again', async () => {
    const { ask, clock, world } = await given();
    world.unreachable(true);
    for (let hour = 0; hour < 7; hour++) await clock.advance(3_600_000);
    const items = (await ask('GET', '/escalations?blocking=false')).body['items'] as { kind: string; answerAt: string }[];
    expect(items.map(({ kind }) => kind)).toEqual(['cluster_unreachable']);
    const bad = await ask('POST', items[0]!.answerAt, { as: 'op', body: { answer: 'stop' } });
    expect(bad.body['code']).toBe('request/invalid');
    const blocked = await ask('POST', items[0]!.answerAt, { as: 'op', body: { answer: 'block_submissions' } });
    expect([blocked.status, String(blocked.body['blocked'])]).toEqual([200, expect.stringContaining('blocked')]);
    expect((await ask('POST', items[0]!.answerAt, { as: 'op', body: { answer: 'wait' } })).body['code']).toBe('escalation/closed');
    expect((await ask('POST', '/clusters/here/escalations/q9/answer', { as: 'op', body: { answer: 'wait' } })).status).toBe(404);
    const refused = await ask('POST', '/jobs', { body: SPEC });
    expect([refused.status, refused.body['code'], refused.headers.get('retry-after')]).toEqual([503, 'cluster/blocked', '300']);
    world.unreachable(false);
    await clock.advance(60_000);
    expect((await ask('POST', '/jobs', { body: SPEC })).status).toBe(202);
  });
});
