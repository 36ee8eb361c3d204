/**
 * Life: a whole dispatch (use cases, the machine file on the engine, the ticker) and one job on a memory cluster, in virtual time.
 * Days take milliseconds. What rows may judge is what a reader of the job sees: status, why, events, questions; and, from outside,
 * the world's ground truth. A process can be killed at any call and started again: the store and the world stay, nothing else.
 */
import { answerQuestion, type Commanded, cancelJob } from '../../../lib/app/command-job.ts';
import { type Planned, planJob } from '../../../lib/app/plan-job.ts';
import type { Bus, Ports } from '../../../lib/app/ports.ts';
import { type Status, statusOf } from '../../../lib/app/status.ts';
import { type Birth, submitJob } from '../../../lib/app/submit-job.ts';
import { adapter } from '../../../lib/cluster/memory/adapter.ts';
import { createMemoryCluster, type MemoryClusterOptions, type World } from '../../../lib/cluster/memory/world.ts';
import type { Commit, Event, EventOf, EventType } from '../../../lib/job/event.ts';
import type { Question, View } from '../../../lib/job/view.ts';
import { blockingQuestion, fold, openQuestions } from '../../../lib/job/view.ts';
import { why } from '../../../lib/job/why.ts';
import { type VirtualClock, virtualClock } from '../../../lib/local/clock.ts';
import { createSystem, type System } from '../../../lib/local/system.ts';
import { createMemoryStore } from '../../../lib/record/memory-store.ts';
import type { RecordStore } from '../../../lib/record/port.ts';
import { type Death, type Process, spawn } from './process.ts';

export type Shape = MemoryClusterOptions['shape'];
export const SHAPES: readonly Shape[] = ['slurm', 'kubernetes'];

export const CLUSTER = 'here';
export const LOGIN = 'default';
export const TAG = 'c0re';
export const START_MS = Date.UTC(2030, 0, 1);

export interface Given {
  readonly shape?: Shape;
  /** What attempts 1, 2, … meet: docs/memory-cluster.md. */
  readonly script?: readonly unknown[];
  readonly rules?: readonly unknown[];
  readonly unmatched?: 'escalate' | 'stop' | 'relaunch_once';
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Laid over the spec, as a user writes it. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Days want 60. */
  readonly pollEverySeconds?: number;
  readonly cluster?: Partial<Omit<MemoryClusterOptions, 'shape' | 'clock' | 'random'>>;
  readonly store?: RecordStore;
  /** Where domain events go; without one nobody is told. */
  readonly bus?: Bus;
  /** Done to the world before the job is submitted. */
  readonly first?: (world: World) => void;
  /** The first process dies at this call. */
  readonly death?: Death;
  readonly seed?: number;
}

/** Every relaunch at once, so that rows count seconds and not backoff. */
export const AT_ONCE = { initial: '0s', factor: 1, max: '1s' };
export const relaunch = (on: readonly string[], more: Readonly<Record<string, unknown>> = {}): unknown => ({
  on,
  do: { relaunch: { max: 3, backoff: AT_ONCE, from: 'checkpoint', ...more } },
});

const specOf = (given: Given): unknown => ({
  name: 'train',
  cluster: CLUSTER,
  resources: { nodes: 2, tasksPerNode: 1, memoryPerNode: '16Gi' },
  program: { command: ['train'] },
  timeLimit: '1h',
  patience: '1h',
  checkpoint: {},
  policy: { rules: given.rules ?? [], unmatched: given.unmatched ?? 'stop', limits: { attempts: 5, ...given.limits } },
  extensions: { memory: { script: given.script ?? [] } },
  ...given.spec,
});

/** Numbers in [0, 1), the same for the same seed. */
export const numbers = (seed: number) => {
  let last = seed;
  return (): number => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
};

type Ready = Extract<Planned, { kind: 'planned' }>;

export interface Life {
  readonly world: World;
  readonly clock: VirtualClock;
  readonly store: RecordStore;
  /** '' until somebody was told. */
  job(): string;
  readonly shape: Shape;
  readonly logs: readonly { readonly level: string; readonly message: string; readonly fields: object }[];
  process(): Process;
  ports(): Ports;
  system(): System;
  /** Seconds since the start. */
  at(): number;
  advance(seconds: number): Promise<void>;
  /** Goes on until a reader sees this; an error that tells the story when it does not come within that many seconds. */
  until(sees: (status: Status, view: View) => boolean, withinSeconds?: number): Promise<Status>;
  ended(withinSeconds?: number): Promise<Status>;
  cancel(): Promise<Commanded>;
  /** By the API, to the open question. */
  answer(answer: string, question?: string): Promise<Commanded>;
  /** By the Step Functions task token that waits for this question, with this as the task's output. */
  answerByToken(output: unknown, question?: string): Promise<'sent' | string>;
  tokenOf(question: string): Promise<string>;
  status(): Status;
  view(): View;
  question(): Question;
  commits(): readonly Commit[];
  events(): readonly Event[];
  all<T extends EventType>(type: T): readonly EventOf<T>[];
  count(type: EventType): number;
  /** What the reader was told at every version. */
  whys(): readonly { readonly state: string; readonly why: string }[];
  /** The scheduler's id of the last attempt's object. */
  object(): string;
  /** What kill -9 and a new start do, `afterSeconds` apart. */
  restartProcess(afterSeconds?: number): Promise<void>;
}

export const life = async (given: Given = {}): Promise<Life> => {
  const clock = virtualClock(START_MS);
  const random = numbers(given.seed ?? 1);
  const shape = given.shape ?? 'slurm';
  const world = createMemoryCluster({ shape, clock, random, logins: [LOGIN], ...given.cluster });
  const store = given.store ?? createMemoryStore();
  const logs: { level: string; message: string; fields: object }[] = [];
  const commits: Commit[] = [];
  let view: View | undefined;
  let job = '';

  const start = (death?: Death): Process => {
    const process = spawn({
      ...{ clock, store, adapter: adapter(world, { tag: TAG, cluster: CLUSTER }) },
      ...(given.bus ? { bus: given.bus } : {}),
      ...(death ? { death } : {}),
    });
    const system = createSystem({
      store: process.store,
      ...(process.bus ? { bus: process.bus } : {}),
      clusters: [
        {
          id: CLUSTER,
          adapter: process.adapter,
          pollEverySeconds: given.pollEverySeconds ?? 5,
          landingBoundSeconds: 90,
          readOnly: false,
          logins: [{ id: LOGIN, user: LOGIN }],
        },
      ],
      tag: TAG,
      clock: process.clock,
      random,
      log: (level, message, fields) => process.alive() && logs.push({ level, message, fields }),
    });
    process.runs(system);
    return process;
  };
  let process: Process;

  const quiet = async (): Promise<void> => {
    await clock.settle();
    // A store behind a socket needs real time; virtual time stands still meanwhile.
    while (process.busy()) await clock.settle();
  };
  const read = async (): Promise<void> => {
    await quiet();
    if (job === '') return;
    const fresh = await store.read(job, commits.length);
    if (fresh.length === 0) return;
    commits.push(...fresh);
    view = fold(fresh, view);
  };
  const step = async (limitMs: number): Promise<boolean> => {
    const next = clock.nextAtMs();
    if (next === undefined || next > limitMs) return false;
    await clock.advanceToNext();
    await read();
    return true;
  };
  const advance = async (seconds: number): Promise<void> => {
    const limitMs = clock.now() + seconds * 1000;
    while (await step(limitMs));
    await clock.advance(limitMs - clock.now());
    await read();
  };
  const seen = (): View => {
    if (!view) throw new Error('nobody can read this job yet');
    return view;
  };
  const story = (): string =>
    commits
      .flatMap(({ version, at, actor, events }) =>
        events.map((event) => `${version} +${(at - START_MS) / 1000} s ${actor} ${JSON.stringify(event)}`),
      )
      .map((line) => line.slice(0, 300))
      .join('\n');
  const until = async (sees: (status: Status, at: View) => boolean, withinSeconds = 7200): Promise<Status> => {
    const limitMs = clock.now() + withinSeconds * 1000;
    await read();
    while (!view || !sees(statusOf(view), view)) {
      if (!(await step(limitMs)))
        throw new Error(`not seen within ${withinSeconds} s: ${view ? `${statusOf(view).state}: ${why(view)}` : 'no job'}\n${story()}`);
    }
    return statusOf(view);
  };
  const events = (): readonly Event[] => commits.flatMap((commit) => commit.events);
  const all = <T extends EventType>(type: T): readonly EventOf<T>[] => events().filter((event): event is EventOf<T> => event.type === type);
  const question = (): Question => {
    const open = blockingQuestion(seen()) ?? openQuestions(seen())[0];
    if (!open) throw new Error(`no question is open: ${why(seen())}\n${story()}`);
    return open;
  };
  const tokenOf = async (id: string): Promise<string> => {
    const wake = await store.readWake(job, id);
    if (!wake) throw new Error(`no token waits for ${id}`);
    return wake.token;
  };

  const plan = async (by: Process): Promise<Ready> => {
    const planned = await planJob(by.system().ports, specOf(given));
    if (planned.kind === 'refused') throw new Error(JSON.stringify(planned.refusals));
    if (planned.plan.refusals.length > 0) throw new Error(JSON.stringify(planned.plan.refusals));
    return planned;
  };
  const submit = async ({ spec, plan, login }: Ready): Promise<void> => {
    const submitted = { spec, plan, principal: 'ada', project: 'p', login, key: `once-${given.seed ?? 1}`, payloadHash: plan.digest };
    const asked = process;
    let born: Birth | undefined;
    const answer = submitJob(asked.system().ports, submitted).then((birth) => {
      born = birth;
    });
    let failed = false;
    answer.catch(() => {
      failed = true;
    });
    // A process that dies never answers: its caller asks again, with the same key, once there is another.
    while (!born && !failed && asked.alive()) await clock.settle();
    if (!born && !failed) return;
    await answer;
    if (born?.kind !== 'submitted') throw new Error(`the key was used for ${born?.job}`);
    job = born.view.job;
  };
  const restartProcess = async (afterSeconds = 0): Promise<void> => {
    process.kill();
    if (afterSeconds > 0) await advance(afterSeconds);
    process = start();
    const started = process.system().start();
    await quiet();
    if (process.alive()) await started;
    if (job === '') await submit(planned);
    await read();
  };

  // The plan needs a probe: from here on the world may refuse everything, and the process die.
  const planned = await plan(start());
  given.first?.(world);
  process = start(given.death);
  const started = process.system().start();
  await quiet();
  if (process.alive()) await started;
  await submit(planned);
  await read();
  return {
    ...{ world, clock, store, shape, logs, advance, until, events, all, question, tokenOf, restartProcess },
    job: () => job,
    process: () => process,
    ports: () => process.system().ports,
    system: () => process.system(),
    at: () => (clock.now() - START_MS) / 1000,
    ended: (withinSeconds) => until((_, now) => now.ended !== undefined, withinSeconds),
    cancel: async () => {
      const said = await cancelJob(process.system().ports, job, { principal: 'ada', reason: 'no longer wanted' });
      await read();
      return said;
    },
    answer: async (answer, id) => {
      const said = await answerQuestion(process.system().ports, job, { question: id ?? question().id, answer, by: 'ada' });
      await read();
      return said;
    },
    answerByToken: async (output, id) => {
      const token = await tokenOf(id ?? question().id);
      try {
        process.system().engine.sendTaskSuccess(token, JSON.stringify(output));
      } catch (error) {
        return error instanceof Error && 'code' in error ? String(error.code) : String(error);
      } finally {
        await read();
      }
      return 'sent';
    },
    status: () => statusOf(seen()),
    view: seen,
    commits: () => commits,
    count: (type) => all(type).length,
    whys: () =>
      commits.map((_, i) => {
        const at = fold(commits.slice(0, i + 1)) as View;
        return { state: statusOf(at).state, why: why(at) };
      }),
    object: () => {
      const id = seen().attempts.at(-1)?.receipt?.schedulerId;
      if (id === undefined) throw new Error(`nothing is bound: ${why(seen())}`);
      return id;
    },
  };
};
