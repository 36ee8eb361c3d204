/** Server: `npm start` in the folder of a page, on a port of its own where the docs say 8080. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { endsWithUs } from './children.ts';

const DOOR = resolve(import.meta.dirname, '../../lib/cli/start.ts');
/** Far above what a start takes on the slowest machine: only a process that hangs gets here. */
const READY_MS = 90_000;
const END_MS = 35_000;

/** The addresses that the docs show, of the API and of the Step Functions protocol. */
export const SHOWN = { api: '127.0.0.1:8080', named: 'localhost:8080', sfn: '127.0.0.1:41619' } as const;

export interface Server {
  /** What it printed when it was ready, in the docs' addresses. */
  readonly printed: string;
  /** From the docs' addresses to where it really listens. */
  readonly leads: ReadonlyMap<string, string>;
  /** What a command printed, in the docs' addresses. */
  shown(printed: string): string;
  /** Ends it in order; a process that does not end is killed, and its end is no orderly one. */
  stop(): Promise<boolean>;
}

const COMMAND = /^npm start(?: -- (.+))?$/;

/** Two start at a time, since a start is all work, and the rest of a page mostly waiting. */
const turns: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let taken = 0;

/** `command`: what the page says, `npm start` with options maybe. Throws when it is something else, or when it does not start. */
export const startServer = (command: string, folder: string): Promise<Server> => {
  const turn = taken++ % turns.length;
  const started = turns[turn]!.then(() => start(command, folder));
  turns[turn] = started.catch(() => undefined);
  return started;
};

const start = async (command: string, folder: string): Promise<Server> => {
  const found = COMMAND.exec(command.trim());
  if (!found) throw new Error(`a server block holds one line, npm start with its options: ${command}`);
  // As npm would run it, from the folder of the page; options are split by a shell, as npm's would be.
  const child = spawn('bash', ['-c', `exec "$0" "$1" --port 0 ${found[1] ?? ''}`, process.execPath, DOOR], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const isGone = endsWithUs(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => {
    isGone();
    return code as number | null;
  });
  const [out, err] = [{ text: '' }, { text: '' }];
  const ready = new Promise<RegExpExecArray>((done, fail) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      fail(new Error(`not ready: ${out.text}${err.text}`));
    }, READY_MS);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err.text = `${err.text}${text}`.slice(-4096);
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out.text += text;
      const line = /listens on http:\/\/(\S+) .*protocol on http:\/\/([^)\s]+)/.exec(out.text);
      if (!line) return;
      clearTimeout(late);
      done(line);
    });
    void ended.then((code) => {
      clearTimeout(late);
      fail(new Error(`ended with ${code}: ${err.text}`));
    });
  });
  const [, api, sfn] = await ready;
  const shown = (printed: string): string =>
    printed.replaceAll(api!, SHOWN.api).replaceAll(api!.replace('127.0.0.1', 'localhost'), SHOWN.named).replaceAll(sfn!, SHOWN.sfn);
  return {
    printed: shown(out.text),
    leads: new Map([
      [SHOWN.api, api!],
      [SHOWN.named, api!],
      [SHOWN.sfn, sfn!],
    ]),
    shown,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
      const code = await ended;
      clearTimeout(late);
      return code === 0;
    },
  };
};
