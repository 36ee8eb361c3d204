/**
 * The local transport: `/bin/sh -s` as a child process, for a supervisor that runs on the login node itself, and for tests. It goes
 * through the same frame and limits as SSH, so that an adapter cannot tell them apart.
 *
 * Invariant: a command that is given up leaves none of its processes behind, as far as they stayed in its process group.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { ClusterFailure, type Sent } from '../../failure.ts';
import { exchange, type Listener } from './exchange.ts';
import type { Session, Sources, Transport } from './port.ts';

export interface ShellOptions {
  /** The whole environment of the commands; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly shell?: string;
}

const WHERE = 'the local shell';

export function shellTransport(options: ShellOptions, sources: Sources): Transport {
  return { connect: async () => openSession(options, sources) };
}

function openSession(options: ShellOptions, sources: Sources): Session {
  const running = new Set<Listener>();
  const closed = (sent: Sent): ClusterFailure =>
    new ClusterFailure('cluster/unreachable', `the session with ${WHERE} was closed`, { reason: 'closed', sent });
  let over = false;
  return {
    async run(command) {
      let mine: Listener | undefined;
      try {
        return await exchange(command, WHERE, sources, (listener) => {
          mine = listener;
          running.add(listener);
          if (over) listener.failed(closed);
          else startShell(options, listener);
        });
      } finally {
        if (mine !== undefined) running.delete(mine);
      }
    },
    async close() {
      over = true;
      for (const listener of [...running]) listener.failed(closed);
    },
  };
}

function startShell(options: ShellOptions, listener: Listener): void {
  const failedToStart = (cause: unknown) => (sent: Sent) =>
    new ClusterFailure('cluster/command_failed', `${WHERE} could not be started`, { reason: 'no_shell', sent, retryable: true, cause });
  let child: ChildProcessWithoutNullStreams;
  try {
    // Detached: a process group of its own, which a time-out can end as a whole.
    child = spawn(options.shell ?? '/bin/sh', ['-s'], {
      env: { ...options.env },
      detached: true,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
  } catch (error) {
    listener.failed(failedToStart(error));
    return;
  }
  child.on('error', (error) => listener.failed(failedToStart(error)));
  child.stdout.on('data', (chunk: Buffer) => listener.output('stdout', chunk));
  child.stderr.on('data', (chunk: Buffer) => listener.output('stderr', chunk));
  child.on('close', (code, signal) =>
    listener.ended(code === null ? { how: 'signal', signal: signal ?? 'unknown' } : { how: 'exit', code }),
  );
  // A shell that ends early breaks the pipe; how it ended is told by `close`, which comes last.
  child.stdin.on('error', (error) => child.stdin.destroy(error));
  const letGo = (): void => {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  };
  // Without a pid nothing was started, and the error that says so is on its way.
  if (child.pid === undefined) return;
  const group = -child.pid;
  listener.opened({
    write: (program) => void child.stdin.end(program),
    release: letGo,
    kill: () => {
      killGroup(group);
      letGo();
    },
  });
}

function killGroup(group: number): void {
  try {
    process.kill(group, 'SIGKILL');
  } catch (error) {
    // Ended by itself in the meantime: what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
