/**
 * Warmth: processes that go on in what an earlier one left in memory, as functions do and the local process. What dispatch keeps between
 * two calls it keeps beside its store, so a warm process has the store of the one before it, whose calls are its own now.
 */
import type { RecordStore } from '../../lib/record/port.ts';
import type { Kernel, Process } from './kernel.ts';
import type { Random } from './random.ts';

interface Place {
  readonly store: RecordStore;
  readonly newer: boolean;
  /** Through which its calls leave it: those of the process that runs in it, or ran last. */
  through: RecordStore;
  process: Process;
}

export class Warmth {
  readonly #kernel: Kernel;
  readonly #random: Random;
  /** How many processes find a place that is warm, if there is one. */
  readonly #share: number;
  #places: Place[] = [];

  constructor(kernel: Kernel, random: Random) {
    this.#kernel = kernel;
    this.#random = random;
    this.#share = random.pick([0, 0.5, 1]);
  }

  /** One after the other, each of the same function and release; nobody goes on where a process was killed. */
  storeFor(process: Process, through: RecordStore, newer: boolean): RecordStore {
    const isFree = (place: Place): boolean => !this.#kernel.live.has(place.process);
    this.#places = this.#places.filter((place) => !place.process.dead);
    const free = this.#places.filter((place) => isFree(place) && place.newer === newer && place.process.name === process.name);
    if (free.length > 0 && this.#random.chance(this.#share)) {
      const place = this.#random.pick(free);
      Object.assign(place, { through, process });
      this.#kernel.count('warm_process');
      return place.store;
    }
    const place: Place = { store: {} as RecordStore, newer, through, process };
    for (const name of Object.keys(through) as (keyof RecordStore)[])
      Object.assign(place.store, { [name]: (...given: unknown[]) => (place.through[name] as (...all: unknown[]) => unknown)(...given) });
    this.#places.push(place);
    return place.store;
  }
}
