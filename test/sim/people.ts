/**
 * People in a world: they submit, sometimes twice or not to the end, cancel, and answer questions: by the API, by the task token,
 * with nonsense, or not at all. Each request is a process like any other.
 */
import { answerQuestion, cancelJob } from '../../lib/app/command-job.ts';
import type { Ports } from '../../lib/app/ports.ts';
import { type Submitted, submitJob } from '../../lib/app/submit-job.ts';
import { ANSWERS } from '../../lib/job/event.ts';
import { openQuestions, type View } from '../../lib/job/view.ts';
import type { Engine } from '../../lib/local/engine/engine.ts';
import { RequestRefused } from '../../lib/local/engine/fault.ts';
import type { Kernel, Process } from './kernel.ts';

const API_MS = 29_000;
const TRIES = 12;

export interface Public {
  readonly kernel: Kernel;
  readonly limits: boolean;
  portsFor(process: Process): Ports;
  engine(): Engine;
  failed(process: string, error: unknown): void;
  /** What the record says now of every job that has one. */
  views(): readonly View[];
}

const request = <T>(world: Public, name: string, body: (ports: Ports, process: Process) => Promise<T>): Promise<T | undefined> =>
  world.kernel
    .spawn(name, world.limits ? API_MS : undefined, (process) => body(world.portsFor(process), process))
    .catch((error: unknown) => {
      world.failed(name, error);
      return undefined;
    });

/** Submits at that time, and again with the same key until it was answered; now and then the client gives up. */
export const willSubmit = (world: Public, submitted: () => Submitted, afterMs: number): void => {
  const { kernel } = world;
  const one = submitted();
  const attempt = (tries: number): void => {
    void request(world, 'submit', (ports) => submitJob(ports, one)).then((birth) => {
      if (birth !== undefined || (tries > 3 && kernel.random.chance(0.2)) || tries > TRIES) return;
      kernel.after(kernel.random.between(1, 60) * 1000, () => attempt(tries + 1), 'submit again');
    });
    // A client that did not wait for its answer.
    if (kernel.meets('duplicate_invocation')) void request(world, 'submit', (ports) => submitJob(ports, one));
  };
  kernel.after(afterMs, () => attempt(1), 'submit');
};

export interface Habits {
  readonly cancels: number;
  readonly answers: number;
  readonly everyMs: number;
}

/** Looks at the jobs now and then, and does something about some of them. */
export const willLook = (world: Public, habits: Habits): void => {
  const { kernel } = world;
  const look = (): void => {
    if (kernel.calm) return;
    for (const view of world.views()) {
      if (kernel.random.chance(habits.cancels)) cancels(world, view);
      for (const question of openQuestions(view)) if (kernel.random.chance(habits.answers)) answers(world, view, question.id);
    }
    kernel.after(kernel.random.between(1, habits.everyMs), look, 'people look');
  };
  kernel.after(kernel.random.between(1, habits.everyMs), look, 'people look');
};

const cancels = (world: Public, view: View): void => {
  const again = world.kernel.random.chance(0.2);
  for (let i = 0; i < (again ? 2 : 1); i++)
    void request(world, 'cancel', (ports) => cancelJob(ports, view.job, { principal: 'ada', reason: 'not needed' }));
};

const answers = (world: Public, view: View, id: string): void => {
  const { random } = world.kernel;
  const question = view.questions.find((one) => one.id === id)!;
  const choice = random.chance(0.15) ? random.pick(ANSWERS) : random.pick(question.options);
  if (question.blocks && random.chance(0.5)) {
    const output = random.chance(0.2)
      ? random.pick(['{}', '{"answer":7}', 'null', '{"answer":"perhaps"}'])
      : JSON.stringify({ answer: choice });
    void request(world, 'answer by token', (ports, process) => byToken(world, ports, process, view.job, id, output));
    if (!random.chance(0.2)) return;
  }
  void request(world, 'answer', (ports) => answerQuestion(ports, view.job, { question: id, answer: choice, by: 'ada' }));
};

const byToken = async (world: Public, ports: Ports, process: Process, job: string, question: string, output: string): Promise<void> => {
  const wake = await ports.store.readWake(job, question);
  if (!wake) return;
  await world.kernel.call(process, `SendTaskSuccess ${output}`, async () => {
    try {
      world.engine().sendTaskSuccess(wake.token, output);
    } catch (error) {
      // Somebody was faster, or the execution is gone: normal.
      if (!(error instanceof RequestRefused && error.code === 'TaskTimedOut')) throw error;
    }
  });
};
