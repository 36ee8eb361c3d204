/**
 * Faults between dispatch and the memory cluster, chosen by a test or the simulator, one call at a time, and lies of its answers.
 * Guards promise 1 by provoking its breach: each of these is "could not look" or "may have been done", and none may become an outcome.
 */
import type { Frozen } from './look.ts';

export type Verb =
  | 'connect'
  | 'clock'
  | 'probe'
  | 'submit'
  | 'find'
  | 'fence'
  | 'release'
  | 'cancel'
  | 'discard'
  | 'requeue'
  | 'observe'
  | 'outputBytes'
  | 'listPublications'
  | 'output'
  | 'adopt';

export interface Call {
  readonly verb: Verb;
  readonly tag: string;
  readonly login: string;
  readonly job?: string;
  readonly n?: number;
}

export type Fault =
  /** Nobody could be reached: certain that nothing was sent. */
  | { readonly kind: 'unreachable' }
  /** Sent, lost on the way: no effect, and the caller cannot know. */
  | { readonly kind: 'request_lost' }
  /** Carried out; the answer is lost. */
  | { readonly kind: 'reply_lost' }
  /** The answer is lost now, the effect comes later: honoured only while the credential of the request lives. */
  | { readonly kind: 'delayed'; readonly seconds: number }
  /** `connect` only. */
  | { readonly kind: 'auth_refused' | 'host_key_changed' };

/** What a look may wrongly say. `hides` names objects left out; `complete: false` is a source that says so itself. */
export interface Lie {
  readonly hides: (object: { readonly id: string; readonly name: string }) => boolean;
  readonly complete: boolean;
}

export class Faults {
  #chosen: (call: Call) => Fault | undefined = () => undefined;
  readonly #next = new Map<Verb, Fault[]>();
  /** Nobody gets through, whatever the verb. */
  down = false;
  lie: Lie | undefined;
  /** Set: looks answer as of that moment. */
  frozen: Frozen | undefined;
  /** `pub/` cannot be listed. */
  pubUnreadable = false;

  /** Asked for every call; what `next` queued goes first. */
  choose(decide: (call: Call) => Fault | undefined): void {
    this.#chosen = decide;
  }

  /** The next `times` calls of this verb meet it. */
  next(verb: Verb, fault: Fault, times = 1): void {
    this.#next.set(verb, [...(this.#next.get(verb) ?? []), ...Array.from({ length: times }, () => fault)]);
  }

  meet(call: Call): Fault | undefined {
    if (this.down) return { kind: 'unreachable' };
    return this.#next.get(call.verb)?.shift() ?? this.#chosen(call);
  }
}
