/**
 * Time as a port: the only place under lib/local that reaches a clock or a timer.
 *
 * Everything that waits in the local process (the engine's time limits, retries and heartbeats, the ticker) waits on a Clock, so a
 * test or a simulation moves days in milliseconds. Guards: under a virtual clock the same calls in the same order always fire the
 * same timers in the same order; two timers due at one moment fire in the order in which they were set.
 */

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fn` once, `ms` from now (0 or less: at the next opportunity, never inside this call). */
  after(ms: number, fn: () => void): Cancel;
}

export interface VirtualClock extends Clock {
  /** Lets every promise that can go on without time passing go on. */
  settle(): Promise<void>;
  /** Fires every timer due within `ms`, in order, letting promises go on after each, and leaves the clock `ms` later. */
  advance(ms: number): Promise<void>;
  /** Jumps to the next timer and fires it; false when there is none. */
  advanceToNext(): Promise<boolean>;
  /** When the next timer is due. */
  nextAtMs(): number | undefined;
  /** Timers set and neither fired nor cancelled. */
  pending(): number;
}

/** Node fires a longer timeout at once, with a warning. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** A loop that sets a timer for now whenever one fires would never let `advance` return. */
const TIMERS_PER_ADVANCE = 1_000_000;

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const dueAtMs = Date.now() + ms;
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = Math.max(0, dueAtMs - Date.now());
      timer = leftMs > LONGEST_TIMEOUT_MS ? setTimeout(arm, LONGEST_TIMEOUT_MS) : setTimeout(fn, leftMs);
    };
    arm();
    return () => clearTimeout(timer);
  },
};

interface Timer {
  readonly atMs: number;
  readonly order: number;
  /** Undefined once cancelled: a cancelled timer stays in the heap until it surfaces. */
  fn: (() => void) | undefined;
}

export function virtualClock(startMs: number): VirtualClock {
  const heap: Timer[] = [];
  let nowMs = startMs;
  let order = 0;
  let live = 0;

  // An immediate runs after every microtask, however many follow each other: no need to guess how deep a chain of promises is.
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  const peek = (): Timer | undefined => {
    while (heap[0] !== undefined && heap[0].fn === undefined) removeFirst(heap);
    return heap[0];
  };

  const fire = async (timer: Timer): Promise<void> => {
    removeFirst(heap);
    nowMs = Math.max(nowMs, timer.atMs);
    const fn = timer.fn;
    timer.fn = undefined;
    live -= 1;
    fn?.();
    await settle();
  };

  return {
    now: () => nowMs,
    after(ms, fn) {
      if (!Number.isFinite(ms)) throw new RangeError(`a timer needs a finite delay, not ${ms}`);
      const timer: Timer = { atMs: nowMs + Math.max(0, ms), order: order++, fn };
      insert(heap, timer);
      live += 1;
      return () => {
        if (timer.fn === undefined) return;
        timer.fn = undefined;
        live -= 1;
      };
    },
    settle,
    async advance(ms) {
      const targetMs = nowMs + ms;
      await settle();
      for (let fired = 0; ; fired++) {
        const timer = peek();
        if (timer === undefined || timer.atMs > targetMs) break;
        if (fired === TIMERS_PER_ADVANCE)
          throw new Error(`${TIMERS_PER_ADVANCE} timers fired in one advance: something re-arms itself without delay`);
        await fire(timer);
      }
      nowMs = targetMs;
    },
    async advanceToNext() {
      await settle();
      const timer = peek();
      if (timer === undefined) return false;
      await fire(timer);
      return true;
    },
    nextAtMs: () => peek()?.atMs,
    pending: () => live,
  };
}

function before(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function insert(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(timer, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = timer;
}

function removeFirst(heap: Timer[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
    if (!before(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
