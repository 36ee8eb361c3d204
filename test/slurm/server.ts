/**
 * Server: `npm start` as somebody runs it, against the real cluster: a process group of its own that can be killed as a whole and
 * started again on the same folder and port, and the API as its clients see it, who know nothing of that.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './dispatch.ts';
import { DIR } from './rig.ts';

const PROJECT = new URL('../..', import.meta.url).pathname;
/** Far above what a start or an answer takes on the slowest machine. */
const PATIENCE_MS = 60_000;
/** Across kills: the longest of several lives in a row that are all shorter than a start takes here. */
const INSIST_MS = 600_000;
const AGAIN_MS = 200;
const SAID_MOST = 20_000;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface Server {
  readonly url: string;
  readonly data: string;
  /** Throws when one is running. */
  start(): void;
  ready(): Promise<void>;
  /** SIGKILL to the whole group; ends when nothing of it is left. */
  kill(): Promise<void>;
  /** One request; throws where nobody answers. */
  ask(path: string, init?: RequestInit): Promise<Answer>;
  /** The same request until somebody answers who is ready: what a client does across a restart. */
  insist(path: string, init?: RequestInit): Promise<Answer>;
  /** The last of what its processes said on standard error. */
  said(): string;
  /** The tag of its folder. */
  tag(): string;
}

/** `configure` is told the API's address, and answers with the path of the configuration file; `environment` is what it finds beside ours. */
export const newServer = async (
  name: string,
  configure: (url: string) => string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Server> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // A folder of its own for each run of the tests, although the cluster may have been left up.
  const [data, config] = [mkdtempSync(`${DIR}/run/${name}-`), configure(url)];
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let said = '';
  let fallen = false;
  const hear = (text: string): void => {
    said = (said + text).slice(-SAID_MOST);
  };
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: await response.json() };
  };
  const insist = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const end = Date.now() + INSIST_MS;
    for (;;) {
      // A process that is killed drops the connection, in the middle of an answer too; one that starts says 503.
      const answer = await ask(path, init).catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && answer.status !== 503) return answer;
      // It was refused a start, or it fell over: nobody else will answer.
      if (fallen || Date.now() > end) throw new Error(`${path}: ${typeof answer === 'string' ? answer : answer.status}\n${said}`);
      await delay(AGAIN_MS);
    }
  };
  return {
    ...{ url, data, ask, insist },
    start: () => {
      if (child) throw new Error('it runs already');
      const started = spawn('npm', ['start', '--silent', '--', '--port', String(port), '--data', data, '--config', config], {
        cwd: PROJECT,
        env: { ...process.env, ...environment },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.stdout.setEncoding('utf8').on('data', hear);
      started.stderr.setEncoding('utf8').on('data', hear);
      // Closed when the last of the group that holds the streams is gone.
      ended = once(started, 'close').then(([code]) => {
        child = undefined;
        if (code === null) return;
        fallen = true;
        hear(`\n${name} ended by itself with ${code}\n`);
      });
      child = started;
    },
    ready: async () => {
      const { status } = await insist('/jobs');
      if (status !== 200) throw new Error(`GET /jobs: ${status}\n${said}`);
    },
    kill: async () => {
      if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
    said: () => said,
    tag: () => readFileSync(`${data}/tag`, 'utf8').trim(),
  };
};

/** A job as `GET /jobs/{id}` tells it: what these tests look at. */
export interface Told {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly why: string;
  readonly attempt?: { readonly n: number; readonly state: string };
  readonly resumedFrom?: { readonly attempt: number; readonly trainingStep: number; readonly path: string };
  readonly attempts: readonly { readonly n: number; readonly outcome?: string; readonly decision?: string }[];
  readonly checkpoint?: { readonly attempt: number; readonly trainingStep: number; readonly source: string };
}

export interface ToldEvent {
  readonly id: string;
  readonly version: number;
  readonly actor: string;
  readonly event: { readonly type: string } & Readonly<Record<string, unknown>>;
}

export interface ToldCheckpoint {
  readonly attempt: number;
  readonly epoch: number;
  readonly trainingStep: number;
  readonly path: string;
  readonly standing: string;
  readonly latest: boolean;
}

const got = <T>(path: string, { status, body }: Answer): T => {
  if (status !== 200 && status !== 202) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body as T;
};

export const submitBy = async (server: Server, key: string, spec: unknown): Promise<string> => {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return got<{ id: string }>('POST /jobs', await server.insist('/jobs', { method: 'POST', headers, body: JSON.stringify(spec) })).id;
};

export const jobBy = async (server: Server, job: string): Promise<Told> => got(`/jobs/${job}`, await server.insist(`/jobs/${job}`));

export const checkpointsBy = async (server: Server, job: string, refresh = false): Promise<readonly ToldCheckpoint[]> => {
  const path = `/jobs/${job}/checkpoints?refresh=${refresh}`;
  return got<{ items: readonly ToldCheckpoint[] }>(path, await server.insist(path)).items;
};

/** What came after a version, in one page. */
export const eventsBy = async (
  server: Server,
  job: string,
  after = 0,
  wait = 0,
): Promise<{ readonly items: readonly ToldEvent[]; readonly next: number; readonly more: boolean; readonly ended: boolean }> => {
  const path = `/jobs/${job}/events?after=${after}&wait=${wait}`;
  return got(path, await server.insist(path));
};
