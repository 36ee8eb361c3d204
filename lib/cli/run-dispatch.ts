/**
 * Run dispatch: the command line as a whole. Answers the exit code: 0 when it did what it says; 1 when the API said no, or a watched job
 * did not succeed; 2 for a mistake in how it was called; 3 when nobody could say, so that a script never takes an outage for a failed
 * job. Everything outside is handed in, so that a test runs the whole of it.
 */
import { readFile, stat } from 'node:fs/promises';
import { CommanderError } from 'commander';
import { createClient, Said } from './client.ts';
import { commandLine, type Everywhere, type Printing } from './commands.ts';
import { printable, printableLines } from './printable.ts';
import { createVerbs, type Verbs } from './verbs.ts';

export interface Around extends Printing {
  readonly fetch: typeof fetch;
  readonly dim: (text: string) => string;
  readonly sleep: (ms: number) => Promise<void>;
  /** [0, 1). */
  readonly random: () => number;
  /** Everything on standard input. */
  readonly input: () => Promise<string>;
}

/** A mistake of the caller. */
class Mistake extends Error {}

/** `args`: without the program's own name. */
export const runDispatch = async (args: readonly string[], around: Around): Promise<number> => {
  const { out, warn } = around;
  try {
    await commandLine((options) => verbsOf(options, around), { out, warn }).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof Mistake) {
      warn(`${printable(error.message)}\n`);
      return 2;
    }
    if (!(error instanceof Said)) throw error;
    // Without words: what was printed says it.
    if (error.message !== '') warn(`${printableLines(error.message)}\n`);
    return error.isPassing || error.isUntold ? 3 : 1;
  }
};

const verbsOf = async (options: Everywhere, around: Around): Promise<Verbs> => {
  if (!URL.canParse(options.url) || !/^https?:$/.test(new URL(options.url).protocol))
    throw new Mistake(`--url ${options.url}: must be an http or https address`);
  // Not repeated here: it was on a command line already, and need not be in a log, too.
  if (new URL(options.url).username !== '' || new URL(options.url).password !== '')
    throw new Mistake('--url: must not hold a name or password; give a token by --token-file');
  const token = options.tokenFile === undefined ? undefined : await readToken(options.tokenFile);
  const client = createClient({ url: options.url, token, fetch: around.fetch });
  return createVerbs({ ...around, client, json: options.json, readSpec: (file) => readSpec(file, around) });
};

const readToken = async (file: string): Promise<string> => {
  const { mode } = await stat(file).catch((error: unknown) => unreadable(file, error));
  if ((mode & 0o077) !== 0) throw new Mistake(`--token-file ${file}: others may read it: chmod 600 ${file}`);
  const token = (await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, error))).trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) throw new Mistake(`--token-file ${file}: holds no token`);
  return token;
};

const readSpec = async (file: string, { input }: Around): Promise<unknown> => {
  const text = file === '-' ? await input() : await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, error));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Mistake(`${file}: not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const unreadable = (file: string, error: unknown): never => {
  throw new Mistake(`${file}: cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : String(error)})`);
};
