/**
 * The kernel of the simulator: virtual time, and every call that anything makes outside itself, parked until its turn.
 *
 * One step takes the call that is due next, lets its effect happen, and lets every promise go on until nothing can go on without
 * another step. Guards exact replay: what happens is a function of the seed alone, since the order of steps follows from delays
 * that were drawn from it, and promises are drained completely in between.
 */
import type { Clock } from '../../lib/local/clock.ts';
import type { Climate, Consequence, FaultKind } from './climate.ts';
import { type Random, randomFor } from './random.ts';

// A tick that is entered from a microtask runs when no microtask is left, however many follow each other, and before the event loop
// turns: nothing outside the world gets a turn while one runs.
const drained = (resolve: () => void): void => process.nextTick(resolve);

/** A handler's invocation, a poll, a person's request: what a crash ends as a whole. */
export interface Process {
  readonly id: number;
  readonly name: string;
  readonly startedAtMs: number;
  /** This process's clock minus true time. */
  readonly skewMs: number;
  dead: boolean;
  fail: (error: Error) => void;
}

/** Of calls that follow upon another: what was left half done by a death in between. */
const DIED_BEFORE: readonly (readonly [call: string, kind: Consequence])[] = [
  ['moveHead', 'died_before_head'],
  ['signal', 'died_before_signal'],
  ['put notices', 'died_before_notice'],
];

/** As a function's death looks to whoever invoked it. */
export class Crashed extends Error {
  override readonly name = 'Lambda.Unknown';
}

/** How one call fails: before its effect or after it, with that error; or it is carried out twice, as a client's own retry does. */
export interface Failing {
  readonly when: 'before' | 'after' | 'twice';
  readonly error: () => Error;
}

interface Parked {
  readonly atMs: number;
  readonly order: number;
  readonly what: string;
  /** Undefined once cancelled: it stays in the heap until it surfaces. */
  run: (() => void) | undefined;
}

/** Effects that leave this thread (a real store behind the port): a step is over when they are, however long that takes. */
export interface Outside {
  readonly pending: () => boolean;
  /** Resolves when one of them has come back. */
  readonly next: () => Promise<void>;
}

export interface KernelOptions {
  readonly startMs: number;
  readonly seed: number;
  readonly random: Random;
  readonly climate: Climate;
  /** Set: one line per step, fault and answer. */
  readonly trace?: string[];
  readonly outside?: Outside;
}

export class Kernel implements Clock {
  readonly random: Random;
  nowMs: number;
  step = 0;
  /** Faults are over: everything answers, soon. */
  calm = false;
  readonly met = new Map<string, number>();
  readonly #seed: number;
  readonly #luck = new Map<FaultKind, Random>();
  readonly #climate: Climate;
  readonly #trace: string[] | undefined;
  readonly #outside: Outside | undefined;
  readonly #heap: Parked[] = [];
  readonly live = new Set<Process>();
  #order = 0;
  #processes = 0;

  constructor({ startMs, seed, random, climate, trace, outside }: KernelOptions) {
    this.nowMs = startMs;
    this.#seed = seed;
    this.random = random;
    this.#climate = climate;
    this.#trace = trace;
    this.#outside = outside;
  }

  now(): number {
    return this.nowMs;
  }

  get tracing(): boolean {
    return this.#trace !== undefined;
  }

  note(text: () => string): void {
    this.#trace?.push(`${String(this.step).padStart(6)} ${(this.nowMs / 1000).toFixed(3)} ${text()}`);
  }

  /** When a kind of fault strikes and what it does then is drawn from here: one that is switched off leaves all others as they are. */
  luck(kind: FaultKind): Random {
    const known = this.#luck.get(kind);
    if (known) return known;
    const luck = randomFor(this.#seed, kind);
    this.#luck.set(kind, luck);
    return luck;
  }

  /** Draws whether this fault strikes now. Whoever asks counts it, if it had an effect. */
  strikes(kind: FaultKind): boolean {
    const probability = this.#climate.faults[kind];
    return !this.calm && probability > 0 && this.luck(kind).chance(probability);
  }

  /** The same for a fault that always has an effect: it is met when it strikes. */
  meets(kind: FaultKind): boolean {
    if (!this.strikes(kind)) return false;
    this.count(kind);
    return true;
  }

  count(kind: FaultKind | Consequence): void {
    this.met.set(kind, (this.met.get(kind) ?? 0) + 1);
    this.note(() => `  ! ${kind}`);
  }

  /** A timer: fires once, `ms` from now. */
  after(ms: number, fn: () => void, what = 'timer'): () => void {
    const parked = this.#park(Math.max(0, Math.ceil(ms)), what, fn);
    return () => {
      parked.run = undefined;
    };
  }

  /** How long a call takes: mostly no time, now and then so long that others overtake it. */
  delay(): number {
    const { random } = this;
    if (this.calm) return random.between(1, 20);
    if (this.meets('stall')) return this.luck('stall').between(1000, this.#climate.stallMs);
    const luck = random.next();
    return luck < 0.7 ? random.between(1, 15) : luck < 0.95 ? random.between(10, 400) : random.between(400, 5000);
  }

  /** The same for a call on which much depends: what was decided before it may be long out of date when it arrives. */
  delayOfEffect(): number {
    const kind = 'stalled_before_effect';
    return this.meets(kind) ? this.luck(kind).between(30_000, 900_000) : this.delay();
  }

  /** Parks one call of a process. Its effect happens in one step, whole; `failing` is asked then what becomes of it. */
  call<T>(process: Process, what: string, effect: () => Promise<T>, failing?: () => Failing | undefined, ms = this.delay()): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (process.dead) return;
      const named = `${process.name}#${process.id} ${what}`;
      this.#park(ms, named, () => {
        // It was on its way when its sender died: it may still arrive.
        if (process.dead) {
          if (this.random.chance(0.5)) this.#discarded(effect, named);
          return;
        }
        if (this.meets('crash') || (what.startsWith('takeWake') && this.meets('dies_before_token'))) {
          const between = DIED_BEFORE.find(([call]) => what.startsWith(call));
          if (between) this.count(between[1]);
          if (this.random.chance(0.5)) this.#discarded(effect, named);
          this.end(process, 'crashed');
          return;
        }
        const fails = failing?.();
        if (fails?.when === 'before') {
          reject(fails.error());
          return;
        }
        let answer = effect();
        if (fails?.when === 'twice') answer = answer.then(effect);
        if (this.#trace) answer = this.#traced(answer, named);
        if (fails?.when === 'after') answer.then(() => reject(fails.error()), reject);
        else answer.then(resolve, reject);
      });
    });
  }

  /** An effect whose answer nobody hears. */
  #discarded(effect: () => Promise<unknown>, named: string): void {
    this.note(() => `  (its sender is dead) ${named}`);
    effect().catch((error: unknown) => this.note(() => `  ${named}: ${String(error)}`));
  }

  #traced<T>(answer: Promise<T>, named: string): Promise<T> {
    return answer.then(
      (value) => {
        this.note(() => `  ${named} = ${brief(value)}`);
        return value;
      },
      (error: unknown) => {
        this.note(() => `  ${named} threw ${String(error)}`);
        throw error;
      },
    );
  }

  /** Runs a process to its end; rejects with Crashed when it dies or takes longer than its limit. */
  spawn<T>(name: string, limitMs: number | undefined, body: (process: Process) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const skewMs = this.calm ? 0 : this.random.between(-this.#climate.skewMs, this.#climate.skewMs);
      const process: Process = { id: ++this.#processes, name, startedAtMs: this.nowMs, skewMs, dead: false, fail: reject };
      this.live.add(process);
      const limit = limitMs === undefined ? undefined : this.after(limitMs, () => this.end(process, 'took too long'), `${name} limit`);
      const over = (): boolean => {
        limit?.();
        this.live.delete(process);
        return !process.dead;
      };
      body(process).then(
        (value) => over() && resolve(value),
        (error: unknown) => over() && reject(error as Error),
      );
    });
  }

  /** Its remaining calls never happen, except what is on its way already. */
  end(process: Process, why: string): void {
    if (process.dead) return;
    process.dead = true;
    this.live.delete(process);
    this.note(() => `  ${process.name}#${process.id} ${why}`);
    process.fail(new Crashed(`${process.name} ${why}`));
  }

  /** The moment of the next step; undefined when nothing is parked. */
  nextAtMs(): number | undefined {
    while (this.#heap[0] !== undefined && this.#heap[0].run === undefined) takeFirst(this.#heap);
    return this.#heap[0]?.atMs;
  }

  /** One step. `due` is called once time has moved, before the effect. False: nothing is parked. */
  async advance(due: () => void): Promise<boolean> {
    if (this.nextAtMs() === undefined) return false;
    const parked = takeFirst(this.#heap);
    this.nowMs = Math.max(this.nowMs, parked.atMs);
    this.step += 1;
    due();
    this.note(() => parked.what);
    parked.run!();
    await new Promise<void>(drained);
    while (this.#outside?.pending()) {
      await this.#outside.next();
      await new Promise<void>(drained);
    }
    return true;
  }

  #park(ms: number, what: string, run: () => void): Parked {
    if (!Number.isFinite(ms)) throw new RangeError(`${what}: a delay is a finite number, not ${ms}`);
    const parked = { atMs: this.nowMs + ms, order: this.#order++, what, run };
    insert(this.#heap, parked);
    return parked;
  }
}

const brief = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

const before = (a: Parked, b: Parked): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

const insert = (heap: Parked[], parked: Parked): void => {
  let at = heap.push(parked) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(parked, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = parked;
};

const takeFirst = (heap: Parked[]): Parked => {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
    if (!before(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
};
