/**
 * memory: what a process of the whole of dispatch holds after it has carried ten thousand jobs from submission to end, under virtual
 * time. Only dispatch's own is counted: the record and the cluster, which are elsewhere in earnest, are thrown away wave by wave.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { planJob } from '../../lib/app/plan-job.ts';
import { submitJob } from '../../lib/app/submit-job.ts';
import { storySpec } from '../../lib/cli/story.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster } from '../../lib/cluster/memory/world.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import { virtualClock } from '../../lib/local/clock.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { drawn, START_MS } from './life.ts';
import { tell } from './measure.ts';
import { CLUSTER, JOBS, LOGIN, TAG } from './quiet-jobs.ts';

/** As many as an hour's connections of a login allow. */
const WAVE = 400;
const WARM_WAVES = 3;
const POLL_SECONDS = 60;
const HOUR_MS = 3_600_000;
const MOST_POLLS = 60;

const clock = virtualClock(START_MS);
const random = drawn(11);
let [store, world] = [createMemoryStore() as RecordStore, newWorld()];

function newWorld(): Adapter {
  return adapter(createMemoryCluster({ shape: 'slurm', clock, random, logins: [LOGIN] }), { cluster: CLUSTER, tag: TAG });
}

/** Whatever stands behind it now. */
const current = <T extends object>(of: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => {
      const value = Reflect.get(of(), name) as unknown;
      return typeof value === 'function' ? (...given: unknown[]) => (value as (...given: unknown[]) => unknown).apply(of(), given) : value;
    },
  });

const system = createSystem({
  store: current(() => store),
  clusters: [
    {
      ...{ id: CLUSTER, pollEverySeconds: POLL_SECONDS, landingBoundSeconds: 90, readOnly: false, logins: [{ id: LOGIN, user: 'alice' }] },
      adapter: current(() => world),
    },
  ],
  ...{ tag: TAG, clock, random },
  log: (level, message, fields) => {
    if (level === 'error') throw new Error(`${message} ${JSON.stringify(fields)}`);
  },
});

const spec = { ...storySpec({ cluster: CLUSTER, kind: 'memory', steps: 1 }), extensions: { memory: { script: [] } } };
const planned = await planJob(system.ports, spec);
if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
await system.start();

let submitted = 0;
const wave = async (): Promise<void> => {
  const jobs: string[] = [];
  for (let i = 0; i < WAVE && submitted < JOBS; i++) {
    const key = `wave ${submitted++}`;
    const born = await submitJob(system.ports, { ...planned, principal: 'ada', project: 'vision', key, payloadHash: key });
    if (born.kind === 'submitted') jobs.push(born.view.job);
  }
  const runs = (job: string): boolean => system.engine.describeExecution(`${job}-1`).status === 'RUNNING';
  for (let polls = 0; jobs.some(runs); polls++) {
    if (polls === MOST_POLLS) throw new Error(`${jobs.filter(runs).length} jobs did not end`);
    await clock.advance(POLL_SECONDS * 1000);
  }
  await clock.advance(HOUR_MS);
  [store, world] = [createMemoryStore(), newWorld()];
};

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
const heapMiB = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

for (let i = 0; i < WARM_WAVES; i++) await wave();
const [early, earlyMiB] = [submitted, heapMiB()];
while (submitted < JOBS) await wave();
const lateMiB = heapMiB();
system.stop();

tell([
  { name: 'jobs', value: submitted },
  { name: `heap after ${early} jobs, MiB`, value: earlyMiB },
  { name: `heap after ${submitted} jobs, MiB`, value: lateMiB, bound: { atMost: 96 } },
  { name: 'heap kept per further job, bytes', value: ((lateMiB - earlyMiB) * 2 ** 20) / (submitted - early), bound: { atMost: 256 } },
  { name: 'peak memory of the process, MiB', value: process.resourceUsage().maxRSS / 1024 },
]);
