/**
 * Run: what a local process consists of once it has its address and its folder, put together, started, and taken apart in order.
 * Guards: handlers, store and supervisors are those of a deployment; only what stands behind them is local (services.ts).
 */
import type { ClusterConfiguration } from '../app/ports.ts';
import { issueToken } from '../checkpoint/token.ts';
import type { ClusterEntry, Configuration } from '../cluster/configuration.ts';
import { openCluster, secretNames } from '../cluster/open.ts';
import { boundedSecrets, type SecretSource } from '../cluster/secret.ts';
import { localApi } from './api.ts';
import { startEndpoint } from './endpoint/endpoint.ts';
import type { Folder } from './folder.ts';
import { openJournaled } from './journal.ts';
import { openNoticeLog } from './notice-log.ts';
import { secretFiles } from './secret-files.ts';
import type { ApiServer } from './server.ts';
import { connectStore, connectSupervisors, later } from './services.ts';
import type { Started, Surroundings } from './start.ts';
import { createSystem } from './system.ts';

const STOP_MS = 30_000;

/** Throws StartRefused when the folder holds something that cannot be used. */
export const runLocal = async (folder: Folder, configuration: Configuration, server: ApiServer, around: Surroundings): Promise<Started> => {
  const { clock, random, log } = around;
  // Closed in the opposite order, also when a later one cannot be had.
  const closing: (() => void | Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const clusters: ClusterConfiguration[] = [];
    const programSecret = secretsOf(configuration, around);
    for (const entry of configuration.clusters) clusters.push(await clusterOf(entry, folder, { ...around, programSecret }, closing));
    const notices = await openNoticeLog(folder.notices);
    closing.push(notices.close);
    const record = await connectStore(folder, around);
    closing.push(record.close);
    const supervisors = later(() => connected.supervisors);
    const system = createSystem({
      store: record.store,
      clusters,
      secrets: secretNames(configuration.secrets),
      tag: folder.tag,
      clock,
      random,
      log,
      supervisors,
      bus: notices,
    });
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

/** Of the configuration's files, read when a launch needs one. */
const secretsOf = ({ secrets }: Configuration, { clock }: Surroundings): SecretSource => {
  const files = new Map(Object.entries(secrets).flatMap(([name, { file }]) => (file === undefined ? [] : [[name, file] as const])));
  return boundedSecrets(secretFiles(files), [...files.keys()], { now: clock.now });
};

/** A memory cluster lives in the folder, so that it outlives this process as a real one would. */
const clusterOf = async (
  entry: ClusterEntry,
  folder: Folder,
  { clock, random, programSecret }: Surroundings & { readonly programSecret: SecretSource },
  closing: (() => void)[],
): Promise<ClusterConfiguration> => {
  const tokenOf = async (job: string, n: number): Promise<string> => issueToken(folder.tokenKeys, job, n);
  const opened = await openCluster(entry, { tag: folder.tag, now: clock.now, random, tokenOf, programSecret });
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
