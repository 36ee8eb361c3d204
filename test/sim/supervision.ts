/**
 * Supervision in a world: the real state machine file on the real engine, its two functions as processes that may be throttled,
 * doubled, stalled, killed or lose their answer, and the port through which handlers start and signal executions.
 */
import { readFileSync } from 'node:fs';
import { type AdvanceInput, advance, type Directive } from '../../lib/app/advance.ts';
import { type ParkInput, park, StaleDecision } from '../../lib/app/park.ts';
import { type Ports, type Supervisors, SupervisorsFailure } from '../../lib/app/ports.ts';
import { createEngine, type Engine, type ExecutionDescription } from '../../lib/local/engine/engine.ts';
import { RequestRefused } from '../../lib/local/engine/fault.ts';
import type { Json } from '../../lib/local/engine/json.ts';
import type { StartedExecution } from '../../lib/local/engine/run.ts';
import { Crashed, type Failing, type Kernel, type Process } from './kernel.ts';

const definition: unknown = JSON.parse(readFileSync(new URL('../../statemachines/supervisor.asl.json', import.meta.url), 'utf8'));
const substitutions = { AdvanceFunctionArn: 'advance', ParkFunctionArn: 'park' };

/** Of a Lambda function (contract §13); a stalled one is ended then, unless the climate knows no limits. */
const ADVANCE_MS = 150_000;
const PARK_MS = 10_000;

export type MachineInput = Pick<ParkInput, 'job' | 'generation' | 'machine'> & Partial<Pick<AdvanceInput, 'startedAt'>>;

export interface Hands {
  readonly kernel: Kernel;
  readonly limits: boolean;
  portsFor(process: Process): Ports;
  /** What the machine passes as the release of these ports takes it at its door; throws what it does not take. */
  taken<T extends MachineInput>(ports: Ports, input: T): T;
  /** What was answered to it. */
  directs(input: AdvanceInput, directive: Directive): void;
  /** A process ended with an error: whether it is one of the world's is judged there. */
  failed(process: string, error: unknown): void;
  /** An execution ended badly: EventBridge calls reconcile, mostly once. */
  endedBadly(name: string, error: string): void;
  /** A signal under this token was accepted. */
  signalled(token: string): void;
  /** The machine goes round without having waited. */
  turns(job: string, generation: number): void;
  /** It waits. */
  waits(job: string, generation: number): void;
  /** An execution ended, however. */
  ended(execution: ExecutionDescription): void;
}

export const createSupervision = (hands: Hands): Engine => {
  const { kernel } = hands;
  /** By token: the execution that waits under it, until somebody tried. */
  const unheard = new Map<string, string>();
  const invoke = <T>(name: string, limitMs: number, body: (ports: Ports) => Promise<T>): Promise<T> =>
    invoked(hands, name, hands.limits ? limitMs : undefined, body);
  const engine = createEngine({
    definition,
    substitutions,
    clock: kernel,
    random: kernel.random.next,
    functions: {
      advance: (payload: Json) => {
        const input = payload as unknown as AdvanceInput;
        return invoke('advance', ADVANCE_MS, async (ports) => {
          const taken = hands.taken(ports, input);
          const directive = await advance(ports, taken);
          hands.directs(taken, directive);
          if (directive.next === 'again') hands.turns(input.job, input.generation);
          return directive;
        });
      },
      park: (payload: Json) => {
        const input = payload as unknown as ParkInput;
        return invoke('park', PARK_MS, async (ports) => {
          try {
            unheard.set(input.token, `${input.job}-${input.generation}`);
            await park(ports, hands.taken(ports, input));
            hands.waits(input.job, input.generation);
          } catch (error) {
            if (error instanceof StaleDecision) hands.turns(input.job, input.generation);
            throw error;
          }
        });
      },
    },
    onEnd: (execution) => {
      const { name, status, error, cause } = execution;
      hands.ended(execution);
      kernel.note(() => `  execution ${name} ${status} ${error ?? ''} ${cause ?? ''}`);
      if (status === 'SUCCEEDED' || kernel.meets('bad_end_untold')) return;
      hands.endedBadly(name, error ?? status);
      if (kernel.meets('bad_end_told_twice')) hands.endedBadly(name, error ?? status);
    },
    aroundStart: (_request, start) => aroundStart(kernel, start),
    // An execution that reaches its cap is the same failure with fewer events to keep.
    limits: { ended: 200, histories: 2 },
  });
  return {
    ...engine,
    sendTaskSuccess: (token, output) => {
      try {
        engine.sendTaskSuccess(token, output);
      } catch (error) {
        // Nobody was heard under it, and yet its execution has gone on.
        if (isTimedOut(error) && runs(engine, unheard.get(token))) kernel.count('wake_after_timeout');
        unheard.delete(token);
        throw error;
      }
      unheard.delete(token);
      hands.signalled(token);
    },
  };
};

const isTimedOut = (error: unknown): boolean => error instanceof RequestRefused && error.code === 'TaskTimedOut';

const runs = (engine: Engine, name: string | undefined): boolean =>
  engine.listExecutions({ status: 'RUNNING', maxResults: 1000 }).some((execution) => execution.name === name);

/** The request to run a function, the run, and its answer, each of which may go wrong. */
const invoked = <T>(hands: Hands, name: string, limitMs: number | undefined, body: (ports: Ports) => Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const { kernel } = hands;
    const run = (): Promise<T> => kernel.spawn(name, limitMs, (process) => body(hands.portsFor(process)));
    const answer = (deliver: () => void): void => {
      if (kernel.meets('late_answer')) kernel.after(kernel.luck('late_answer').between(1, 240) * 1000, deliver, `${name} answers late`);
      else deliver();
    };
    const begin = (): void => {
      if (kernel.meets('invocation_failed')) {
        reject(new Crashed(`${name} could not be invoked`));
        return;
      }
      run().then(
        (value) => answer(() => resolve(value)),
        (error: Error) => {
          hands.failed(name, error);
          answer(() => reject(error));
        },
      );
      if (!kernel.meets('duplicate_invocation')) return;
      const luck = kernel.luck('duplicate_invocation');
      const again = (): void => void run().catch((error: unknown) => hands.failed(name, error));
      kernel.after(luck.between(0, luck.pick([100, 60_000])), again, `${name} invoked twice`);
    };
    kernel.after(kernel.delay(), begin, `invoke ${name}`);
  });

const aroundStart = (kernel: Kernel, start: () => StartedExecution): Promise<StartedExecution> =>
  new Promise((resolve, reject) => {
    kernel.after(
      kernel.delay(),
      () => {
        const lost = kernel.meets('start_request_lost');
        const unheard = !lost && kernel.meets('start_reply_lost');
        try {
          if (!lost) resolve(answered(start(), unheard));
        } catch (error) {
          reject(error as Error);
          return;
        }
        if (lost) reject(new Crashed('the start did not arrive'));
      },
      'ContinueAsNew',
    );
  });

const answered = (started: StartedExecution, unheard: boolean): StartedExecution => {
  if (unheard) throw new Crashed('the answer to a start was lost');
  return started;
};

export const inputOf = (job: string, generation: number): string => JSON.stringify({ answer: {}, generation, job, loops: 0 });

export const supervisorsFor = (kernel: Kernel, engine: () => Engine, process: Process): Supervisors => ({
  start: (job, generation) =>
    kernel.call(
      process,
      `start ${job}-${generation}`,
      async () => {
        try {
          engine().startExecution({ name: `${job}-${generation}`, input: inputOf(job, generation) });
          return 'started' as const;
        } catch (error) {
          if (error instanceof RequestRefused && error.code === 'ExecutionAlreadyExists') return 'exists' as const;
          throw error;
        }
      },
      () => failing(kernel, 'start'),
    ),
  signal: (token) =>
    kernel.call(
      process,
      `signal ${token.slice(0, 8)}`,
      async () => {
        try {
          engine().sendTaskSuccess(token, '{}');
          return 'signalled' as const;
        } catch (error) {
          if (isTimedOut(error)) return 'superseded' as const;
          throw error;
        }
      },
      () => failing(kernel, 'signal'),
    ),
});

const failing = (kernel: Kernel, verb: 'start' | 'signal'): Failing | undefined => {
  const error = (): SupervisorsFailure => new SupervisorsFailure(`${verb}: no answer`);
  if (kernel.meets(`${verb}_request_lost`)) return { when: 'before', error };
  if (kernel.meets(`${verb}_reply_lost`)) return { when: 'after', error };
  return verb === 'signal' && kernel.meets('signal_doubled') ? { when: 'twice', error } : undefined;
};
