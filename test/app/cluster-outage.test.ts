/** Outages under virtual time: one question per cluster whatever the number of jobs, and no job's state changes by them (P5.4). */
import { describe, expect, it } from 'vitest';
import { answerClusterQuestion } from '../../lib/app/cluster/answer.ts';
import { reconcile } from '../../lib/app/reconcile.ts';
import { openClusterQuestions } from '../../lib/job/cluster-view.ts';
import { CLUSTER, cluster, HOUR, since } from './cluster-world.ts';

const RUNS_LONG = [{ program: { runsSeconds: 10 * HOUR } }];

describe('an outage of 7 h with 50 jobs', () => {
  it('P5.4: keeps every state, ends nothing, wakes nobody, asks once after 6 h, and its end withdraws the question', async () => {
    const lab = await cluster();
    const jobs = await lab.submit(50, RUNS_LONG);
    await lab.advance(600);
    const before = await Promise.all(jobs.map(async (id) => ({ id, ...(await lab.told(id)), version: (await lab.job(id)).version })));
    expect(new Set(before.map((one) => one.state))).toEqual(new Set(['running']));

    lab.world.unreachable(true);
    await lab.advance(HOUR);
    expect(await lab.all('cluster_unreachable')).toHaveLength(1);
    expect(openClusterQuestions(await lab.view())).toHaveLength(0);
    await lab.advance(6 * HOUR);
    const questions = await lab.all('escalation_raised');
    expect(questions).toMatchObject([{ id: 'q1', kind: 'cluster_unreachable', onExpiry: 'wait' }]);
    expect(await lab.all('cluster_unreachable')).toHaveLength(1);
    for (const { id, version } of before) expect(await since(lab.store, id, version)).toEqual([]);
    const during = await lab.told(jobs[0]!);
    expect(during).toMatchObject({ state: 'running', clusterState: 'unreachable' });
    expect(during.why).toMatch(/^Attempt 1 is running; cluster lab has not answered since 2030-01-01T00:1\d:.*\.$/);

    lab.world.unreachable(false);
    await lab.advance(120);
    expect(await lab.all('cluster_reachable')).toHaveLength(1);
    expect((await lab.view()).questions).toMatchObject([{ closed: { how: 'withdrawn' } }]);
    expect(await lab.told(jobs[0]!)).not.toHaveProperty('clusterState');
    await lab.advance(4 * HOUR);
    const ended = await Promise.all(jobs.map(lab.told));
    expect(new Set(ended.map((one) => one.state))).toEqual(new Set(['succeeded']));
  });

  it('one look that failed is a hiccup and leaves no trace', async () => {
    const lab = await cluster();
    await lab.submit(1, RUNS_LONG);
    await lab.advance(600);
    for (let i = 0; i < 10; i++) {
      lab.world.faults.next('connect', { kind: 'unreachable' });
      await lab.advance(120);
    }
    expect(await lab.all('cluster_unreachable')).toEqual([]);
  });

  it('a scheduler that does not answer over a good connection is an outage too', async () => {
    const lab = await cluster();
    await lab.submit(1, RUNS_LONG);
    await lab.advance(600);
    lab.world.faults.choose((call) => (call.verb === 'observe' ? { kind: 'request_lost' } : undefined));
    await lab.advance(300);
    expect(await lab.all('cluster_unreachable')).toHaveLength(1);
  });

  it('an outage that no job is there to see is looked at until it ends', async () => {
    const lab = await cluster();
    const [job] = await lab.submit(1, [{ program: { runsSeconds: 1 } }]);
    await lab.advance(600);
    expect((await lab.told(job!)).state).toBe('succeeded');
    lab.world.unreachable(true);
    // The sweep finds it, every fifth poll.
    await lab.advance(900);
    expect(await lab.all('cluster_unreachable')).toHaveLength(1);
    lab.world.unreachable(false);
    await lab.advance(90);
    expect(await lab.all('cluster_reachable')).toHaveLength(1);
  });
});

describe('the question', () => {
  const asked = async () => {
    const lab = await cluster();
    const jobs = await lab.submit(2, [{ program: { runsSeconds: 10 * HOUR } }]);
    await lab.advance(600);
    lab.world.unreachable(true);
    await lab.advance(7 * HOUR);
    return { lab, jobs };
  };
  const answer = (lab: Awaited<ReturnType<typeof cluster>>, given: string, question = 'q1') =>
    answerClusterQuestion(lab.ports, CLUSTER, { question, answer: given, by: 'ada' });

  it('E3: expires after 72 h by its default, whoever comes by, and is asked again 72 h later', async () => {
    const { lab } = await asked();
    await lab.advance(72 * HOUR);
    expect(await lab.all('escalation_expired')).toEqual([{ type: 'escalation_expired', id: 'q1', answer: 'wait' }]);
    await lab.advance(72 * HOUR);
    expect(await lab.all('escalation_raised')).toHaveLength(2);
  });

  it('contract §8: a reconcile raises and expires it without any poll', async () => {
    const lab = await cluster({ configuration: { pollEverySeconds: 1_000_000 } });
    await lab.submit(1, RUNS_LONG);
    lab.world.unreachable(true);
    await lab.ports.store.appendCluster({
      ...{ cluster: CLUSTER, version: (await lab.view()).version + 1, commitId: 'x', at: lab.clock.now(), actor: 'poller:lab', schema: 1 },
      events: [{ type: 'cluster_unreachable', login: 'default', says: 'refused' }],
    });
    await lab.advance(6 * HOUR);
    await reconcile(lab.ports);
    expect(await lab.all('escalation_raised')).toHaveLength(1);
    await lab.advance(73 * HOUR);
    expect(await lab.all('escalation_expired')).toHaveLength(1);
  });

  it('S11: the first answer wins; later, wrong and unknown ones are refused', async () => {
    const { lab } = await asked();
    expect(await answer(lab, 'stop')).toMatchObject({ kind: 'refused', code: 'escalation/not_an_option' });
    expect(await answer(lab, 'wait', 'q7')).toMatchObject({ kind: 'refused', code: 'escalation/unknown' });
    const both = await Promise.all([answer(lab, 'wait'), answer(lab, 'block_submissions'), lab.advance(60)]);
    expect(both.slice(0, 2).map((one) => (one as { kind: string }).kind)).toEqual(['committed', 'refused']);
    expect(await lab.all('escalation_answered')).toEqual([{ type: 'escalation_answered', id: 'q1', answer: 'wait', by: 'ada' }]);
  });

  it('block_submissions holds back what was accepted, says so, and ends with the outage', async () => {
    const { lab } = await asked();
    expect(await answer(lab, 'block_submissions')).toMatchObject({
      kind: 'committed',
      view: { submissionsBlocked: { question: 'q1', by: 'ada' } },
    });
    // Another job gets in nevertheless: its plan was made from the recorded probe.
    const [late] = await lab.submit(1);
    await lab.advance(HOUR);
    const told = await lab.told(late!);
    expect(told.state).toBe('pending');
    expect(told.why).toMatch(/submissions to cluster lab are blocked since .*, as ada answered q1/);
    expect((await lab.job(late!)).attempts).toEqual([]);
    lab.world.unreachable(false);
    await lab.advance(HOUR);
    expect((await lab.view()).submissionsBlocked).toBeUndefined();
    expect((await lab.told(late!)).state).toBe('succeeded');
  });
});
