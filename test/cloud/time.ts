/**
 * Time that passes faster: a story whose polls are a minute apart, with processes and an SSH server that are real. Clocks run ahead at
 * one rate in every process of the harness; timers and time limits stay real, so only what is decided from a clock goes faster.
 */
import type { Clock } from '../../lib/local/clock.ts';

export interface Pace {
  /** Real milliseconds since 1970 from which on clocks run ahead. */
  readonly from: number;
  readonly rate: number;
}

export const nowAt = ({ from, rate }: Pace): number => Math.floor(from + (Date.now() - from) * rate);

/** What waits on it waits that much shorter. */
export const clockAt = (pace: Pace): Clock => ({
  now: () => nowAt(pace),
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.min(Math.max(0, ms) / pace.rate, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
});
