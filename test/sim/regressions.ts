/**
 * Seeds that found a mistake in dispatch, and what it was. They are run for ever; a change of the simulator itself gives a seed another
 * meaning, so each was looked for again, with the mistake put back, whenever that happened.
 */
export interface Regression {
  readonly seed: number;
  readonly found: string;
}

export const REGRESSIONS: readonly Regression[] = [];
