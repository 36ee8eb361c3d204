/**
 * Dispatch as tests on the real cluster run it: the command line as a process that can be killed, with its record in a
 * DynamoDB protocol server that is another process; or the system in this process, for what the command line does not do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { planJob } from '../../lib/app/plan-job.ts';
import { submitJob } from '../../lib/app/submit-job.ts';
import { readConfiguration } from '../../lib/cluster/configuration.ts';
import { openCluster } from '../../lib/cluster/open.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import { realClock } from '../../lib/local/clock.ts';
import { createSystem, type System } from '../../lib/local/system.ts';
import { createMemoryStore } from '../../lib/record/memory-store.ts';
import { until } from './rig.ts';

export interface Table {
  readonly environment: Readonly<Record<string, string>>;
  stop(): void;
}

/** A port that nobody listens on now, and that the kernel gives to nobody who asks for any: it is still free after a kill. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(freePort()) : reject(error)));
    probe.listen(randomInt(20_000, 32_000), '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))));
    });
  });

/** A record that outlives every process of dispatch. */
export const startTable = async (): Promise<Table> => {
  const port = await freePort();
  const server = spawn(
    process.execPath,
    ['node_modules/dynalite/cli.js', '--host', '127.0.0.1', '--port', String(port), '--createTableMs', '0'],
    { stdio: 'ignore' },
  );
  await until('dynalite', 20, async () => ((await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)) ? true : undefined));
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    stop: () => server.kill('SIGKILL'),
  };
};

/** A bucket in a process of its own: programs wait for its answers while a test waits for a command. */
export const startBucket = async (): Promise<{ readonly url: string; readonly bucket: string; stop(): Promise<void> }> => {
  const program = `import { startS3 } from './test/checkpoint/s3-server.ts';
const { url, bucket, close } = await startS3();
process.stdin.on('end', close).resume();
console.log(JSON.stringify({ url, bucket }));`;
  const server = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(server, 'exit');
  const line = await until('the bucket', 30, () => (said.endsWith('\n') ? said : undefined));
  return {
    ...(JSON.parse(line) as { readonly url: string; readonly bucket: string }),
    stop: async () => {
      server.stdin.end();
      await ended;
    },
  };
};

/** One process of the command line. `lines` grows as it prints. */
export class Demo {
  readonly lines: string[] = [];
  errors = '';
  private readonly child: ChildProcess;
  readonly ended: Promise<number | null>;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, ['lib/cli/demo.ts', ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let rest = '';
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      this.lines.push(...parts);
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.ended = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  /** The first line that holds this text. */
  async says(text: string, seconds: number): Promise<string> {
    try {
      return await until(`'${text}' from the demo`, seconds, () => this.lines.find((line) => line.includes(text)));
    } catch (error) {
      throw new Error(`${String(error)}\n--- it said:\n${this.lines.join('\n')}\n${this.errors}`);
    }
  }

  async job(seconds = 60): Promise<string> {
    const line = await this.says('accepted', seconds);
    return /job ([0-9a-z]{16})/.exec(line)?.[1] ?? '';
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/** The whole of dispatch in this process, over SSH, its record in memory. `adapt` may stand between it and the cluster. */
export const startSystem = async (
  configurationPath: string,
  tag: string,
  adapt: (adapter: Adapter) => Adapter = (adapter) => adapter,
): Promise<System> => {
  const read = readConfiguration(readFileSync(configurationPath, 'utf8'));
  if (!read.ok) throw new Error(read.says);
  const cluster = await openCluster(read.configuration.clusters[0]!, { tag, now: realClock.now, random: Math.random });
  const system = createSystem({
    store: createMemoryStore(),
    clusters: [{ ...cluster, adapter: adapt(cluster.adapter) }],
    tag,
    clock: realClock,
    random: Math.random,
    log: (level, message, fields) => {
      if (level === 'error') process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
    },
  });
  await system.start();
  return system;
};

/** Plans and submits a spec as users write it; gives the job's id. */
export const submitTo = async (system: System, spec: unknown): Promise<string> => {
  const planned = await planJob(system.ports, spec);
  if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
  if (planned.plan.refusals.length > 0) throw new Error(JSON.stringify(planned.plan.refusals));
  const { plan, login } = planned;
  const key = `test-${Math.random()}`;
  const born = await submitJob(system.ports, {
    spec: planned.spec,
    plan,
    principal: 'tester',
    project: 'test',
    login,
    key,
    payloadHash: plan.specDigest,
  });
  if (born.kind !== 'submitted') throw new Error(born.kind);
  return born.view.job;
};
