/**
 * start: from the start of `npm start`'s process on an empty folder to its ready line, against a process that opens only the table and
 * the ports with the same libraries; alternately, medians.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, tell } from './measure.ts';

const TURNS = 7;
const START_MS = 20_000;
const SERVER = new URL('../../lib/cli/start.ts', import.meta.url).pathname;
const ALONE = new URL('./start-alone.ts', import.meta.url).pathname;

const folder = await mkdtemp(join(tmpdir(), 'dispatch-bench-'));

/** Milliseconds to the first line that it says; then it is ended. */
const timed = async (args: readonly string[]): Promise<number> => {
  const began = performance.now();
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: START_MS });
  const said = once(child.stdout!, 'data').then(() => performance.now() - began);
  const ended = once(child, 'exit');
  const ms = await Promise.race([said, ended.then(() => undefined)]);
  child.kill('SIGKILL');
  await ended;
  if (ms === undefined) throw new Error(`${args[0]} ended before it was ready`);
  return ms;
};

const [ours, theirs]: [number[], number[]] = [[], []];
try {
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await timed([SERVER, '--port', '0', '--data', join(folder, `ours-${turn}`)]));
    theirs.push(await timed([ALONE, join(folder, `theirs-${turn}`)]));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
tell([
  { name: 'ready after, ms', value: median(ours) },
  { name: 'table and ports alone, ms', value: median(theirs) },
  { name: 'start, in starts of table and ports alone', value: median(ours) / median(theirs), bound: { atMost: 4 } },
]);
