/** An end is one commit of at most 300 KB, however often its attempt was put back in its queue (contract §8). */
import { expect, test } from 'vitest';
import { outcomeOf } from '../../lib/job/cause.ts';
import { type EventOf, eventSchema, type Point, SCHEMA } from '../../lib/job/event.ts';
import { epochOf } from '../../lib/job/identity.ts';
import { type Published, runsOf } from '../../lib/job/point.ts';
import { COMMIT_BYTES } from '../../lib/record/port.ts';

const path = 'p'.repeat(250);
const bases = (count: number): Map<number, Point> =>
  new Map(Array.from({ length: count }, (_, run) => [run, { epoch: epochOf(1, Math.max(0, run - 1)), step: run, path }]));
const save = (run: number): Published => ({ epoch: epochOf(1, run), step: run + 1, path });

const end = (runs: EventOf<'attempt_ended'>['runs']): EventOf<'attempt_ended'> => ({
  type: 'attempt_ended',
  n: 1,
  outcome: outcomeOf('preempted', { observedAt: 0 }),
  processes: 'gone',
  runs,
});

test.each([1, 400, 1000, 1001, 5000])(
  'given %i runs that all published, then their end fits a commit and the last ones are in it',
  (count) => {
    const runs = runsOf(
      1,
      bases(count),
      Array.from({ length: count }, (_, run) => save(run)),
    );
    expect(eventSchema.safeParse(end(runs)).success).toBe(true);
    const commit = { job: 'j', version: 1, commitId: 'c', at: 0, actor: 'poller:here', schema: SCHEMA, events: [end(runs)] };
    expect(Buffer.byteLength(JSON.stringify(commit))).toBeLessThan(COMMIT_BYTES);
    expect(runs.at(-1)).toMatchObject({ run: count - 1, latest: { step: count } });
  },
);

test('given only an early run that published, then it is still in the end: it is the progress that there was', () => {
  const runs = runsOf(1, bases(2000), [save(3)]);
  expect(runs.flatMap((run) => (run.latest ? [run.run] : []))).toEqual([3]);
  expect(runs.at(-1)?.run).toBe(1999);
});
