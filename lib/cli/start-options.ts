/** The arguments of `npm start`, read and checked. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { StartRefused } from '../local/refusal.ts';
import type { StartOptions } from '../local/start.ts';

const port = (text: string): number => {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 65_535)) throw new InvalidArgumentError('a whole number from 0 (any free port) to 65535.');
  return value;
};

/** Undefined: only help was asked for, and given to `out`. Throws StartRefused. `args`: without the program's own name. */
export const startOptions = (args: readonly string[], out: (text: string) => void): StartOptions | undefined => {
  const command = new Command('start')
    .description('Dispatch in one process: the API, the supervisors and the record, in a data folder of its own.')
    .addOption(new Option('--port <n>', 'port of the API; 0: any free one').argParser(port).default(8080))
    .option('--host <address>', 'address to listen on; all but loopback need --token-file', '127.0.0.1')
    .option('--data <folder>', 'data folder, made when it is missing', '.dispatch')
    .option('--config <file>', 'configuration of clusters, see docs/configuration.md (default: one memory cluster, demo)')
    .option('--token-file <file>', 'file with the bearer token that callers must send, readable by its owner alone')
    .allowExcessArguments(false)
    .configureOutput({ writeOut: out, writeErr: () => undefined })
    .exitOverride();
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new StartRefused(error.message.replace(/^error: /, '').replaceAll(/\s+/g, ' '));
  }
  return command.opts<StartOptions>();
};
