/**
 * Shell: one bash per page, as its reader has one: variables, functions and the folder live from block to block.
 * It stands in a folder of its own that looks like the checkout (links into it), and its curl and the command line reach the
 * page's server where the docs say localhost:8080: the commands run as they are printed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { endsWithUs } from './children.ts';
import { SHOWN } from './server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What commands of the docs may need of the checkout. No more: what they write must not go through a link into it. */
const LINKED = ['docs', 'functions', 'lib', 'node_modules', 'package.json', 'statemachines'];
/** Far above what a block takes (15 s at most): only one that hangs gets here. */
const BLOCK_MS = 90_000;
const OUTPUT_BYTES = 1024 * 1024;

export interface Ran {
  /** What a terminal would show: both streams, as they came. */
  readonly printed: string;
  /** `exit 2: npm start`, one for each command that failed and of which the block takes no notice. */
  readonly failed: readonly string[];
}

export interface Shell {
  readonly folder: string;
  run(commands: string): Promise<Ran>;
  /** From now on `from` (host:port, as in the docs) is reached there. */
  leads(to: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

export const openShell = async (): Promise<Shell> => {
  const top = await mkdtemp(join(tmpdir(), 'dispatch-docs-'));
  const [folder, home] = [join(top, 'dispatch'), join(top, 'home')];
  await mkdir(folder);
  await mkdir(home);
  for (const name of LINKED) await symlink(join(ROOT, name), join(folder, name));
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: home, LANG: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: whatever a block leaves behind is ended with it.
    detached: true,
  });
  const ended = once(bash, 'close').then(() => undefined);
  bash.stdout.setEncoding('utf8');
  // Written to after its end: the end itself is what tells (`gone`).
  bash.stdin.on('error', () => undefined);
  const isGone = endsWithUs(() => killGroup(bash));
  let count = 0;
  return {
    folder,
    async run(commands) {
      count += 1;
      const [script, failures] = [join(top, `${count}.sh`), join(top, `${count}.failed`)];
      await writeFile(script, `${commands}\n`);
      return { printed: await runFile(bash, script, failures), failed: await failedIn(failures) };
    },
    async leads(to) {
      const lines = [...to].map(([from, there]) => `connect-to = "${from}:${there}"`);
      await writeFile(join(home, '.curlrc'), [...lines, 'noproxy = "*"', 'max-time = 35', ''].join('\n'));
      const script = join(top, 'leads.sh');
      // What a page may set by itself where a reader has it from the line that `npm start` printed.
      await writeFile(script, `export DISPATCH_URL=http://${to.get(SHOWN.api)} AWS_ENDPOINT_URL_SFN=http://${to.get(SHOWN.sfn)}\n`);
      await runFile(bash, script, join(top, 'leads.failed'));
    },
    async close() {
      if (bash.exitCode === null && bash.signalCode === null) killGroup(bash);
      await ended;
      isGone();
      await rm(top, { recursive: true, force: true });
    },
  };
};

const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Gone meanwhile: that is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const END = '\u0001end of block\u0001';

/** Sourced, so that what it sets stays; without standard input, which is where the commands come from. */
const runFile = (bash: ChildProcess & { stdin: NonNullable<ChildProcess['stdin']> }, script: string, failures: string): Promise<string> =>
  new Promise((done, fail) => {
    let printed = '';
    const take = (text: string): void => {
      printed += text;
      if (printed.length > OUTPUT_BYTES) finish(() => fail(new Error('it printed more than 1 MiB')));
      else if (printed.includes(END)) finish(() => done(printed.replace(END, '').trimEnd()));
    };
    const gone = (): void => finish(() => fail(new Error(`the shell ended: ${printed}`)));
    const late = setTimeout(() => {
      killGroup(bash);
      finish(() => fail(new Error(`not over after ${BLOCK_MS / 1000} s: ${printed}`)));
    }, BLOCK_MS);
    const finish = (then: () => void): void => {
      clearTimeout(late);
      bash.stdout?.off('data', take);
      bash.off('close', gone);
      then();
    };
    bash.stdout?.on('data', take);
    bash.once('close', gone);
    bash.stdin.write(
      `exec 2>&1; set -E; trap 'printf "exit %s: %s\\n" "$?" "$BASH_COMMAND" >> ${failures}' ERR\n. ${script} < /dev/null\ntrap - ERR\nprintf '%s' '${END}'\n`,
    );
  });

const failedIn = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter(Boolean);
};
