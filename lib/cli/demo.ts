/** Demo: `npm run demo`. The door of run-demo.ts: this process's terminal, clock, environment and exit code. */
import { randomInt } from 'node:crypto';
import { styleText } from 'node:util';
import ora from 'ora';
import { realClock } from '../local/clock.ts';
import { runDemo } from './run-demo.ts';

process.exitCode = await runDemo(process.argv.slice(2), {
  clock: realClock,
  // 32 bits of the system's randomness: ids, jitter and tokens of a local process.
  random: () => randomInt(2 ** 32) / 2 ** 32,
  environment: process.env,
  out: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
  dim: (text) => styleText('dim', text, { stream: process.stdout }),
  ...(process.stdout.isTTY ? { live: () => ora({ stream: process.stdout, discardStdin: false }).start() } : {}),
});
