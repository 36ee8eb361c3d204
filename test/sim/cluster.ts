/**
 * The cluster as one process of a world sees it: every call on a connection parked, and the faults that the memory cluster can meet
 * (lib/cluster/memory/fault.ts), drawn call by call.
 */
import type { Call, Fault, Verb } from '../../lib/cluster/memory/fault.ts';
import type { Adapter, Session, Submission } from '../../lib/cluster/port.ts';
import type { Kernel, Process } from './kernel.ts';

/** `sends` is told of every submission that leaves a process. */
export const adapterFor = (kernel: Kernel, adapter: Adapter, process: Process, sends: (submission: Submission) => void): Adapter => ({
  ...adapter,
  connect: (login) => kernel.call(process, 'connect', async () => sessionFor(kernel, await adapter.connect(login), process, sends)),
});

/** Pure arithmetic of the adapter, or nothing at all: no call leaves the process for it. */
const LOCAL = new Set(['gateFor', 'close']);
const EFFECTS = new Set(['submit', 'fence', 'release', 'discard']);

const sessionFor = (kernel: Kernel, session: Session, process: Process, sends: (submission: Submission) => void): Session => {
  const verbs = session as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const wrapped: Record<string, unknown> = {};
  for (const [name, verb] of Object.entries(verbs)) {
    wrapped[name] = LOCAL.has(name)
      ? verb
      : (...given: unknown[]) => {
          const what = kernel.tracing ? `${name}(${briefly(name, given)})` : name;
          if (name === 'submit') sends(given[0] as Submission);
          return kernel.call(process, what, () => verb(...given), undefined, EFFECTS.has(name) ? kernel.delayOfEffect() : kernel.delay());
        };
  }
  return wrapped as unknown as Session;
};

const briefly = (name: string, given: readonly unknown[]): string => {
  const [first] = given as [{ identity?: string; schedulerId?: string }];
  if (name === 'submit') return first.identity ?? '';
  if (name === 'observe' || name === 'outputBytes') return `${(given[0] as unknown[]).length} targets`;
  const text = given.map((one) =>
    typeof one === 'object' && one !== null && 'schedulerId' in one ? String(one.schedulerId) : JSON.stringify(one),
  );
  return text.join(', ').slice(0, 240);
};

/** What of the cluster is out of order for a while, beside single calls. */
export interface Disorder {
  /** The scheduler itself does not answer; who connects gets through, and files are there. */
  controllerDown: boolean;
}

const OF_THE_CONTROLLER = new Set<Verb>(['submit', 'find', 'release', 'cancel', 'discard', 'requeue', 'observe']);
const DELAYABLE = new Set<Verb>(['submit', 'release', 'cancel', 'discard', 'requeue', 'fence']);

/** Which fault a call of ours meets. Looks have no effect: their request or their answer lost is the same. */
export const chooseFault = (kernel: Kernel, disorder: Disorder, lifeSeconds: number, { verb }: Call): Fault | undefined => {
  if (kernel.meets('cluster_unreachable')) return { kind: 'unreachable' };
  if (verb === 'connect') return undefined;
  if (disorder.controllerDown && OF_THE_CONTROLLER.has(verb)) {
    // What was sent may sit in the controller's socket until it is up again.
    const sits = DELAYABLE.has(verb) && kernel.random.chance(0.5);
    return sits ? { kind: 'delayed', seconds: kernel.random.between(1, lifeSeconds) } : { kind: 'request_lost' };
  }
  if (kernel.meets('cluster_request_lost')) return { kind: 'request_lost' };
  if (kernel.meets('cluster_reply_lost')) return { kind: 'reply_lost' };
  // Up to the bound and the credential's life, and just beyond: then it never lands.
  if (DELAYABLE.has(verb) && kernel.meets('cluster_delayed')) return { kind: 'delayed', seconds: kernel.random.between(1, lifeSeconds) };
  return undefined;
};
