/**
 * The recovery story on a real Slurm through the HTTP API of `npm start`, whose whole process group is killed (SIGKILL) at ten moments
 * that nobody chose, and started again on the same folder. The moments come from a seed; a failure prints it, and
 * DISPATCH_TEST_SEED=<seed> draws the same ones again. Clients submit and follow over the API and know nothing of the kills; what ran is
 * told by the cluster alone: the lines that programs wrote when they started, the claims of their wrappers, accounting.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMarker } from '../../lib/cluster/slurm/control-files.ts';
import { numbers } from '../contract/core/life.ts';
import { type Start, saidOf, startsOf, WORDS } from './program.ts';
import { as, configurationFor, nodesOf, preempt, publicationsOf, rootFor, SLOW, until } from './rig.ts';
import { checkpointsBy, eventsBy, jobBy, newServer, type Server, submitBy, type Told, type ToldEvent } from './server.ts';

const SEED = Number(process.env['DISPATCH_TEST_SEED'] ?? randomInt(1, 1_000_000));
const KILLS = 10;
/** From one start of the process to its kill: the shortest do not see it ready, the longest see two polls. */
const LIFE_MS = { least: 300, most: 18_000 };
const END_SECONDS = 900;

/**
 * A step a second. Step 5 and 15 are announced by the marker alone, 10 and 20 by both ways, 7, 12 and 17 over the API alone, whose
 * marker never appears. At step 13 it fails, once (`exits`), or waits until it
 * was preempted once (`preempted`).
 */
const PROGRAM = `${WORDS}
step=\${DISPATCH_RESUME_STEP:-0}
while [ "$step" -lt 20 ]; do
  sleep 1
  step=$((step + 1))
  case $step in
    5 | 15) marker "$step" ;;
    10 | 20) both "$step" ;;
    7 | 12 | 17)
      save "$step"
      # The API is away now and then; whether this post arrives is not the point.
      for _ in 1 2 3; do
        post "post-$DISPATCH_EPOCH-$step" "$DISPATCH_TOKEN_FILE" "$DISPATCH_JOB" "$DISPATCH_EPOCH" "$step"
        [ "$posted" = 000 ] || break
        sleep 1
      done ;;
    13)
      if [ "$STORY" = preempted ]; then await preempted; fi
      if [ "$STORY" = exits ] && [ ! -e "$root/failed" ]; then : > "$root/failed"; exit 3; fi ;;
  esac
done
`;

const RELAUNCH = { relaunch: { max: 9, backoff: { initial: '1s', factor: 1, max: '1s' }, from: 'checkpoint' } };
const spec = (name: string, story: 'exits' | 'preempted'): Record<string, unknown> => ({
  name,
  cluster: 'lab',
  resources: { nodes: 1, memoryPerNode: '100Mi' },
  program: { script: PROGRAM, env: { STORY: story } },
  timeLimit: '20m',
  checkpoint: {},
  policy: {
    rules: [
      { on: ['exited'], when: { exitCode: 3 }, do: RELAUNCH },
      { on: ['preempted', 'never_landed'], do: RELAUNCH },
    ],
    unmatched: 'stop',
    limits: { attempts: 19 },
  },
  extensions: { slurm: { partition: 'apart' } },
});
const STORIES = (['exits', 'preempted', 'exits', 'preempted', 'exits'] as const).map((story, i) => ({ name: `job-${i}`, story }));

const root = rootFor('api');
let server: Server;
beforeAll(async () => {
  process.stdout.write(`DISPATCH_TEST_SEED=${SEED}\n`);
  server = await newServer('api', (apiUrl) => configurationFor('api', root, { apiUrl }));
});
afterAll(() => server?.kill());

interface Followed {
  readonly job: string;
  readonly told: Told;
  readonly events: readonly ToldEvent[];
}

/** Everything that a job's record says, read by its cursor as it grows, until its end. */
const follow = async (job: string): Promise<Followed> => {
  const events: ToldEvent[] = [];
  let after = 0;
  for (const end = Date.now() + END_SECONDS * 1000; ; ) {
    const page = await eventsBy(server, job, after, 2);
    events.push(...page.items);
    after = page.next;
    const told = await jobBy(server, job);
    expect(told.why).toMatch(/^[A-Z].*\.$/s);
    if (page.ended) return { job, told: await jobBy(server, job), events };
    if (Date.now() > end) throw new Error(`job ${job} goes on: ${told.state}: ${told.why}`);
  }
};

/** Preempts it for real, once, when it has announced step 10. */
const preemptOnce = async (job: string): Promise<void> => {
  await until('step 10 is announced', END_SECONDS / SLOW, () => epochsAndSteps(job).some(({ step }) => step === 10) || undefined);
  const running = (): string | undefined =>
    as('alice', `squeue --me -h -t R -o '%j'`)
      .split('\n')
      .find((name) => name.includes(job));
  const { name, nodes } = await until('it runs', END_SECONDS / SLOW, () => {
    const name = running();
    const nodes = name && nodesOf(name);
    return nodes ? { name, nodes } : undefined;
  });
  await until('what runs there has begun', END_SECONDS / SLOW, () => haveBegun(nodes) || undefined);
  preempt(nodes, 3, 'apart-urgent');
  await until('it was preempted', 60, () => running() !== name || undefined);
  writeFileSync(`${root}/checkpoints/${job}/preempted`, '');
};

/** Running is the scheduler's word: who takes the nodes before the programs there have begun leaves attempts of which nothing ran. */
const haveBegun = (nodes: string): boolean =>
  as('alice', `squeue --me -h -t R -w ${nodes} -o '%i %j'`)
    .split('\n')
    .filter(Boolean)
    .every((line) => {
      const [id = '', name = ''] = line.split(' ');
      return startsOf(root, name.split('-')[1] ?? '').some(({ schedulerId }) => schedulerId === id);
    });

const epochsAndSteps = (job: string) => publicationsOf(root, job).map((name) => parseMarker(name)!);

/** A client: one submission, by a key, whatever becomes of the process; then the whole record. */
const client = async ({ name, story }: (typeof STORIES)[number]): Promise<Followed> => {
  const job = await submitBy(server, name, spec(name, story));
  const [followed] = await Promise.all([follow(job), story === 'preempted' ? preemptOnce(job) : undefined]);
  return followed;
};

/** What accounting knows under the names of a job's attempts: `[attempt, scheduler id]`. */
const accounted = (job: string): string[] =>
  as('alice', `sacct -nXP -S now-1hour -E now+1day -o jobid,jobname%60`)
    .split('\n')
    .filter((line) => line.includes(`-${job}-`))
    .map((line) => `${line.split('-').at(-1)} ${line.split('|')[0]}`)
    .toSorted();

const claimsOf = (job: string): string[] => {
  const claims = `${root}/${server.tag()}/${job}/claims`;
  return readdirSync(claims)
    .map((run) => `${run} ${readlinkSync(`${claims}/${run}`).split('-')[0]}`)
    .toSorted();
};

/** The greatest step that runs before this one had announced by a marker: what it had to resume from. */
const dueTo = (job: string, start: Start): number | undefined => {
  const before = epochsAndSteps(job).filter(({ epoch }) => epoch < start.epoch);
  return before.length === 0 ? undefined : Math.max(...before.map(({ step }) => step));
};

it(`given ten kills of the process group at any moment (seed ${SEED}), every job recovers from its checkpoint and succeeds, with one run per attempt (P1.2, P1.5, P2.8, P3.1, P8.1)`, {
  timeout: 1_200_000,
}, async () => {
  const random = numbers(SEED);
  const clients: Promise<Followed | Error>[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    server.start();
    const story = kill % 2 === 0 ? STORIES[kill / 2] : undefined;
    // A failure must not end the test before its last process was killed; it is thrown below.
    if (story) clients.push(client(story).catch((error: Error) => error));
    await delay(LIFE_MS.least + random() * (LIFE_MS.most - LIFE_MS.least));
    await server.kill();
  }
  server.start();
  const followed = await Promise.all(clients);
  for (const one of followed) if (one instanceof Error) throw new Error(`seed ${SEED}: ${one.message}\n${server.said()}`);

  for (const { job, told, events } of followed as Followed[]) {
    const here = `seed ${SEED}: ${told.why}\n${JSON.stringify(told.attempts)}`;
    expect(told.state, here).toBe('succeeded');
    expect(told.checkpoint, here).toMatchObject({ trainingStep: 20, source: 'listed' });

    // One run per attempt, by the cluster's own word.
    const starts = startsOf(root, job);
    const ran = told.attempts.filter(({ outcome }) => !outcome?.startsWith('never'));
    expect(
      starts.map(({ attempt }) => attempt),
      here,
    ).toEqual(ran.map(({ n }) => `${n}-0`));
    expect(claimsOf(job), here).toEqual(starts.map(({ attempt, schedulerId }) => `${attempt} ${schedulerId}`).toSorted());
    const objects = starts.map(({ attempt, schedulerId }) => `${attempt.split('-')[0]} ${schedulerId}`).toSorted();
    await until(
      `accounting shows one object per attempt: ${objects} (${here})`,
      30,
      () => `${accounted(job)}` === `${objects}` || undefined,
    );

    // Each resumed from the greatest step that was announced by a marker before it, never from a post alone.
    expect(
      starts.map(({ resumed }) => resumed),
      here,
    ).toEqual(starts.map((start) => dueTo(job, start)));
    expect(ran.length, here).toBeGreaterThan(1);
    expect(told.why).toMatch(
      /^Succeeded: its program completed; attempt \d+ follows \d+, which (exited with 3|was preempted|never reached its scheduler): rule [01] \(\d of 9 uses\) relaunched it from (the beginning|step (5|10|15|20), published by attempt \d+)\.$/,
    );

    // What was read by the cursor across all restarts is the record, without a gap.
    expect(events.map(({ id }) => id)).toEqual([...wholeOf(events, job)]);
    expect((await eventsBy(server, job)).items, here).toEqual(events);
    expect(told.version).toBe(events.at(-1)?.version);
    await postsAreShownOnly(job, here);
  }
  // Repeated across kills under one key each, they are five jobs.
  const { items } = (await server.ask('/jobs')).body as { items: readonly { name: string }[] };
  expect(items.map(({ name }) => name).toSorted()).toEqual(STORIES.map(({ name }) => name));
  const outcomes = (followed as Followed[]).flatMap(({ told }) => told.attempts.map(({ outcome }) => outcome));
  // What the kills met, for whoever wonders what this seed is worth.
  process.stdout.write(`seed ${SEED}: attempts ended ${outcomes.join(', ')}\n`);
  expect(outcomes).toContain('exited with 3');
  expect(outcomes).toContain('preempted');
});

/** The ids that a record of these versions has, if nothing of it is missing. */
const wholeOf = (events: readonly ToldEvent[], job: string): string[] => {
  const counts = new Map<number, number>();
  for (const { version } of events) counts.set(version, (counts.get(version) ?? 0) + 1);
  return Array.from({ length: counts.size }, (_, v) =>
    Array.from({ length: counts.get(v + 1) ?? 0 }, (_, i) => `${job}:${v + 1}:${i}`),
  ).flat();
};

/** A post that was taken is told to whoever asks for checkpoints, and is nothing that a run would resume from. */
const postsAreShownOnly = async (job: string, here: string): Promise<void> => {
  const shown = await checkpointsBy(server, job, true);
  const taken = saidOf(root, job).flatMap((line) => {
    const [, epoch, step] = /^post-(\d+)-(\d+) 200$/.exec(line) ?? [];
    return epoch ? [{ epoch: Number(epoch), trainingStep: Number(step) }] : [];
  });
  for (const { epoch, trainingStep } of taken) {
    const one = shown.find((other) => other.epoch === epoch && other.trainingStep === trainingStep);
    expect(one, here).toMatchObject({ latest: false, standing: expect.stringMatching(/^(reported|late)$/) });
  }
  expect(shown.filter(({ latest }) => latest).map(({ trainingStep }) => trainingStep)).toEqual([20]);
  expect(shown.length, here).toBe(new Set([...shown].map(({ epoch, path }) => `${epoch} ${path}`)).size);
};
