/**
 * Pace: virtual time over real sockets. Time stands still while anything is under way and jumps to the next moment at which something
 * is due, so hours take seconds and nobody ever waits for a clock. When it jumps decides what meets what, never what must hold.
 */
import type { VirtualClock } from '../../lib/local/clock.ts';

export interface Pace {
  /** The same functions; while one of their calls is under way, time stands still. */
  counted<T extends object>(calls: T): T;
  /** A request on its way: it may wait for time to pass, so it holds time back only for a while. */
  request<T>(answer: Promise<T>): Promise<T>;
  /** Lets time pass until this is so; false: more than so many virtual seconds passed first. */
  until(isSo: () => boolean, mostSeconds: number): Promise<boolean>;
}

/** Turns of the event loop in which nothing new began: a continuation needs one or two, a request over loopback some more. */
const QUIET_TURNS = 3;
const QUIET_TURNS_OF_REQUESTS = 50;

export const paceOf = (clock: VirtualClock): Pace => {
  let underWay = 0;
  let requests = 0;
  let begun = 0;
  const during = async <T>(call: () => Promise<T>): Promise<T> => {
    underWay += 1;
    begun += 1;
    try {
      return await call();
    } finally {
      underWay -= 1;
    }
  };
  const quiet = async (): Promise<void> => {
    let [turns, last] = [0, begun];
    while (underWay > 0 || turns < (requests > 0 ? QUIET_TURNS_OF_REQUESTS : QUIET_TURNS)) {
      await clock.settle();
      turns = underWay > 0 || begun !== last ? 0 : turns + 1;
      last = begun;
    }
  };
  return {
    counted: (calls) =>
      new Proxy(calls, {
        get: (target, name) => {
          const call = Reflect.get(target, name) as unknown;
          return typeof call === 'function' ? (...given: unknown[]) => during(async () => call.apply(target, given)) : call;
        },
      }),
    request: async (answer) => {
      requests += 1;
      begun += 1;
      try {
        return await answer;
      } finally {
        requests -= 1;
      }
    },
    until: async (isSo, mostSeconds) => {
      const limitMs = clock.now() + mostSeconds * 1000;
      for (;;) {
        await quiet();
        if (isSo()) return true;
        const next = clock.nextAtMs();
        if (next === undefined || next > limitMs) {
          // Nothing is due, or not soon enough: what is left of the time passes at once.
          await clock.advance(Math.max(0, limitMs - clock.now()));
          await quiet();
          return isSo();
        }
        await clock.advanceToNext();
      }
    },
  };
};
