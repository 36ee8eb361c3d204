#!/usr/bin/env node
/** Dispatch: the command line. The door of run-dispatch.ts: this process's terminal, clock, network and exit code. */
import { randomInt } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { runDispatch } from './run-dispatch.ts';

// Whoever reads may have enough, as `head` has: no fault, and nobody is left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runDispatch(process.argv.slice(2), {
  fetch,
  out: (words) => void process.stdout.write(words),
  warn: (words) => void process.stderr.write(words),
  dim: (words) => styleText('dim', words, { stream: process.stdout }),
  sleep: (ms) => delay(ms),
  random: () => randomInt(2 ** 32) / 2 ** 32,
  input: () => text(process.stdin),
});
