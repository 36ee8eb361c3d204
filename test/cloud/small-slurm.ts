/**
 * A small Slurm: a controller that keeps jobs in memory and starts their batch scripts as processes of this machine, and clients with the
 * words, fields and times that dispatch asks for, worded as version 22.05 answers. It has one node and starts whatever may start. What a
 * real Slurm does is proved elsewhere; this one is there so that the deployed code has something to speak SSH to.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { FIELD } from '../../lib/cluster/slurm/squeue.ts';
import { nowAt, type Pace } from './time.ts';

const ROW = '\x1e';

interface Job {
  readonly id: number;
  readonly name: string;
  readonly script: string;
  readonly log: string;
  readonly folder: string;
  readonly submit: number;
  state: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'PREEMPTED' | 'CANCELLED';
  held: boolean;
  begin: number;
  start: number | undefined;
  end: number | undefined;
  exit: number;
  process: ChildProcess | undefined;
}

export interface SmallSlurm {
  /** For a login shell: where the clients are. */
  readonly environment: Readonly<Record<string, string>>;
  readonly jobs: readonly Readonly<Job>[];
  /** A job of somebody else; its id. */
  foreign(script: string): number;
  /** As a scheduler does it: the processes are killed, and the job says so. */
  preempt(id: number): void;
  close(): Promise<void>;
}

interface Said {
  readonly code: number;
  readonly out?: string;
  readonly err?: string;
}

export const startSmallSlurm = async (folder: string, pace: Pace): Promise<SmallSlurm> => {
  const jobs: Job[] = [];
  const bin = join(folder, 'bin');
  const seconds = (): number => Math.floor(nowAt(pace) / 1000);
  const controller = createServer((socket) => serve(socket, (words) => answer(words)));
  await new Promise<void>((resolve) => controller.listen(0, '127.0.0.1', resolve));
  const address = controller.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  makeClients(bin, port, pace);
  const environment = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, HOME: folder };

  const begin = (job: Job): void => {
    job.state = 'RUNNING';
    job.start = seconds();
    const log = openSync(job.log, 'a');
    job.process = spawn('/bin/sh', [job.script], {
      cwd: job.folder,
      env: { ...environment, SLURM_JOB_ID: String(job.id), SLURM_JOB_NODELIST: 'n1', SLURM_NODEID: '0' },
      stdio: ['ignore', log, log],
      detached: true,
    });
    job.process.on('exit', (code, signal) => {
      if (job.state !== 'RUNNING') return;
      end(job, code === 0 ? 'COMPLETED' : 'FAILED', signal ? 9 : (code ?? 1) << 8);
    });
  };
  const end = (job: Job, state: Job['state'], exit: number): void => {
    job.state = state;
    job.exit = exit;
    job.end = seconds();
    job.start ??= job.end;
    kill(job);
  };
  const schedule = setInterval(() => {
    for (const job of jobs) if (job.state === 'PENDING' && !job.held && job.begin <= seconds()) begin(job);
  }, 50);

  const of = (id: string | undefined): Job | undefined => jobs.find((job) => String(job.id) === id);
  const unknown: Said = { code: 1, err: 'slurm_load_jobs error: Invalid job id specified\n' };
  const on = (id: string | undefined, act: (job: Job) => Said | undefined): Said => {
    const job = of(id);
    return job ? (act(job) ?? { code: 0 }) : unknown;
  };

  const answer = ([client = '', ...words]: readonly string[]): Said => {
    switch (client) {
      case 'sbatch':
        return words.includes('--test-only') ? { code: 0, err: 'sbatch: Job 1 to start at now using 1 processors\n' } : submit(words);
      case 'squeue':
        return { code: 0, out: words.includes('JobID:,State:') ? '' : jobs.map((job) => `${row(job)}${ROW}\n`).join('') };
      case 'sacct':
        return { code: 0, out: accounting(words) };
      case 'scontrol':
        return scontrol(words);
      case 'scancel':
        return on(words[0], (job) => {
          if (job.end === undefined) end(job, 'CANCELLED', 0);
          return undefined;
        });
      default:
        return { code: 127, err: `${client}: not here\n` };
    }
  };

  const submit = (words: readonly string[]): Said => {
    const option = (name: string): string | undefined => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
    const job: Job = {
      id: 100 + jobs.length,
      name: option('job-name') ?? 'job',
      script: words.at(-1) ?? '',
      log: (option('output') ?? '/dev/null').replaceAll('%%', '%'),
      folder: option('chdir') ?? folder,
      submit: seconds(),
      state: 'PENDING',
      held: words.includes('--hold'),
      begin: momentOf(option('begin')),
      ...{ start: undefined, end: undefined, exit: 0, process: undefined },
    };
    jobs.push(job);
    return { code: 0, out: `${job.id}\n` };
  };

  const scontrol = (words: readonly string[]): Said => {
    const [first, second, third] = words.filter((word) => word !== '-o');
    if (first === 'ping') return { code: 0, out: 'Slurmctld(primary) at n1 is UP\n' };
    if (first === 'show' && second === 'config') return { code: 0, out: CONFIG };
    if (first === 'show' && second === 'partition')
      return { code: 0, out: 'PartitionName=batch Default=YES MaxTime=7-00:00:00 TotalNodes=1 State=UP\n' };
    if (first === 'show')
      return on(third, (job) => ({
        code: 0,
        out: `JobId=${job.id} JobName=${job.name} UserId=ml(1) JobState=${job.state} SubmitTime=${job.submit} EligibleTime=${job.begin} \n`,
      }));
    if (first === 'release')
      return on(second, (job) => {
        job.held = false;
        return undefined;
      });
    return on(/^JobId=(\d+)$/.exec(second ?? '')?.[1], (job) => {
      const start = /^StartTime=(.*)$/.exec(third ?? '')?.[1];
      if (start !== undefined) job.begin = start === 'now' ? seconds() : momentOf(start);
      return undefined;
    });
  };

  const accounting = (words: readonly string[]): string => {
    const names = words
      .find((word) => word.startsWith('--name='))
      ?.slice(7)
      .split(',');
    const ids = words[words.indexOf('-j') + 1]?.split(',') ?? [];
    const wanted = jobs.filter((job) => (names ? names.includes(job.name) : words.includes('-j') && ids.includes(String(job.id))));
    return wanted.flatMap((job) => accounted(job, seconds(), names === undefined)).join('');
  };

  return {
    environment,
    jobs,
    foreign: (script) => {
      const file = join(folder, 'foreign.sh');
      writeFileSync(file, script);
      return Number(submit(['--job-name=theirs', file]).out);
    },
    preempt: (id) => {
      const job = of(String(id));
      if (job?.state === 'RUNNING') end(job, 'PREEMPTED', 15);
    },
    close: async () => {
      clearInterval(schedule);
      for (const job of jobs) kill(job);
      await new Promise<void>((resolve) => controller.close(() => resolve()));
    },
  };
};

/** The script and everything that it started; sessions of their own too, since a real one cleans up by cgroup. */
const kill = (job: Job): void => {
  const { pid } = job.process ?? {};
  if (pid === undefined) return;
  for (const one of [...descendants(pid), pid]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};

/** By the parents that /proc names, the youngest first. */
const descendants = (pid: number): number[] => {
  const parents = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
      return [[Number(name), Number(parent)] as const];
    } catch (error) {
      // It ended while we looked.
      if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return [];
      throw error;
    }
  });
  const under = (one: number): number[] => parents.flatMap(([child, parent]) => (parent === one ? [...under(child), child] : []));
  return under(pid);
};

const momentOf = (text: string | undefined): number => (text === undefined ? 0 : Number(/^(?:uts)?(\d+)$/.exec(text)?.[1] ?? Number.NaN));

const row = (job: Job): string => {
  const reason = job.state !== 'PENDING' ? 'None' : job.held ? 'JobHeldUser' : 'BeginTime';
  const at = (moment: number | undefined): string => String(moment ?? 'N/A');
  const nodes = job.start === undefined ? '' : 'n1';
  return [
    ...[job.id, job.name, job.state, reason, job.exit, 0, 0, job.submit, job.begin || job.submit, at(job.start), at(job.end)],
    ...['N/A', 'N/A', nodes, nodes, 'batch'],
  ].join(FIELD);
};

const accounted = (job: Job, now: number, withSteps: boolean): string[] => {
  const exit = `${job.exit >> 8}:${job.exit & 127}`;
  const line = (id: string, name: string, state: string): string =>
    `${[
      ...[id, job.id, name, state, exit, '0:0', job.submit, job.begin || job.submit, job.start ?? 'Unknown', job.end ?? 'Unknown'],
      ...[job.start === undefined ? 0 : (job.end ?? now) - job.start, job.start === undefined ? 'None assigned' : 'n1', 'batch'],
    ].join(FIELD)}\n`;
  const steps = withSteps && job.start !== undefined ? [line(`${job.id}.batch`, 'batch', job.state)] : [];
  return [line(String(job.id), job.name, job.state), ...steps];
};

const CONFIG = `${Object.entries({
  AccountingStorageType: 'accounting_storage/slurmdbd',
  AuthInfo: 'ttl=5',
  JobRequeue: '1',
  MinJobAge: '300 sec',
  OverTimeLimit: '0 min',
  PreemptMode: 'CANCEL',
  PreemptType: 'preempt/qos',
  ProctrackType: 'proctrack/cgroup',
  RequeueExit: '(null)',
  RequeueExitHold: '(null)',
  SLURM_VERSION: '22.05.8',
  SlurmdTimeout: '300 sec',
  TaskPlugin: 'task/affinity',
  ConstrainRAMSpace: 'no',
})
  .map(([key, value]) => `${key.padEnd(24)}= ${value}`)
  .join('\n')}\n`;

const makeClients = (bin: string, port: number, { from, rate }: Pace): void => {
  mkdirSync(bin, { recursive: true });
  for (const name of ['sbatch', 'squeue', 'sacct', 'scontrol', 'scancel', 'srun']) {
    // Clients are run with an empty environment, so where the controller is stands in their text.
    const text = readFileSync(join(import.meta.dirname, 'slurm-client.sh'), 'utf8').replace('$SMALL_SLURM_PORT', String(port));
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  // The node's clock runs at the harness's pace; whatever else is asked of `date` is the real one's.
  const scaled = `awk -v r="$(/bin/date +%s.%N)" 'BEGIN { printf "%d\\n", ${from / 1000} + (r - ${from / 1000}) * ${rate} }'`;
  writeFileSync(join(bin, 'date'), `#!/bin/sh\n[ "$*" = +%s ] || exec /bin/date "$@"\n${scaled}\n`);
  chmodSync(join(bin, 'date'), 0o755);
};

/** Words arrive a line each, in base64, ended by a dot. */
const serve = (socket: Socket, answer: (words: readonly string[]) => Said): void => {
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (!text.endsWith('\n.\n')) return;
    const [client = '', ...words] = text.slice(0, -3).split('\n');
    const { code, out = '', err = '' } = answer([client, ...words.map((word) => Buffer.from(word, 'base64').toString('utf8'))]);
    const encoded = (one: string): string => Buffer.from(one, 'utf8').toString('base64');
    socket.end(`${code}\n${encoded(out)}\n${encoded(err)}\n`);
  });
};
