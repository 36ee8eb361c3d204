/**
 * The world that moto asks while it runs scenarios: an HTTP server in this process that answers for the functions, says what befalls a
 * start, and is told of delays. What each scenario's world has seen is kept by the machine's name.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../lib/local/engine/json.ts';
import { type Call, generationOf, NEVER, type Scenario } from './scenario.ts';

/** What one scenario's world has seen so far. */
export interface Play {
  readonly scenario: Scenario;
  readonly calls: Map<number, Call[]>;
  readonly advanced: Map<number, number>;
  readonly starts: { name: string; input: string }[];
  readonly delaysSeconds: Map<string, number[]>;
  parked: number;
  readonly tokens: string[];
  /** Sent once the park has answered. */
  signal: ((token: string, call: number) => Promise<void>) | undefined;
}

export interface World {
  readonly url: string;
  readonly plays: Map<string, Play>;
  readonly close: () => void;
}

/** The server that moto asks. A machine called `calm1` has the functions `advance-calm1` and `park-calm1`. */
export const openWorld = async (): Promise<World> => {
  const plays = new Map<string, Play>();
  const server: Server = createServer((request, response) => {
    const answer = (body: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    bodyOf(request)
      .then((body) => answered(plays, request.url ?? '', body, answer))
      .catch((error: unknown) => {
        process.stderr.write(`the world of moto broke: ${String(error)}\n`);
        response.destroy();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plays,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>;
};

const playOf = (plays: Map<string, Play>, machine: string): Play => {
  const play = plays.get(machine);
  if (!play) throw new Error(`no scenario plays on ${machine}`);
  return play;
};

/** Leaves without an answer where the scenario wants none: the machine's own limit ends the wait. */
const answered = async (plays: Map<string, Play>, path: string, body: Record<string, unknown>, answer: (body: unknown) => void) => {
  if (path === '/delay') {
    const [machine = '', name = ''] = String(body['execution']).split(':').slice(-2);
    const { delaysSeconds } = playOf(plays, machine);
    delaysSeconds.set(name, [...(delaysSeconds.get(name) ?? []), Number(body['seconds'])]);
    return answer({});
  }
  if (path === '/starting') {
    const play = playOf(plays, String(body['stateMachineArn']).split(':').at(-1)!);
    const trouble = play.scenario.starting?.(play.starts.push({ name: String(body['name']), input: String(body['input']) }) - 1);
    return trouble === NEVER ? undefined : answer(trouble ?? {});
  }
  const [name = '', machine = ''] = String(body['function']).split('-');
  const play = playOf(plays, machine);
  const payload = body['payload'] as Record<string, Json>;
  const first = generationOf(play.scenario);
  const generation = Number(payload['generation'] ?? first);
  play.calls.set(generation, [...(play.calls.get(generation) ?? []), { function: name, payload }]);
  const call = name === 'park' ? play.parked++ : (play.advanced.get(generation) ?? 0);
  if (name === 'advance') play.advanced.set(generation, call + 1);
  if (name === 'park') play.tokens.push(String(payload['token']));
  let result: unknown;
  try {
    result = name === 'park' ? play.scenario.park?.(call) : play.scenario.advance(call, generation);
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error;
    return answer({ error: { errorType, errorMessage } });
  }
  if (result === NEVER) return;
  answer({ result: result ?? null });
  if (name === 'park') await play.signal?.(String(payload['token']), call);
};

export const begun = (scenario: Scenario): Play => ({
  scenario,
  ...{ calls: new Map(), advanced: new Map(), delaysSeconds: new Map() },
  ...{ starts: [], tokens: [] },
  ...{ parked: 0, signal: undefined },
});
