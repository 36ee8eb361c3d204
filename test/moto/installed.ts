/**
 * moto in a virtual environment below node_modules/.cache, made at the first run from requirements.txt; and its server as a process.
 * Everything here has a time limit, and says what is missing.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const REQUIREMENTS = join(HERE, 'requirements.txt');
const CACHE = join(HERE, '..', '..', 'node_modules', '.cache');
const INSTALL_SECONDS = 900;
const START_SECONDS = 120;

export class NotInstalled extends Error {
  override readonly name = 'NotInstalled';
}

/** The Python of the environment. Throws NotInstalled, saying what to install. */
export const installed = (): string => {
  const version = spawnSync('python3', ['--version'], { encoding: 'utf8', timeout: 20_000 });
  if (version.status !== 0) throw new NotInstalled('there is no python3');
  const key = createHash('sha256').update(version.stdout).update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const folder = join(CACHE, `dispatch-moto-${key}`);
  const python = join(folder, 'bin', 'python');
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return python;
  // A folder that an earlier run did not finish.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  const run = (command: string, args: readonly string[], missing: string): void => {
    const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], timeout: INSTALL_SECONDS * 1000 });
    if (status !== 0) throw new NotInstalled(missing);
  };
  run('python3', ['-m', 'venv', folder], 'python3 -m venv failed: on Debian it needs the package python3-venv');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--requirement', REQUIREMENTS];
  run(python, pip, 'pip could not install test/moto/requirements.txt');
  writeFileSync(whole, '');
  return python;
};

export interface Served {
  readonly port: number;
  readonly close: () => void;
}

/** Starts the server; `world` is where it asks. Throws when it does not say its port in time. */
export const served = (python: string, world: string): Promise<Served> =>
  new Promise((resolve, reject) => {
    // Its standard input stays open as long as this process lives: it ends with it.
    const child: ChildProcess = spawn(python, [join(HERE, 'server.py'), world], { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    // Bounded: only its first words matter, when it cannot start.
    child.stderr!.on('data', (part: Buffer) => {
      if (errors.length < 4000) errors += part.toString();
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), START_SECONDS * 1000);
    child.on('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(limit);
      reject(new NotInstalled(`the server of moto ended at once (${code ?? signal}): ${errors}`));
    });
    child.stdout!.once('data', (line: Buffer) => {
      clearTimeout(limit);
      resolve({ port: Number(line.toString().trim()), close: () => child.kill('SIGKILL') });
    });
  });
