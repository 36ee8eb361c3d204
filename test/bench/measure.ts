/**
 * Measures: what a benchmark says, and whether it keeps its bound. And how two ways of doing the same are compared on a machine
 * that does other things as well: turn by turn, in rounds, the median of the rounds' ratios.
 */

/** `bound` is what the number must keep; one without is told only. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly bound?: { readonly atLeast?: number; readonly atMost?: number };
}

export const isKept = ({ value, bound }: Measure): boolean =>
  Number.isFinite(value) && value >= (bound?.atLeast ?? Number.NEGATIVE_INFINITY) && value <= (bound?.atMost ?? Number.POSITIVE_INFINITY);

export const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(3)));

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Says the measures to whoever started this process. */
export const tell = (measures: readonly Measure[]): void => {
  if (process.send) process.send(measures);
  else process.stdout.write(`${JSON.stringify(measures, undefined, 2)}\n`);
};

export interface Compared {
  readonly rounds: number;
  /** Turns of each side per round. */
  readonly turns: number;
  /** Rounds that are not counted: code is compiled, connections are made. */
  readonly warmUp: number;
  /** Does the thing once; `turn` counts over all rounds. */
  readonly ours: (turn: number) => Promise<void> | void;
  readonly theirs: (turn: number) => Promise<void> | void;
}

/**
 * How much time theirs takes per time of ours: 1 is as fast, 0.5 is half as fast. The median of the rounds, and within a round of
 * each side's turns, since one pause of the machine is longer than many turns.
 */
export const speedRatio = async ({ rounds, turns, warmUp, ours, theirs }: Compared): Promise<number> => {
  const ratios: number[] = [];
  for (let round = 0; round < warmUp + rounds; round++) {
    const our: number[] = [];
    const their: number[] = [];
    for (let i = 0; i < turns; i++) {
      const turn = round * turns + i;
      // Who goes first changes, so that what follows a pause or a collection hits both alike.
      if (i % 2 === 0) our.push(await timed(ours, turn));
      their.push(await timed(theirs, turn));
      if (i % 2 === 1) our.push(await timed(ours, turn));
    }
    if (round >= warmUp) ratios.push(median(their) / median(our));
  }
  return median(ratios);
};

const timed = async (work: (turn: number) => Promise<void> | void, turn: number): Promise<number> => {
  const began = performance.now();
  await work(turn);
  return performance.now() - began;
};
