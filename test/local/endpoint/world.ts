/** A small machine on an engine under virtual time, behind an endpoint, and clients of the SDK that talk to it. */

import { SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn';
import { afterEach } from 'vitest';
import { type Endpoint, type EndpointOptions, startEndpoint } from '../../../lib/local/endpoint/endpoint.ts';
import type { Engine, EngineOptions } from '../../../lib/local/engine/engine.ts';
import { seeded } from '../../machine/world.ts';
import { type World as EngineWorld, world as engineWorld, type Fields, wait } from '../engine/world.ts';

export const credentials = { accessKeyId: 'nobody', secretAccessKey: 'nothing' };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Listens until the test has ended. */
export async function listening(engine: Engine, more: Omit<EndpointOptions, 'engine'> = {}): Promise<Endpoint> {
  const endpoint = await startEndpoint({ engine, ...more });
  closing.push(endpoint.close);
  return endpoint;
}

/** An unmodified client that is told nothing but the url. */
export function clientOf(url: string, more: SFNClientConfig = {}): SFNClient {
  const client = new SFNClient({ endpoint: url, region: 'us-east-1', credentials, ...more });
  closing.push(() => client.destroy());
  return client;
}

export interface World extends EngineWorld {
  endpoint: Endpoint;
  client: SFNClient;
  machineArn: string;
}

/** By default one state that hands its token to `f` and waits an hour. */
export async function world(
  states: Fields = { A: wait() },
  more: Omit<EndpointOptions, 'engine'> & { engineOptions?: Partial<EngineOptions> } = {},
): Promise<World> {
  const { engineOptions, ...options } = more;
  const w = engineWorld(states, undefined, { random: seeded(7), ...engineOptions });
  const endpoint = await listening(w.engine, options);
  return { ...w, endpoint, client: clientOf(endpoint.url), machineArn: w.engine.machineArn };
}

/** A call without the SDK. */
export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; type: string; message: string; headers: Headers }> {
  const response = await fetch(url, { method: 'POST', body, headers: { 'x-amz-target': 'AWSStepFunctions.SendTaskSuccess', ...headers } });
  const { __type, message } = (await response.json()) as { __type: string; message: string };
  return { status: response.status, type: __type, message, headers: response.headers };
}
