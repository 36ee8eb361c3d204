/**
 * A deployed function as the platform runs it: processes of its own with the environment of the template and what the platform itself
 * provides, one event at a time each, as many processes as there are events at once; stopped (SIGSTOP) between two events, killed when an
 * event takes longer than the function's limit. Its access key is its own, so whoever serves it knows who asks.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { type DeployedFunction, REGION } from './template.ts';
import type { Pace } from './time.ts';

/** What the platform reports of a function that failed. */
export class FunctionFailed extends Error {
  override readonly name: string;
  constructor(errorType: string, message: string) {
    super(message);
    this.name = errorType;
  }
}

export interface FunctionProcesses {
  readonly deployed: DeployedFunction;
  invoke(event: unknown): Promise<unknown>;
  /** Everything that it wrote. */
  readonly lines: string[];
  /** Of each process: how long its code took to load. */
  readonly loadedMs: number[];
  close(): void;
}

/** `A…` and the function's name: who asks, as the services see it. */
export const accessKeyOf = (name: string): string => `AKIA${name.toUpperCase()}`;
export const callerOf = (accessKey: string): string => accessKey.replace(/^AKIA/, '').toLowerCase();

interface Child {
  readonly process: ChildProcess;
  readonly ready: Promise<void>;
  busy: boolean;
}

type Message =
  | { readonly kind: 'ready'; readonly loadedMs: number }
  | { readonly kind: 'result'; readonly id: number; readonly result?: string }
  | { readonly kind: 'error'; readonly id: number; readonly errorType: string; readonly errorMessage: string };

const MOST = 8;

/** `endpoint`: of all services. */
export const functionProcesses = (deployed: DeployedFunction, endpoint: string, pace: Pace): FunctionProcesses => {
  const { name, folder, handler, timeoutSeconds } = deployed;
  const children: Child[] = [];
  const lines: string[] = [];
  const loadedMs: number[] = [];
  let last = 0;

  const start = (): Child => {
    const args = [join(import.meta.dirname, 'runtime.cjs'), folder, handler, String(pace.from), String(pace.rate)];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: environmentOf(deployed, endpoint),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
    }
    const ready = new Promise<void>((resolve, reject) => {
      child.once('message', (message: Message) => {
        if (message.kind === 'ready') loadedMs.push(message.loadedMs);
        resolve();
      });
      child.once('exit', () =>
        reject(new FunctionFailed('Runtime.ExitError', `${name} ended while it was loaded: ${lines.slice(-3).join('\n')}`)),
      );
    });
    ready.catch(() => undefined);
    child.once('exit', () => children.splice(children.indexOf(made), 1));
    const made: Child = { process: child, ready, busy: false };
    children.push(made);
    return made;
  };

  const free = (): Child => {
    const idle = children.find((one) => !one.busy);
    if (!idle && children.length >= MOST) throw new FunctionFailed('TooManyRequestsException', `${name} has ${MOST} processes already`);
    const one = idle ?? start();
    one.busy = true;
    return one;
  };

  const invoke = async (event: unknown): Promise<unknown> => {
    const child = free();
    await child.ready;
    child.process.kill('SIGCONT');
    last += 1;
    const id = last;
    const context = {
      awsRequestId: `${name}-${id}`,
      functionName: name,
      functionVersion: '$LATEST',
      memoryLimitInMB: String(deployed.memoryMiB),
    };
    const answer = answerOf(child, id, deployed);
    child.process.send({
      id,
      event: JSON.stringify(event ?? null),
      context: { ...context, invokedFunctionArn: deployed.arn },
      deadline: Date.now() + timeoutSeconds * 1000,
    });
    try {
      return await answer;
    } finally {
      child.busy = false;
      // Frozen: what was begun and not waited for does not go on.
      child.process.kill('SIGSTOP');
    }
  };

  return {
    ...{ deployed, invoke, lines, loadedMs },
    close: () => {
      for (const { process: one } of children) one.kill('SIGKILL');
    },
  };
};

const answerOf = ({ process: child }: Child, id: number, { name, timeoutSeconds }: DeployedFunction): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      clearTimeout(timer);
      child.off('message', heard);
      child.off('exit', died);
      settle();
    };
    const heard = (message: Message): void => {
      if (message.kind === 'ready' || message.id !== id) return;
      if (message.kind === 'error') done(() => reject(new FunctionFailed(message.errorType, message.errorMessage)));
      else done(() => resolve(message.result === undefined ? null : JSON.parse(message.result)));
    };
    const died = (): void => done(() => reject(new FunctionFailed('Runtime.ExitError', `${name} ended in the middle of an event`)));
    const timer = setTimeout(() => {
      done(() => reject(new FunctionFailed('Sandbox.Timedout', `${name} took longer than ${timeoutSeconds} s`)));
      child.kill('SIGKILL');
    }, timeoutSeconds * 1000);
    child.on('message', heard);
    child.on('exit', died);
  });

/** The template's, and what the platform provides; nothing of this process's own. `/var/task` is where the platform puts the code. */
const environmentOf = ({ name, folder, environment }: DeployedFunction, endpoint: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, value.replace(/^\/var\/task(?=\/|$)/, folder)])),
  ...{ AWS_REGION: REGION, AWS_DEFAULT_REGION: REGION, AWS_LAMBDA_FUNCTION_NAME: name, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' },
  ...{ AWS_ACCESS_KEY_ID: accessKeyOf(name), AWS_SECRET_ACCESS_KEY: 'any', AWS_SESSION_TOKEN: 'any' },
  ...{ PATH: '/usr/bin:/bin', LAMBDA_TASK_ROOT: folder, TZ: ':UTC', LANG: 'en_US.UTF-8' },
  AWS_ENDPOINT_URL: endpoint,
});
