/** P8.4 over the API: collecting is asked for, tells first, and never takes what may still be needed. */
import { describe, expect, test } from 'vitest';
import { given, scripted } from './given.ts';

const publishes = (steps: readonly number[]) => steps.map((step) => ({ atSeconds: step, step }));
const STEPS = [10, 20, 30, 40, 50];
/** The first attempt fails after its saves; the second goes on from the last of them. */
const again = scripted(
  [
    { program: { runsSeconds: 60, publishes: publishes(STEPS), ends: { exit: 3 } } },
    { program: { runsSeconds: 3000, publishes: publishes([10, 20]) } },
  ],
  {
    checkpoint: {},
    policy: {
      rules: [{ on: ['exited'], do: { relaunch: { max: 3, from: 'checkpoint', backoff: { initial: '0s', factor: 1, max: '1s' } } } }],
      unmatched: 'stop',
      limits: { attempts: 3 },
    },
  },
);

interface Item {
  readonly trainingStep: number;
  readonly attempt: number;
}
const world = async () => {
  const dispatch = await given();
  const job = await dispatch.submit(again);
  await dispatch.until(job, (status) => (status['attempt'] as { n: number; state: string })?.n === 2 && status['state'] === 'running');
  await dispatch.clock.advance(90_000);
  const collect = async (body: unknown, as = 'ada') => dispatch.ask('POST', `/jobs/${job}/checkpoints/collect`, { body, as });
  const steps = async (): Promise<number[]> => {
    const { body } = await dispatch.ask('GET', `/jobs/${job}/checkpoints?refresh=true`);
    return (body['items'] as Item[]).map((one) => one.trainingStep).sort((a, b) => a - b);
  };
  return { ...dispatch, job, collect, steps };
};
const stepsOf = (body: Readonly<Record<string, unknown>>): number[] => (body['items'] as Item[]).map((one) => one.trainingStep);

describe('POST /jobs/{job}/checkpoints/collect', () => {
  test('tells by default, and removes only when told to; what the live run resumed from and writes stays', async () => {
    const { collect, steps } = await world();
    const before = await steps();
    expect(before).toEqual([...STEPS, 60, 70]);
    const told = await collect({ keep: 2 });
    expect(told).toMatchObject({ status: 200, body: { dry: true, left: 0, kept: 3 } });
    // 50 is the live run's base, 60 and 70 lie in its folder.
    expect(stepsOf(told.body)).toEqual([10, 20, 30, 40]);
    expect(await steps()).toEqual(before);
    const done = await collect({ keep: 2, dry: false });
    expect(stepsOf(done.body)).toEqual(stepsOf(told.body));
    expect(done.body).toMatchObject({ dry: false, kept: 3, left: 0 });
    expect(await steps()).toEqual([50, 60, 70]);
    expect((await collect({ keep: 2, dry: false })).body).toMatchObject({ items: [], kept: 3 });
  });

  test('fewer than two can never be kept, and what is no number is refused with its path', async () => {
    const { collect } = await world();
    for (const keep of [1, 0, -1, 2.5, '3', undefined]) {
      const { status, body } = await collect({ keep });
      expect([status, body['code']]).toEqual([400, 'request/invalid']);
      expect(body['errors']).toMatchObject([{ in: 'body', path: 'keep' }]);
    }
  });

  test('it takes the scope to cancel and the job’s project; a job of nobody’s does not exist', async () => {
    const { collect, ask } = await world();
    expect((await collect({ keep: 2 }, 'cleo')).status).toBe(403);
    expect((await collect({ keep: 2 }, 'bob')).body['code']).toBe('job/unknown');
    expect((await ask('POST', '/jobs/0000000000000000/checkpoints/collect', { body: { keep: 2 } })).body['code']).toBe('job/unknown');
  });

  test('what cannot be listed completely is left as it is', async () => {
    const { collect, steps, world: cluster } = await world();
    cluster.faults.pubUnreadable = true;
    expect((await collect({ keep: 2, dry: false })).body['code']).toBe('cluster/unreachable');
    cluster.faults.pubUnreadable = false;
    expect(await steps()).toHaveLength(7);
  });
});
