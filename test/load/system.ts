/**
 * System: the local system as `npm start` puts it together (lib/local/run.ts): supervisors behind Step Functions' protocol,
 * the API and the bus's log. Three things differ: time is virtual; the table is asked without sockets and lies in memory (table.ts); and the two
 * memory clusters, one of each shape, can be reached from the test, which loses answers on the way to them.
 */
import { readFile } from 'node:fs/promises';
import { issueToken } from '../../lib/checkpoint/token.ts';
import { adapter } from '../../lib/cluster/memory/adapter.ts';
import type { Call, Fault } from '../../lib/cluster/memory/fault.ts';
import { createMemoryCluster, type World } from '../../lib/cluster/memory/world.ts';
import { admission } from '../../lib/local/address.ts';
import { localApi } from '../../lib/local/api.ts';
import { type VirtualClock, virtualClock } from '../../lib/local/clock.ts';
import { startEndpoint } from '../../lib/local/endpoint/endpoint.ts';
import { openFolder } from '../../lib/local/folder.ts';
import { openNoticeLog } from '../../lib/local/notice-log.ts';
import { startServer } from '../../lib/local/server.ts';
import { connectSupervisors, later } from '../../lib/local/services.ts';
import { createSystem } from '../../lib/local/system.ts';
import { createDynamoStore } from '../../lib/record/dynamodb-store.ts';
import { type Pace, paceOf } from './pace.ts';
import type { RawItem } from './reader/items.ts';
import type { Outside } from './reader/rest.ts';
import { openTable, TABLE } from './table.ts';

export const SHAPES = ['slurm', 'kubernetes'] as const;
const START_MS = Date.UTC(2030, 0, 1);
const CLOSE_MS = 5000;

export interface Local {
  readonly url: string;
  readonly sfnUrl: string;
  readonly clock: VirtualClock;
  readonly pace: Pace;
  readonly worlds: Readonly<Record<(typeof SHAPES)[number], World>>;
  readonly tokenOf: (job: string, n: number) => string;
  /** Jobs whose end the bus was told. */
  readonly ended: ReadonlySet<string>;
  /** Of errors alone. */
  readonly errors: readonly string[];
  /** In order. Gives all that is left: the table and the bus's log. */
  stop(): Promise<Left>;
}

export interface Left {
  readonly items: readonly RawItem[];
  readonly outside: Omit<Outside, 'secrets'>;
}

export const startLocal = async (data: string, random: () => number): Promise<Local> => {
  const clock = virtualClock(START_MS);
  const pace = paceOf(clock);
  const errors: string[] = [];
  const log = (level: string, message: string, fields: object): void => {
    if (level === 'error') errors.push(`${message} ${JSON.stringify(fields)}`);
  };
  const folder = await openFolder(data, random);
  const table = await openTable();
  const notices = await openNoticeLog(folder.notices);
  const ended = new Set<string>();
  const worldOf = (shape: (typeof SHAPES)[number]): World => {
    const world = createMemoryCluster({ shape, clock, random, credentialLifeSeconds: 30, logins: ['default'] });
    world.faults.choose((call) => faultFor(call, random));
    return world;
  };
  const worlds = { slurm: worldOf('slurm'), kubernetes: worldOf('kubernetes') };
  const system = createSystem({
    store: pace.counted(createDynamoStore({ client: table.client, table: TABLE })),
    clusters: SHAPES.map((id) => ({
      id,
      adapter: adapter(worlds[id], { cluster: id, tag: folder.tag }),
      pollEverySeconds: 5,
      landingBoundSeconds: 30,
      readOnly: false,
      logins: [{ id: 'default', user: 'demo' }],
    })),
    ...{ tag: folder.tag, clock, random, log },
    supervisors: later(() => supervisors),
    bus: {
      put: async (told) => {
        await notices.put(told);
        for (const one of told) {
          const to = one.type === 'dispatch.job.state_changed' ? one.to : '';
          if (one.type === 'dispatch.job.state_changed' && ['succeeded', 'failed', 'cancelled'].includes(to)) ended.add(one.job.id);
        }
      },
    },
  });
  const endpoint = await startEndpoint({ engine: system.engine });
  const connected = connectSupervisors(endpoint.url, system.engine.machineArn, { environment: {}, log });
  const supervisors = pace.counted(connected.supervisors);
  const server = await startServer({ host: '127.0.0.1', port: 0, admits: admission(undefined) });
  await system.start();
  server.serve(localApi({ ports: system.ports, notices, tokenKeys: folder.tokenKeys }));
  return {
    ...{ url: server.url, sfnUrl: endpoint.url, clock, pace, worlds, ended, errors },
    tokenOf: (job, n) => issueToken(folder.tokenKeys, job, n),
    stop: async () => {
      await server.close(CLOSE_MS);
      let drained: boolean | undefined;
      // Real time for what is in flight; its waits are on the virtual clock.
      void system.drain(CLOSE_MS).then((landed) => {
        drained = landed;
      });
      await pace.until(() => drained !== undefined, 60);
      system.stop();
      connected.close();
      await endpoint.close();
      notices.close();
      await folder.release(drained === true);
      const { items, indexRows } = await table.rows();
      const lines = (await readFile(folder.notices, 'utf8')).split('\n').filter((line) => line !== '');
      return { items, outside: { notices: lines, indexRows } };
    },
  };
};

/** Answers that are lost, requests that are lost, and a cluster that cannot be reached now and then. */
const faultFor = ({ verb }: Call, random: () => number): Fault | undefined => {
  const drawn = random();
  if (verb === 'submit') {
    if (drawn < 0.08) return { kind: 'reply_lost' };
    if (drawn < 0.12) return { kind: 'request_lost' };
    return drawn < 0.16 ? { kind: 'delayed', seconds: Math.ceil(random() * 40) } : undefined;
  }
  if (['release', 'cancel', 'discard', 'fence', 'requeue'].includes(verb)) return drawn < 0.06 ? { kind: 'reply_lost' } : undefined;
  return drawn < 0.02 ? { kind: 'unreachable' } : undefined;
};
