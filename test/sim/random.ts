/**
 * The one source of chance of a simulated world: xoshiro128** seeded from one number, and for each kind of fault a source of its own from
 * the same number, so that a kind that is switched off leaves the others alone.
 * Guards exact replay: the same seed gives the same numbers for ever, on every machine, and nothing else in a world draws any.
 */

export interface Random {
  /** [0, 1) in steps of 2^-32. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
}

/** splitmix32: spreads a small seed over the state, so that seeds 1 and 2 have nothing in common. */
const spread = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
};

/** FNV-1a. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
};

/** A source of one purpose's own: however much is drawn from it, all others give the numbers that they give without it. */
export const randomFor = (seed: number, purpose: string): Random => randomOf(seed ^ hashOf(purpose));

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

export const randomOf = (seed: number): Random => {
  const word = spread(seed);
  let [a, b, c, d] = [word(), word(), word(), word()] as [number, number, number, number];
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return (result >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => probability > 0 && next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (list) => list[Math.floor(next() * list.length)]!,
  };
};
