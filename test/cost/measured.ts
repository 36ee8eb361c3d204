/**
 * Measured: what a deployment does in a stretch of time, counted: transitions of the machine, units of the table, invocations, events.
 * The handlers that are deployed, the machine file, the record in a table; a memory cluster and virtual time, so that a day is a second
 * and the counts are the same every time.
 */
import { planJob } from '../../lib/app/plan-job.ts';
import type { Bus, Ports } from '../../lib/app/ports.ts';
import { submitJob } from '../../lib/app/submit-job.ts';
import { storySpec } from '../../lib/cli/story.ts';
import { openCluster } from '../../lib/cluster/open.ts';
import { type VirtualClock, virtualClock } from '../../lib/local/clock.ts';
import { createSystem, type System } from '../../lib/local/system.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';
import { type MeteredTable, meteredTable, TABLE, type Units } from './metered-table.ts';

export interface Measured extends Units {
  readonly hours: number;
  readonly transitions: number;
  readonly advances: number;
  readonly parks: number;
  readonly polls: number;
  /** Of these, those that connected to the cluster and looked. */
  readonly looks: number;
  /** To the cluster, by whomever: a look is one, a submission and a release are one each. */
  readonly connections: number;
  readonly reconciles: number;
  readonly events: number;
  readonly commits: number;
}

const START_MS = Date.UTC(2026, 10, 29);
const HOUR_MS = 3_600_000;
const CLUSTER = 'lab';

export interface Asked {
  readonly hours: number;
  /** What each attempt of a job meets. */
  readonly script?: readonly unknown[];
  /** All submitted at the beginning. */
  readonly jobs: number;
}

export const measure = async ({ hours, script = [], jobs }: Asked): Promise<Measured> => {
  const clock = virtualClock(START_MS);
  const table = await meteredTable();
  const random = drawn(7);
  let events = 0;
  const bus: Bus = {
    put: async (notices) => {
      events += notices.length;
    },
  };
  const counted = { connections: 0, looks: 0 };
  const opened = await openCluster(
    { id: CLUSTER, kind: 'memory', shape: 'slurm', readOnly: false, pollEverySeconds: 60, landingBoundSeconds: 90 },
    { tag: 'c0st', now: clock.now, random },
  );
  const adapter = {
    ...opened.adapter,
    connect: (login: string) => {
      counted.connections += 1;
      return opened.adapter.connect(login);
    },
  };
  const log: Ports['log'] = (level, message, fields) => {
    if (level === 'error') throw new Error(`${message} ${JSON.stringify(fields)}`);
  };
  const plain = createDynamoStore({ client: table.client, table: TABLE });
  const store: RecordStore = {
    ...plain,
    // What a poll does once it has looked, and nobody else ever does.
    renewLease: (...lease) => {
      counted.looks += 1;
      return plain.renewLease(...lease);
    },
  };
  const system = createSystem({ store, clusters: [{ ...opened, adapter }], tag: 'c0st', clock, random, log, bus });
  try {
    const pass = passing(clock, table);
    await pass(system.start());
    // The first probe, which every plan counts with for a day.
    await pass(planJob(system.ports, storySpec({ cluster: CLUSTER, kind: 'memory', steps: 1 })));
    // What came before, the first probe above all, belongs to nobody.
    const from = { units: table.units(), ...counted, events };
    const submitted: string[] = [];
    for (let i = 0; i < jobs; i++) submitted.push(await pass(submit(system, script, i)));
    await pass(undefined, hours * HOUR_MS);
    const histories = submitted.flatMap((job) => system.engine.history(`${job}-1`));
    const entered = (state: string): number =>
      histories.filter((event) => event.state === state && event.type.endsWith('StateEntered')).length;
    const { reads, writes } = table.units();
    const logs = await pass(Promise.all(submitted.map((job) => store.read(job))));
    return {
      hours,
      reads: reads - from.units.reads,
      writes: writes - from.units.writes,
      transitions: histories.filter(({ type }) => type.endsWith('StateEntered')).length,
      advances: entered('Advance'),
      parks: entered('AwaitWake') + entered('AwaitAnswer'),
      polls: hours * 60,
      looks: counted.looks - from.looks,
      connections: counted.connections - from.connections,
      reconciles: hours * 12,
      events: events - from.events,
      commits: logs.flat().length,
    };
  } finally {
    system.stop();
  }
};

/** Lets virtual time pass only while nothing is under way to the table. */
const passing =
  (clock: VirtualClock, table: MeteredTable) =>
  async <T>(work: Promise<T> | undefined, forMs = 0): Promise<T> => {
    const until = clock.now() + forMs;
    let done = work === undefined;
    const settled = work?.finally(() => {
      done = true;
    });
    settled?.catch(() => undefined);
    for (;;) {
      await table.idle();
      const next = clock.nextAtMs();
      if (work !== undefined && done) break;
      if (work === undefined && (next === undefined || next > until)) break;
      await clock.advanceToNext();
    }
    if (work === undefined) await clock.advance(until - clock.now());
    return (await settled) as T;
  };

const submit = async (system: System, script: readonly unknown[], i: number): Promise<string> => {
  const planned = await planJob(system.ports, {
    ...storySpec({ cluster: CLUSTER, kind: 'memory', steps: 1 }),
    ...{ timeLimit: '3d', patience: '7d', extensions: { memory: { script } } },
  });
  if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
  const { spec, plan, login } = planned;
  const born = await submitJob(system.ports, {
    ...{ spec, plan, login, principal: 'ada', project: 'vision', key: `cost${i}`, payloadHash: plan.digest },
  });
  if (born.kind !== 'submitted') throw new Error(born.kind);
  return born.view.job;
};

/** A linear congruence: the same numbers every time. */
const drawn = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};
