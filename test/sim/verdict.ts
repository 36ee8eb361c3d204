/** What a world is found guilty of: the invariant, and what happened in one sentence. Thrown by a check; caught by the world alone. */
export type Invariant =
  | 'S1'
  | 'S2'
  | 'S3'
  | 'S4'
  | 'S5'
  | 'S6'
  | 'S7'
  | 'S8'
  | 'S10'
  | 'S11'
  | 'S12'
  | 'L1'
  | 'L2'
  | 'L3'
  /** P2.1: whoever awaits a moment has nothing to do before it. */
  | 'await'
  | 'assertion'
  | 'error';

export class Broken extends Error {
  override readonly name = 'Broken';
  readonly invariant: Invariant;
  constructor(invariant: Invariant, says: string) {
    super(says);
    this.invariant = invariant;
  }
}

export function holds(condition: unknown, invariant: Invariant, says: () => string): asserts condition {
  if (!condition) throw new Broken(invariant, says());
}
