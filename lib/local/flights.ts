/**
 * Flights: calls of handlers that are under way, so that an orderly end can wait for them. After `land` no new one begins: its caller
 * waits for ever, as for a process that was killed, and the record carries on what it would have done.
 */
import type { Clock } from './clock.ts';

export interface Flights {
  counted<A extends readonly unknown[], T>(call: (...given: A) => Promise<T>): (...given: A) => Promise<T>;
  /** Whether every flight ended within that time. */
  land(ms: number): Promise<boolean>;
}

export const createFlights = (clock: Clock): Flights => {
  let underWay = 0;
  let landing = false;
  let landed: () => void = () => undefined;
  return {
    counted:
      (call) =>
      async (...given) => {
        if (landing) return new Promise<never>(() => undefined);
        underWay += 1;
        try {
          return await call(...given);
        } finally {
          underWay -= 1;
          if (landing && underWay === 0) landed();
        }
      },
    land: (ms) => {
      landing = true;
      if (underWay === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const cancel = clock.after(ms, () => resolve(false));
        landed = () => {
          cancel();
          resolve(true);
        };
      });
    },
  };
};
