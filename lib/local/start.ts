/**
 * Start: the whole of dispatch in one process (design, Shape): the record on disk, the state machine's engine behind its wire protocol,
 * the handlers, the ticker in place of the schedules, and the API.
 * Guards: whatever can refuse a start does so before anything was changed; and killed at any moment, the next process carries every job
 * on from the folder, since nothing is kept anywhere else.
 */
import type { Ports } from '../app/ports.ts';
import { admission, checkHost, isLoopback, readTokenFile } from './address.ts';
import type { Clock } from './clock.ts';
import { readLocalConfiguration } from './clusters.ts';
import { openFolder } from './folder.ts';
import { StartRefused } from './refusal.ts';
import { startServer } from './server.ts';

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

/** Throws StartRefused: one line, and nothing was changed. */
export const startLocal = async (options: StartOptions, around: Surroundings): Promise<Started> => {
  const { host, port, data, tokenFile } = options;
  checkHost(host);
  if (!isLoopback(host) && tokenFile === undefined)
    throw new StartRefused(
      `--host ${host} can be reached from other machines: give --token-file FILE with the bearer token that callers must send`,
    );
  const configuration = await readLocalConfiguration(options.config);
  const token = tokenFile === undefined ? undefined : await readTokenFile(tokenFile);
  // The address before the folder: a taken port must leave no trace, and a taken folder leaves none anyway.
  const server = await startServer({ host, port, admits: admission(token) });
  try {
    const folder = await openFolder(data, around.random);
    try {
      // Loaded only now: what refuses a start should not take a second to say so.
      const { runLocal } = await import('./run.ts');
      return await runLocal(folder, configuration, server, around);
    } catch (error) {
      // A refusal left everything in it as it was.
      await folder.release(folder.clean && error instanceof StartRefused);
      throw error;
    }
  } catch (error) {
    await server.close(0);
    throw error;
  }
};
