/**
 * Load: two hundred jobs of every kind, submitted at once over HTTP to the local system, while answers get lost and people answer, cancel
 * and report. When all of it has come to rest, a reader that shares no code with dispatch judges every item of the table.
 * DISPATCH_LOAD_SEED=<seed> repeats one draw of the jobs; the verdict never depends on what met what when.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { numbers } from '../contract/core/life.ts';
import { wantedJobs } from './jobs.ts';
import { peopleOf } from './people.ts';
import { tableOf } from './reader/items.ts';
import { judge } from './reader/judge.ts';
import { SHAPES, startLocal } from './system.ts';

const SEED = Number(process.env['DISPATCH_LOAD_SEED'] ?? 20_260);
const JOBS = 200;
/** Virtual: the longest life takes about twenty minutes of it. */
const MOST_SECONDS = 6 * 3600;
/** Longer than anything is given before a sweep repairs it, and than a reconcile takes to come round. */
const REST_SECONDS = 900;

const data = await mkdtemp(join(tmpdir(), 'dispatch-load-'));
afterAll(() => rm(data, { recursive: true, force: true }));

/** From the first request to the last repair. */
const wholeLoad = async () => {
  const local = await startLocal(data, numbers(SEED));
  const people = peopleOf(local, numbers(SEED + 1));
  const wanted = wantedJobs(JOBS, numbers(SEED + 2), local.clock.now());
  let submitted: PromiseSettledResult<readonly string[]> | undefined;
  void Promise.allSettled([people.submitAll(wanted)]).then(([settled]) => {
    submitted = settled;
  });
  await local.pace.until(() => submitted !== undefined, MOST_SECONDS);
  if (submitted?.status !== 'fulfilled') throw submitted?.reason ?? new Error('not all submissions were answered');
  const ids = submitted.value;
  people.begin(new Map(ids.map((id, i) => [id, wanted[i]!])));
  await local.pace.until(() => local.ended.size === JOBS, MOST_SECONDS);
  await people.rest();
  await local.pace.until(() => false, REST_SECONDS);
  const truth = SHAPES.map((shape) => local.worlds[shape].truth());
  return { ids, local, people, truth, left: await local.stop() };
};

/** What a load without it would not have been: each happens to several jobs, whatever the draw. */
const MET = [
  ...['attempt_uncertain', 'attempt_submission_deferred', 'attempt_refused', 'attempt_requeued', 'cancel_requested'],
  ...['escalation_raised', 'escalation_answered', 'escalation_expired', 'checkpoint_published', 'recovery_decided'],
];
const CAUSES = [
  'completed',
  'preempted',
  'node_lost',
  'out_of_memory',
  'exited',
  'signalled',
  'vanished',
  'rejected',
  'deadline',
  'no_capacity',
];

test(`given ${JOBS} jobs at once on both shapes (seed ${SEED}), then every invariant of the record holds at rest`, {
  timeout: 900_000,
}, async () => {
  const { ids, local, people, truth, left } = await wholeLoad();
  expect(new Set(ids).size).toBe(JOBS);
  expect(judge(left.items, { ...left.outside, secrets: [...people.secrets] })).toEqual([]);
  expect(people.unexpected).toEqual([]);
  expect(local.errors).toEqual([]);

  const { jobs } = tableOf(left.items);
  expect(new Set(jobs.map(({ job }) => job))).toEqual(new Set(ids));
  const events = jobs.flatMap(({ job, commits }) => commits.flatMap((commit) => commit.events.map((event) => ({ job, ...event }))));
  expect(MET.filter((type) => !events.some((event) => event.type === type))).toEqual([]);
  expect(CAUSES.filter((cause) => !events.some(({ outcome }) => outcome?.cause === cause))).toEqual([]);

  // What really happened: nothing ran that the record did not release, no run twice, and nothing is left over.
  const released = new Set(events.filter(({ type }) => type === 'release_intended').map(({ job, n }) => `${job}-${n}`));
  for (const { executions, objects } of truth) {
    expect(executions.filter(({ job, n }) => !released.has(`${job}-${n}`))).toEqual([]);
    const runs = executions.map(({ job, n, run }) => `${job} ${n} ${run}`);
    expect(runs.length).toBe(new Set(runs).size);
    expect(objects.filter(({ state }) => state !== 'ended').map(({ name }) => name)).toEqual([]);
  }
});
