/**
 * The cluster as one process of a world sees it: every call on a connection parked, and the faults that the memory cluster can meet
 * (lib/cluster/memory/fault.ts), drawn call by call.
 */
import type { Doomed } from '../../lib/checkpoint/collect.ts';
import type { Call, Fault, Verb } from '../../lib/cluster/memory/fault.ts';
import type { Adapter, FindAnswer, Session, Submission, SubmitAnswer } from '../../lib/cluster/port.ts';
import type { CapabilityName, Probe } from '../../lib/job/capability.ts';
import type { Receipt } from '../../lib/job/event.ts';
import { parseIdentity } from '../../lib/job/identity.ts';
import type { Kernel, Process } from './kernel.ts';

/** What is told of a process's calls, when they leave it. */
export interface Told {
  sends(submission: Submission): void;
  /** It changes something of this job on the cluster. */
  touches(verb: string, job: string): void;
  /** It lists, now, what this job published. */
  lists(job: string): void;
  /** It removed these saves. */
  collected(job: string, doomed: readonly Doomed[]): void;
  connects(login: string): void;
  closes(): void;
  finds(job: string, answer: FindAnswer): void;
  fences(job: string): void;
  observes(): void;
  hears(submission: Submission, answer: SubmitAnswer): void;
  releases(job: string, schedulerId: string): void;
}

export interface Reach {
  readonly kernel: Kernel;
  readonly adapter: Adapter;
  readonly disorder: Disorder;
  readonly process: Process;
  readonly told: Told;
}

export const adapterFor = (reach: Reach): Adapter => ({
  ...reach.adapter,
  connect: (login) =>
    reach.kernel.call(reach.process, 'connect', async () => {
      const session = await reach.adapter.connect(login);
      reach.told.connects(login);
      return sessionFor(reach, session);
    }),
});

/** Pure arithmetic of the adapter, or nothing at all: no call leaves the process for it. */
const LOCAL = new Set(['gateFor']);
const EFFECTS = new Set(['submit', 'fence', 'release', 'cancel', 'discard', 'requeue', 'collect']);
const LATE = new Set(['submit', 'fence', 'release', 'discard', 'collect']);

const sessionFor = ({ kernel, disorder, process, told }: Reach, session: Session): Session => {
  const verbs = session as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const wrapped: Record<string, unknown> = {};
  for (const [name, verb] of Object.entries(verbs)) {
    if (name === 'close') {
      wrapped[name] = async (): Promise<void> => told.closes();
      continue;
    }
    wrapped[name] = LOCAL.has(name)
      ? verb
      : (...given: unknown[]) => {
          const what = kernel.tracing ? `${name}(${briefly(name, given)})` : name;
          if (name === 'submit') told.sends(given[0] as Submission);
          if (EFFECTS.has(name)) told.touches(name, jobOf(given[0]));
          if (name === 'release') told.releases(jobOf(given[0]), (given[0] as Receipt).schedulerId);
          const effect = async (): Promise<unknown> => {
            if (name === 'observe') told.observes();
            if (name === 'listPublications') told.lists(given[0] as string);
            const answer = await verb(...given);
            if (name === 'collect') told.collected(given[0] as string, given[2] as readonly Doomed[]);
            if (name === 'fence') told.fences(given[0] as string);
            if (name === 'find') told.finds(given[0] as string, answer as FindAnswer);
            if (name === 'submit') told.hears(given[0] as Submission, answer as SubmitAnswer);
            return name === 'probe' ? without(answer as Probe, disorder.lost) : answer;
          };
          return kernel.call(process, what, effect, undefined, LATE.has(name) ? kernel.delayOfEffect() : kernel.delay());
        };
  }
  return wrapped as unknown as Session;
};

/** Of a job, a submission or a receipt. */
const jobOf = (given: unknown): string => {
  if (typeof given === 'string') return given;
  const named = given as { readonly job?: string; readonly identity?: string };
  return named.job ?? parseIdentity(named.identity ?? '')?.job ?? '';
};

const without = (probe: Probe, lost: CapabilityName | undefined): Probe => {
  if (lost === undefined) return probe;
  const gone = { ...probe.capabilities[lost], support: 'no' as const, evidence: 'it is gone' };
  return { ...probe, capabilities: { ...probe.capabilities, [lost]: gone } };
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
  /** Our key is refused, until it was changed. */
  refusesLogin: boolean;
  /** Its host shows another key than is pinned, until somebody pins that. */
  showsAnotherKey: boolean;
  /** What a probe no longer finds. */
  lost: CapabilityName | undefined;
  /** Of everything that is configured for it. */
  configuration: number;
}

const OF_THE_CONTROLLER = new Set<Verb>(['submit', 'find', 'release', 'cancel', 'discard', 'requeue', 'observe']);
const DELAYABLE = new Set<Verb>(['submit', 'release', 'cancel', 'discard', 'requeue', 'fence']);

/** Which fault a call of ours meets. Looks have no effect: their request or their answer lost is the same. */
export const chooseFault = (kernel: Kernel, disorder: Disorder, lifeSeconds: number, { verb }: Call): Fault | undefined => {
  if (kernel.meets('cluster_unreachable')) return { kind: 'unreachable' };
  if (verb === 'connect' && disorder.showsAnotherKey) return { kind: 'host_key_changed' };
  if (verb === 'connect') return disorder.refusesLogin ? { kind: 'auth_refused' } : undefined;
  if (disorder.controllerDown && OF_THE_CONTROLLER.has(verb)) {
    // What was sent may sit in the controller's socket until it is up again.
    const sits = DELAYABLE.has(verb) && kernel.random.chance(0.5);
    return sits ? { kind: 'delayed', seconds: kernel.random.between(1, lifeSeconds) } : { kind: 'request_lost' };
  }
  if (kernel.meets('cluster_request_lost')) return { kind: 'request_lost' };
  if (kernel.meets('cluster_reply_lost')) return { kind: 'reply_lost' };
  // Up to the bound and the credential's life, and just beyond: then it never lands.
  if (DELAYABLE.has(verb) && kernel.meets('cluster_delayed')) {
    // Most of what could go wrong goes wrong at the very end of it.
    const least = kernel.random.chance(0.3) ? Math.max(1, lifeSeconds - 5) : 1;
    return { kind: 'delayed', seconds: kernel.random.between(least, lifeSeconds) };
  }
  return undefined;
};
