/**
 * Persevere: calls of a command that goes on for hours, repeated while nobody answers, since an outage is not what was asked about.
 * Guards: bounded and never silent; a command's first call is made once, so that a wrong address is told at once. For reads alone.
 */
import { Said } from './client.ts';

export interface Perseverance {
  readonly sleep: (ms: number) => Promise<void>;
  readonly warn: (text: string) => void;
}

const LONGEST_WAIT_SECONDS = 60;
/** In a row: about an hour. */
const MOST_TRIES = 64;

/** One per command. */
export const persevere = ({ sleep, warn }: Perseverance): (<T>(call: () => Promise<T>) => Promise<T>) => {
  let answered = false;
  return async (call) => {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await call();
        answered = true;
        return answer;
      } catch (error) {
        if (!answered || !(error instanceof Said) || !error.isPassing || tries >= MOST_TRIES) throw error;
        const seconds = Math.min(LONGEST_WAIT_SECONDS, 2 ** tries);
        warn(`${error.message}; again in ${seconds} s\n`);
        await sleep(seconds * 1000);
      }
    }
  };
};
