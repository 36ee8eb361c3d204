/**
 * Killed (SIGKILL) at moments that nobody chose, and started again on the same folder: every job is carried on, and nothing runs twice
 * (promises 3 and 4). The moments come from a seed; a failure prints it, and DISPATCH_KILL_SEED=<seed> repeats it.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { noticesAfter } from '../../../lib/app/notices.ts';
import { type Folder, openFolder } from '../../../lib/local/folder.ts';
import { openJournaled } from '../../../lib/local/journal.ts';
import { openNoticeLog } from '../../../lib/local/notice-log.ts';
import { connectStore } from '../../../lib/local/services.ts';
import { numbers } from '../../contract/core/life.ts';
import { type Child, newFolder, start } from './child.ts';

const SEED = Number(process.env['DISPATCH_KILL_SEED'] ?? (Date.now() % 1_000_000) + 1);
const KILLS = 5;
const PATIENCE_MS = 30_000;

/** The story of the demo, faster. */
const story = (name: string) => ({
  name,
  cluster: 'demo',
  resources: { nodes: 2, tasksPerNode: 1 },
  program: { command: ['train'] },
  timeLimit: '10m',
  patience: '1h',
  checkpoint: {},
  policy: {
    rules: [
      {
        on: ['preempted', 'never_landed'],
        do: { relaunch: { max: 9, backoff: { initial: '0s', factor: 1, max: '1s' }, from: 'checkpoint' } },
      },
    ],
    unmatched: 'escalate',
    limits: { attempts: 9 },
  },
  extensions: {
    memory: {
      script: [
        { queueSeconds: 0, program: { runsSeconds: 2, publishes: [{ atSeconds: 1, step: 100 }], ends: 'preempted' } },
        { queueSeconds: 0, program: { runsSeconds: 1, ends: 'completed' } },
      ],
    },
  },
});

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly why: string;
}

test(`given kills at any moment (seed ${SEED}), then every job succeeds, with one run per attempt, from its checkpoint`, {
  timeout: 120_000,
}, async () => {
  const data = await newFolder();
  const random = numbers(SEED);
  // Of this shape nothing has to be settled for minutes: a create under a name that is taken is the same create (P3.5).
  const config = join(await newFolder(), 'clusters.json');
  await writeFile(config, '{"clusters":[{"id":"demo","kind":"memory","shape":"kubernetes"}]}');
  const args = ['--data', data, '--config', config];
  let child = await start(args);
  // Submitted under one key until somebody answers: killed in between, the retry finishes the same birth (P1.5).
  const submit = async (name: string): Promise<string | undefined> =>
    child.post('/jobs', story(name), { 'idempotency-key': name }).then(
      ({ body }) => (body as Shown).id,
      () => undefined,
    );
  const ids = new Map<string, string>();
  for (let kill = 0; kill < KILLS; kill++) {
    const name = `job-${kill % 3}`;
    const asked = submit(name);
    await pause(random() * 1200);
    expect(await child.kill('SIGKILL'), `seed ${SEED}`).toBe('SIGKILL');
    await asked;
    child = await start(args);
    const id = await submit(name);
    expect(id, `seed ${SEED}`).toBeDefined();
    expect(ids.get(name) ?? id).toBe(id);
    ids.set(name, id!);
  }
  for (const id of ids.values()) {
    const shown = await endOf(child, id);
    const logs = child.logs().slice(-12);
    expect(shown.state, `seed ${SEED}: ${shown.why}\n${JSON.stringify(logs, null, 1)}`).toBe('succeeded');
  }
  expect(await child.kill('SIGTERM')).toBe(0);

  const folder = await openFolder(data, random);
  const { world, close } = await openJournaled({
    ...{ path: folder.memory('demo'), cluster: 'demo', shape: 'kubernetes', tag: folder.tag, now: Date.now, random },
  });
  const { executions } = world.truth();
  close();
  expect(new Set(executions.map(({ job }) => job)), `seed ${SEED}`).toEqual(new Set(ids.values()));
  const runs = executions.map(({ job, n, run }) => `${job} ${n} ${run}`);
  expect(runs.length, `seed ${SEED}: ${runs.join(', ')}`).toBe(new Set(runs).size);
  for (const id of ids.values()) {
    const bases = executions.filter(({ job }) => job === id).map(({ base }) => base.step);
    expect(bases, `seed ${SEED}`).toEqual([-1, 100]);
  }
  expect(await untold(folder, [...ids.values()]), `seed ${SEED}`).toEqual([]);
  await folder.release(true);
});

const endOf = async (child: Child, id: string): Promise<Shown> => {
  for (const began = Date.now(); ; await pause(200)) {
    const shown = (await child.get(`/jobs/${id}`)).body as Shown;
    if (['succeeded', 'failed', 'cancelled', 'awaiting'].includes(shown.state) || Date.now() - began > PATIENCE_MS) return shown;
  }
};

/** Everything that the records tell is in the log of notices, by its id (P2.7). */
const untold = async (folder: Folder, ids: readonly string[]): Promise<readonly string[]> => {
  const log = await openNoticeLog(folder.notices);
  const told = new Set(log.after(0, 10_000).items.map(({ notice }) => notice.id));
  log.close();
  const { store, close } = await connectStore(folder, { environment: {}, log: () => undefined });
  const commits = await Promise.all(ids.map((id) => store.read(id)));
  await close();
  return commits.flatMap((log) => noticesAfter(log, 0).flatMap(({ id, type }) => (told.has(id) ? [] : [`${id} ${type}`])));
};
