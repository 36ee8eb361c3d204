/**
 * Start: `npm start`. The door of lib/local/start.ts: this process's arguments, environment, signals and exit code. One line on standard
 * output when it is ready; what happens then goes to standard error as JSON lines. Exit code 0 after an orderly end, 1 when something
 * was left unfinished, 2 for a start that was refused.
 */
import { randomInt } from 'node:crypto';
import { realClock } from '../local/clock.ts';
import { StartRefused } from '../local/refusal.ts';
import { type StartOptions, startLocal } from '../local/start.ts';
import { startOptions } from './start-options.ts';

const log = (level: string, message: string, fields: object): void => {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...fields })}\n`);
};

const run = async (options: StartOptions): Promise<void> => {
  const starting = startLocal(options, {
    environment: process.env,
    clock: realClock,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    log,
  });
  let ending = false;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    // Asked twice: whoever asks has waited long enough, and the folder stands a kill at any moment.
    if (ending) process.exit(1);
    ending = true;
    const started = await starting;
    log('info', 'ending', { signal });
    const whole = await started.stop();
    log('info', 'ended', { whole });
    process.exit(whole ? 0 : 1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (name) => void end(name));
  const { url, sfnUrl } = await starting;
  process.stdout.write(`dispatch listens on ${url} (data in ${options.data}; Step Functions protocol on ${sfnUrl})\n`);
};

try {
  const options = startOptions(process.argv.slice(2), (text) => void process.stdout.write(text));
  if (options) await run(options);
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
