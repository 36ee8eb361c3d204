/**
 * Start: the whole of dispatch in one process (design, Shape): the record on disk, the state machine's engine behind its wire protocol,
 * the handlers, the ticker in place of the schedules, and the API.
 * Guards: whatever can refuse a start does so before anything was changed; and killed at any moment, the next process carries every job
 * on from the folder, since nothing is kept anywhere else.
 */
import type { ClusterConfiguration, Ports } from '../app/ports.ts';
import type { ClusterEntry } from '../cluster/configuration.ts';
import { openCluster } from '../cluster/open.ts';
import { admission, checkHost, isLoopback, readTokenFile } from './address.ts';
import { localApi } from './api.ts';
import type { Clock } from './clock.ts';
import { readClusters } from './clusters.ts';
import { startEndpoint } from './endpoint/endpoint.ts';
import { type Folder, openFolder } from './folder.ts';
import { openJournaled } from './journal.ts';
import { openNoticeLog } from './notice-log.ts';
import { StartRefused } from './refusal.ts';
import { type ApiServer, startServer } from './server.ts';
import { connectStore, connectSupervisors, later } from './services.ts';
import { createSystem } from './system.ts';

export interface StartOptions {
  /** An address; all but loopback need a token file. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The data folder, made when it is missing. */
  readonly data: string;
  /** Clusters; without it there is one memory cluster, `demo`. */
  readonly config?: string;
  readonly tokenFile?: string;
}

export interface Surroundings {
  /** Of this process: where the record and the engine listen is written into it, and nothing else. */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** [0, 1), of the system's randomness: ids, tokens, keys. */
  readonly random: () => number;
  readonly log: Ports['log'];
}

export interface Started {
  /** Of the API. */
  readonly url: string;
  /** Of the Step Functions protocol, for answers by task token. */
  readonly sfnUrl: string;
  /** Takes nothing new, finishes what is in flight, at most 30 s, and closes everything. Whether all of it was finished. */
  stop(): Promise<boolean>;
}

const STOP_MS = 30_000;

/** Throws StartRefused: one line, and nothing was changed. */
export const startLocal = async (options: StartOptions, around: Surroundings): Promise<Started> => {
  const { host, port, data, tokenFile } = options;
  checkHost(host);
  if (!isLoopback(host) && tokenFile === undefined)
    throw new StartRefused(
      `--host ${host} can be reached from other machines: give --token-file FILE with the bearer token that callers must send`,
    );
  const entries = await readClusters(options.config);
  const token = tokenFile === undefined ? undefined : await readTokenFile(tokenFile);
  // The address before the folder: a taken port must leave no trace, and a taken folder leaves none anyway.
  const server = await startServer({ host, port, admits: admission(token) });
  try {
    const folder = await openFolder(data, around.random);
    try {
      return await inFolder(folder, entries, server, around);
    } catch (error) {
      await folder.release(false);
      throw error;
    }
  } catch (error) {
    await server.close(0);
    throw error;
  }
};

const inFolder = async (folder: Folder, entries: readonly ClusterEntry[], server: ApiServer, around: Surroundings): Promise<Started> => {
  const { clock, random, log } = around;
  // Closed in the opposite order, also when a later one cannot be had.
  const closing: (() => void | Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const clusters: ClusterConfiguration[] = [];
    for (const entry of entries) clusters.push(await clusterOf(entry, folder, around, closing));
    const notices = await openNoticeLog(folder.notices);
    closing.push(notices.close);
    const record = await connectStore(folder, around);
    closing.push(record.close);
    const supervisors = later(() => connected.supervisors);
    const system = createSystem({ store: record.store, clusters, tag: folder.tag, clock, random, log, supervisors, bus: notices });
    closing.push(system.stop);
    const endpoint = await startEndpoint({ engine: system.engine });
    closing.push(endpoint.close);
    const connected = connectSupervisors(endpoint.url, system.engine.machineArn, around);
    closing.push(connected.close);
    await system.start();
    server.serve(localApi({ ports: system.ports, notices, tokenKeys: folder.tokenKeys }));
    return {
      url: server.url,
      sfnUrl: endpoint.url,
      stop: async () => {
        const [answered, landed] = await Promise.all([server.close(STOP_MS), system.drain(STOP_MS)]);
        await closeAll();
        await folder.release(answered && landed);
        return answered && landed;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
};

/** A memory cluster lives in the folder, so that it outlives this process as a real one would. */
const clusterOf = async (
  entry: ClusterEntry,
  folder: Folder,
  { clock, random }: Surroundings,
  closing: (() => void)[],
): Promise<ClusterConfiguration> => {
  const opened = await openCluster(entry, { tag: folder.tag, now: clock.now, random });
  if (entry.kind !== 'memory') return opened;
  const journaled = await openJournaled({
    path: folder.memory(entry.id),
    cluster: entry.id,
    shape: entry.shape,
    tag: folder.tag,
    now: clock.now,
    random,
  });
  closing.push(journaled.close);
  return { ...opened, adapter: journaled.adapter };
};
