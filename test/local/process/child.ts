/** `npm start` as a person or a service starts it: a process of its own, on a folder and a port of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';

const DOOR = new URL('../../../lib/cli/start.ts', import.meta.url).pathname;
/** Far above what a start takes on the slowest machine: only a process that hangs gets here. */
const PATIENCE_MS = 90_000;

export interface Child {
  readonly url: string;
  readonly sfnUrl: string;
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; body: unknown }>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: unknown }>;
  /** Ends when it is gone: its exit code, or the signal. */
  kill(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | string>;
  logs(): readonly { readonly level: string; readonly message: string }[];
}

const running = new Set<ChildProcess>();
const folders: string[] = [];
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

export const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'dispatch-local-'));
  folders.push(folder);
  return folder;
};

const launch = (args: readonly string[]) => {
  const child = spawn(process.execPath, [DOOR, ...args], { stdio: ['ignore', 'pipe', 'pipe'], cwd: tmpdir() });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  running.add(child);
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | string;
  });
  return { child, said, ended };
};

/** A start that is refused: what it says, and its exit code. */
export const refused = async (args: readonly string[]): Promise<{ code: number | string; out: string; err: string }> => {
  const { said, ended } = launch(args);
  return { code: await ended, ...said };
};

export const start = async (args: readonly string[]): Promise<Child> => {
  const { child, said, ended } = launch(['--port', '0', ...args]);
  const ready = await new Promise<RegExpExecArray>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not ready: ${said.out}${said.err}`)), PATIENCE_MS);
    child.stdout?.on('data', () => {
      const line = /^dispatch listens on (\S+) \(data in .*; Step Functions protocol on (\S+)\)\n/.exec(said.out);
      if (!line) return;
      clearTimeout(late);
      resolve(line);
    });
    void ended.then((code) => {
      clearTimeout(late);
      reject(new Error(`ended with ${code}: ${said.err}`));
    });
  });
  const url = ready[1]!.replace('0.0.0.0', '127.0.0.1');
  const asked = async (path: string, init: RequestInit) => {
    const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return {
    url,
    sfnUrl: ready[2]!,
    get: (path, headers = {}) => asked(path, { headers }),
    post: (path, body, headers = {}) =>
      asked(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
    logs: () =>
      said.err
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { level: string; message: string }),
  };
};
