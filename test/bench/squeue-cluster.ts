/**
 * A stand-in for a cluster's login node, in this process: it answers the one program of a look with a queue of running jobs, each
 * row as a real Slurm printed it with the job's own id, name and submit time. It costs nothing, so what is measured is dispatch.
 */
import { readFileSync } from 'node:fs';
import { FIELD, ROW } from '../../lib/cluster/slurm/squeue.ts';
import type { RemoteCommand, Transport } from '../../lib/cluster/slurm/transport/port.ts';
import type { QueuedJob } from './quiet-jobs.ts';

const RECORDED = new URL('../fixtures/slurm-22.05/success.json', import.meta.url);
const [ID, NAME, STATE, REASON, SUBMIT, ELIGIBLE] = [0, 1, 2, 3, 7, 8];

/** The recorded row of a job that runs. */
const recordedRow = (): readonly string[] => {
  const { commands } = JSON.parse(readFileSync(RECORDED, 'utf8')) as { commands: { argv: string[]; stdout: string }[] };
  const rows = commands.filter(({ argv }) => argv[0] === 'squeue').map(({ stdout }) => stdout.replace(`${ROW}\n`, '').split(FIELD));
  const running = rows.find((row) => row[STATE] === 'RUNNING' && row[REASON] === 'None');
  if (!running) throw new Error('the recording holds no running job');
  return running;
};

export const queueOf = (jobs: readonly QueuedJob[]): string => {
  const row = recordedRow();
  return jobs
    .map(({ schedulerId, identity, submittedAt }) => {
      const fields = [...row];
      fields[ID] = schedulerId;
      fields[NAME] = identity;
      fields[SUBMIT] = String(submittedAt);
      fields[ELIGIBLE] = String(submittedAt);
      return `${fields.join(FIELD)}${ROW}\n`;
    })
    .join('');
};

export interface StandIn {
  readonly transport: Transport;
  /** Scheduler commands and programs since the last time. */
  readonly counted: () => { readonly scheduler: number; readonly programs: number };
}

/** Answers `ask clock …` and `ask squeue …`; a program that asks for anything else shows in the count of scheduler commands. */
export const standIn = (queue: string, clusterNowSeconds: number): StandIn => {
  let [scheduler, programs] = [0, 0];
  const run = ({ script }: RemoteCommand) => {
    programs += 1;
    // `slurm LIMIT WORDS…` is how every program calls a command of the scheduler.
    scheduler += [...script.matchAll(/^ask \S+ slurm /gm)].length;
    const mark = /\x1c[0-9a-f]+/.exec(script)?.[0] ?? '';
    const section = (name: string, stdout: string): string => `\n${mark} ${name}\n${stdout}\n${mark} 0 ${name}\n`;
    const asked = (name: string): boolean => script.includes(`\nask ${name} `);
    const stdout = `${asked('clock') ? section('clock', `${clusterNowSeconds}\n`) : ''}${asked('squeue') ? section('squeue', queue) : ''}`;
    return Promise.resolve({ exitCode: 0, stdout, stderr: '', tookMs: 0 });
  };
  return {
    transport: { connect: () => Promise.resolve({ run, close: () => Promise.resolve() }) },
    counted: () => {
      const counted = { scheduler, programs };
      [scheduler, programs] = [0, 0];
      return counted;
    },
  };
};
