/**
 * Many submissions at once to a real Slurm over a real sshd with its default MaxStartups (10:30:100): at most four connections at any
 * moment, none refused, each job exactly one object (protocols §5.8). They wait in a partition that is down and occupy no node.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterView } from '../../lib/app/cluster/load.ts';
import type { System } from '../../lib/local/system.ts';
import { startSystem, submitTo } from './dispatch.ts';
import { as, configurationFor, DIR, rootFor, until } from './rig.ts';

const TAG = '3any';
const JOBS = 60;
const PORT_HEX = (2222).toString(16).toUpperCase().padStart(4, '0');
const ESTABLISHED = '01';

/** Established connections of this process to the sshd, from the kernel's table: others may be using the same cluster. */
const connections = (): number => {
  const mine = new Set(readdirSync('/proc/self/fd').flatMap(inodeOf));
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n').slice(1);
  return rows.filter((row) => {
    const fields = row.trim().split(/\s+/);
    return fields[2]?.endsWith(`:${PORT_HEX}`) && fields[3] === ESTABLISHED && mine.has(fields[9] ?? '');
  }).length;
};

/** Closed between the listing and the look: no connection any more. */
const inodeOf = (fd: string): string[] => {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.slice(1) ?? [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
};

const spec = (name: string): Record<string, unknown> => ({
  name,
  cluster: 'lab',
  resources: { nodes: 1, memoryPerNode: '100Mi' },
  program: { script: '#!/bin/bash\nexit 0\n' },
  timeLimit: '1m',
  policy: { rules: [], unmatched: 'stop', limits: { attempts: 1 } },
  extensions: { slurm: { partition: 'down' } },
});

/** What sshd says when it turns connections away. */
const throttled = (): number => readFileSync(`${DIR}/log/sshd.log`, 'utf8').match(/MaxStartups|drop connection/g)?.length ?? 0;

let system: System;
let turnedAway = 0;
let jobs: readonly string[] = [];
/** Id and name of every object of these jobs, ended ones that the controller still knows included. */
const ours = (): { readonly id: string; readonly name: string }[] =>
  as('alice', 'squeue --me -h -t all -o "%i %j"')
    .split('\n')
    .map((line) => ({ id: line.split(' ')[0] ?? '', name: line.split(' ')[1] ?? '' }))
    .filter(({ name }) => jobs.some((job) => name.includes(job)));
const seen = { most: 0, samples: 0 };
let sampling: NodeJS.Timeout;

beforeAll(async () => {
  turnedAway = throttled();
  system = await startSystem(configurationFor('many', rootFor('many')), TAG);
  sampling = setInterval(() => {
    seen.most = Math.max(seen.most, connections());
    seen.samples += 1;
  }, 20);
});
afterAll(() => {
  clearInterval(sampling);
  system?.stop();
  const left = ours();
  if (left.length > 0) as('alice', `scancel ${left.map(({ id }) => id).join(' ')}`);
});

describe(`${JOBS} submissions at once`, () => {
  it('are all bound, each to exactly one object, over at most four connections, of which none was refused', async () => {
    jobs = await Promise.all(Array.from({ length: JOBS }, (_, i) => submitTo(system, spec(`many${i}`))));
    const { store } = system.ports;
    const types = async (): Promise<string[]> =>
      (await Promise.all(jobs.map((job) => store.read(job)))).flatMap((log) => log.flatMap(({ events }) => events.map((e) => e.type)));
    const count = async (type: string): Promise<number> => (await types()).filter((one) => one === type).length;
    await until('every job is bound', 120, async () => ((await count('attempt_bound')) === JOBS ? true : undefined));

    expect(
      ours()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(jobs.map((job) => `d${TAG}-${job}-1`).toSorted());
    expect(seen.samples).toBeGreaterThan(100);
    expect(seen.most).toBeGreaterThan(1);
    expect(seen.most).toBeLessThanOrEqual(4);
    expect(throttled()).toBe(turnedAway);
    // A refused connection would have deferred a submission, or been noted on the cluster's record.
    const all = await types();
    expect(all.filter((type) => type === 'attempt_planned')).toHaveLength(JOBS);
    expect(all.filter((type) => /deferred|uncertain|refused|duplicate|_ended$/.test(type))).toEqual([]);
    expect((await clusterView(store, 'lab')).logins).toMatchObject([{ login: 'default' }]);
    expect((await clusterView(store, 'lab')).logins[0]).not.toHaveProperty('unreachable');
  });
});
