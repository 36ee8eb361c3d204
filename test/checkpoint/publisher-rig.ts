/**
 * A place to run the real dispatch-publish in, without a cluster: a checkpoint root, the folder of one run, a control folder, the
 * environment that a run sees (contract §4a). Every shell that it must run under is required: one that is missing is an error.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { publisherText } from '../../lib/checkpoint/publisher.ts';
import { epochOf } from '../../lib/job/identity.ts';

/** Its own waits are at most 8 s, here: only one that hangs gets to this. */
const FEW_SECONDS = 60_000;

/** Only what busybox itself has, under busybox's own shell: the poorest node there is. */
const busyboxTools = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'busybox-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  if (spawnSync(placeOf('busybox'), ['--install', '-s', folder]).status !== 0) throw new Error('busybox gives none of its tools');
  return folder;
};

export interface Shell {
  readonly name: string;
  readonly words: readonly string[];
  readonly path: string;
}

let found: readonly Shell[] | undefined;
export const shells = (): readonly Shell[] => {
  const path = process.env['PATH'] ?? '';
  found ??= [
    { name: 'dash', words: [placeOf('dash')], path },
    { name: 'bash', words: [placeOf('bash'), '--posix'], path },
    { name: 'busybox', words: [placeOf('busybox'), 'sh'], path: busyboxTools() },
  ];
  return found;
};

export const placeOf = (command: string): string => {
  const found = spawnSync('/bin/sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).stdout.trim();
  if (found === '') throw new Error(`these tests need ${command}: apt-get install ${command}`);
  return found;
};

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Run {
  readonly root: string;
  readonly exec: string;
  readonly control: string;
  put(path: string, text?: string | Buffer): void;
  /** A file in the control folder. */
  mark(path: string, text?: string): void;
  markers(): string[];
  /** `before` is shell text that runs first and may change the words. */
  publish(words: readonly string[], over?: Readonly<Record<string, string | undefined>>, before?: string): Promise<Said>;
  /** A program that is found before the shell's own. */
  shadow(name: string, text: string): void;
  remove(): void;
}

export const runIn = (shell: Shell, { n = 1, run = 0, odd = "a 'b' $c" } = {}): Run => {
  const home = mkdtempSync(join(tmpdir(), 'publish-'));
  const root = join(home, odd, '0123456789abcdef');
  const control = join(home, 'control');
  const exec = join(root, 'exec', `${n}-${run}`);
  for (const folder of [exec, join(root, 'pub'), join(control, 'release'), join(control, 'claims'), join(home, 'bin')])
    mkdirSync(folder, { recursive: true });
  const script = join(control, 'dispatch-publish');
  writeFileSync(script, publisherText());
  writeFileSync(join(control, 'token'), '');
  const write = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  return {
    root,
    exec,
    control,
    put: (path, text = 'x') => write(join(exec, path), text),
    mark: (path, text = '1 1\n') => write(join(control, path), text),
    markers: () => readdirSync(join(root, 'pub')).sort(),
    publish: (words, over = {}, before = '') => {
      const environment = {
        DISPATCH_JOB: '0123456789abcdef',
        DISPATCH_ATTEMPT: `${n}-${run}`,
        DISPATCH_EPOCH: String(epochOf(n, run)),
        DISPATCH_CHECKPOINT_ROOT: root,
        DISPATCH_EXEC_DIR: exec,
        DISPATCH_TOKEN_FILE: join(control, 'token'),
        DISPATCH_API_URL: '',
        PATH: `${join(home, 'bin')}:${shell.path}`,
        ...over,
      };
      const call = `${before}exec ${shell.words.join(' ')} '${script}' "$@"`;
      return said('/bin/sh', ['-c', call, 'sh', ...words], exec, environment);
    },
    shadow: (name, text) => {
      const path = join(home, 'bin', name);
      writeFileSync(path, text);
      chmodSync(path, 0o755);
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
};

const said = (
  command: string,
  words: readonly string[],
  cwd: string,
  over: Readonly<Record<string, string | undefined>>,
): Promise<Said> => {
  const env = Object.fromEntries(Object.entries(over).filter((pair): pair is [string, string] => pair[1] !== undefined));
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: FEW_SECONDS });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      err += data.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
};

export const link = (target: string, path: string): void => {
  if (!existsSync(path)) symlinkSync(target, path);
};
