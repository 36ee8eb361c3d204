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
  | 'S9'
  | 'S10'
  | 'S11'
  | 'S12'
  | 'S13'
  | 'L1'
  | 'L2'
  | 'L3'
  /** P1.5, contract §11: one job per idempotency key, and no answer that the API must not give. */
  | 'api'
  /** P5.8: connections to a cluster are few. */
  | 'slot'
  /** P2.7: the same notice says the same, whoever sends it. */
  | 'notice'
  /** Contract §8: a release changes nothing that a newer one has written. */
  | 'release'
  /** `--store dynamodb`: the two stores answer the same. */
  | 'store'
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
