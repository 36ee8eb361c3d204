/** What a run sees, as docs/reference/environment.md prints it: the names that both adapters really set. */
import { environmentOf } from '../../../lib/cluster/memory/environment.ts';
import type { Submission } from '../../../lib/cluster/port.ts';
import { unsettable, WRAPPER_TIMING } from '../../../lib/cluster/slurm/wrapper.ts';
import { WRAPPER_BODY } from '../../../lib/cluster/slurm/wrapper-body.ts';
import { GUARD_EXIT_CODE } from '../../../lib/job/plan-requeue.ts';
import { parsed, written } from '../../job/plan-given.ts';
import { code, table } from './markdown.ts';

const VARIABLES: Readonly<Record<string, string>> = {
  DISPATCH_JOB: 'the job’s id',
  DISPATCH_CLUSTER: 'the cluster’s id in the configuration',
  DISPATCH_ATTEMPT: '`<attempt>-<run>`: the name of its exec folder',
  DISPATCH_EPOCH: 'attempt × 1,000,000 + run: orders every execution of the job',
  DISPATCH_CHECKPOINT_ROOT: 'the job’s checkpoint root, with `pub/` and `exec/` in it',
  DISPATCH_EXEC_DIR: 'where this run writes, and only this run: `exec/<attempt>-<run>` below the root',
  DISPATCH_RESUME_FROM: 'the save to resume from; unset when there is none',
  DISPATCH_RESUME_STEP: 'its training step; unset when there is none',
  DISPATCH_COMPLETION_MARKER: 'what proves a save complete, as the spec says; unset where it does not',
  DISPATCH_NODES: 'how many nodes the job has',
  DISPATCH_NODE_RANK: 'which of them this is, from 0; of a script always 0',
  DISPATCH_TASKS_PER_NODE: 'how many tasks each node runs',
  DISPATCH_MASTER_ADDR: 'a name of the first node that the others can reach',
  DISPATCH_MASTER_PORT: 'a port there, the same on every node of the run, and most likely free',
  DISPATCH_API_URL: 'where reports of checkpoints go; empty where the cluster’s configuration names no address',
  DISPATCH_TOKEN_FILE: 'a file, mode 0600, with the attempt’s token; the file is empty where none is issued',
};

/** An execution that resumes from something, so that every name is set. */
const onMemory = (): Readonly<Record<string, string>> =>
  environmentOf(
    {
      job: '0123456789abcdef',
      spec: parsed(written({ cluster: 'demo', checkpoint: { completionMarker: 'torch-dcp' } })),
    } as unknown as Submission,
    {
      ...{ root: '/memory', tag: 'tst0', n: 2, run: 1, nodes: ['n1', 'n2'] },
      base: { epoch: 1_000_000, step: 200, path: 'exec/1-0/step-200' },
    },
  );

const onSlurm = (): ReadonlySet<string> => new Set([...WRAPPER_BODY.matchAll(/\b(DISPATCH_[A-Z_]+)=/g)].map(([, name]) => name!));

export const NAMES = { memory: () => Object.keys(onMemory()).filter((name) => name.startsWith('DISPATCH_')), slurm: () => [...onSlurm()] };

export const variables = (): string => {
  const example = onMemory();
  return table(
    ['variable', 'for example', 'holds'],
    Object.entries(VARIABLES).map(([name, holds]) => [code(name), code(example[name] ?? ''), holds]),
  );
};

/** Names that an adapter sets and the table does not have, and the other way round. */
export const untoldVariables = (): string[] => {
  const told = Object.keys(VARIABLES);
  return (['memory', 'slurm'] as const).flatMap((kind) => {
    const set = NAMES[kind]();
    return [
      ...set.filter((name) => !told.includes(name)).map((name) => `${kind} sets ${name}`),
      ...told.filter((name) => !set.includes(name)).map((name) => `${kind} does not set ${name}`),
    ];
  });
};

/** What the wrapper refuses to start for, by the word that its refusal begins with. */
const STAGES: Readonly<Record<string, string>> = {
  guard:
    'the job was stopped, a later attempt has its mark, a later run of this one has begun, the mark names another object, the run is claimed already, or no mark came in time',
  checkpoint: 'publications cannot be listed, no resume point can be told, or a folder cannot be made',
  output: 'the folder of its output cannot be made',
  workdir: '`program.workdir` does not exist on this node',
  configuration: 'what runs the program (`srun`, a shell, a container runtime) is not on this node',
  secrets: 'the file of secrets is gone',
  told: 'it was told to end (TERM) before its program began, and neither a cancel nor the scheduler explains it',
};

const refusing = (): ReadonlySet<string> =>
  new Set([...WRAPPER_BODY.matchAll(/(?:d_refuse|d_no=)\s*["']([a-z]+): /g)].map(([, stage]) => stage!));

export const untoldStages = (): string[] => {
  const real = refusing();
  return [...[...real].filter((stage) => !(stage in STAGES)), ...Object.keys(STAGES).filter((stage) => !real.has(stage))];
};

export const stages = (): string =>
  table(
    ['`stage`', 'when'],
    Object.entries(STAGES).map(([stage, when]) => [code(stage), when]),
  );

export const codesOfWrapper = (): string =>
  table(
    ['exit code', 'means'],
    [
      ['the program’s own', 'it ran; 128 + signal where a signal ended it'],
      [String(GUARD_EXIT_CODE), 'the wrapper refused to run it, if a file in `refused/` says so, too; else it is the program’s own'],
      ['71', 'the working folder could not be entered'],
      ['1 to 5', 'instead of a code by which this cluster would requeue the job by itself; the result file holds the program’s own'],
    ],
  );

export const wrapperWaits = (): string =>
  table(
    ['wait', 'seconds'],
    [
      ['for its release mark, before it refuses', String(WRAPPER_TIMING.lateViewSeconds)],
      ['between two looks for it', String(WRAPPER_TIMING.lookAgainSeconds)],
      ['between two looks whether it may still run', String(WRAPPER_TIMING.watchSeconds)],
      ['from TERM to KILL, when it ends the program itself', String(WRAPPER_TIMING.graceSeconds)],
    ],
  );

/** Names that only Slurm's wrapper cannot set; asked of the code. */
export const shellNames = (): string =>
  ['IFS', 'UID', 'EUID', 'PPID', 'SHELLOPTS', 'RANDOM', 'SECONDS']
    .map((name) => {
      if (unsettable(name, '') === undefined) throw new Error(`${name} can be set under Slurm after all`);
      return code(name);
    })
    .join(', ');
