/**
 * What will happen on the memory cluster by itself, in order of time. There are no timers: whoever calls the cluster first lets
 * everything happen that was due by then.
 * Guards determinism: entries run in order of their moment, those of one moment in the order in which they were entered, so what
 * is true at a time does not depend on who looked when.
 */
import { assert } from '../../job/assertion.ts';

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
}

/** More than this in one catching-up is a world that re-enters itself without end. */
const MOST_PER_CALL = 10_000_000;

export class Agenda {
  /** The moment of the entry that is happening, else the last moment caught up to. Milliseconds, true time. */
  nowMs: number;
  readonly #heap: Entry[] = [];
  #order = 0;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  /** What is due earlier than now happens as soon as possible. */
  at(atMs: number, happen: () => void): void {
    assert(!Number.isNaN(atMs), 'a moment that is no number would block everything after it');
    if (atMs === Number.POSITIVE_INFINITY) return;
    // Whole milliseconds, like every instant that is committed.
    const entry = { atMs: Math.max(Math.ceil(atMs), this.nowMs), order: this.#order++, happen };
    let hole = this.#heap.push(entry) - 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!before(entry, this.#heap[parent]!)) break;
      this.#heap[hole] = this.#heap[parent]!;
      hole = parent;
    }
    this.#heap[hole] = entry;
  }

  /** A clock that went back changes nothing: what happened, happened. */
  catchUp(untilMs: number): void {
    for (let done = 0; (this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY) <= untilMs; done++) {
      assert(done < MOST_PER_CALL, 'the memory cluster keeps entering things that are due at once');
      const entry = this.#takeFirst();
      this.nowMs = Math.max(this.nowMs, entry.atMs);
      entry.happen();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** When something may happen next; an entry overtaken by events still counts. */
  nextAtMs(): number | undefined {
    return this.#heap[0]?.atMs;
  }

  #takeFirst(): Entry {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let hole = 0;
    for (let child = 1; child < heap.length; child = 2 * hole + 1) {
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = last;
    return first;
  }
}

const before = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
