/** S12: of every task token at most one writer takes it, and at most one signal arrives. */
import { holds } from './verdict.ts';

export interface TokenCheck {
  /** A writer moved it from parked to owed. */
  taken(token: string): void;
  /** The machine accepted a signal under it. */
  signalled(token: string): void;
}

export const createTokenCheck = (): TokenCheck => {
  const takers = new Map<string, number>();
  const signals = new Map<string, number>();
  const more = (of: Map<string, number>, token: string): number => {
    const count = (of.get(token) ?? 0) + 1;
    of.set(token, count);
    return count;
  };
  return {
    taken: (token) => holds(more(takers, token) === 1, 'S12', () => `two writers took the token ${token.slice(0, 8)}…`),
    signalled: (token) => holds(more(signals, token) === 1, 'S12', () => `the token ${token.slice(0, 8)}… was signalled twice`),
  };
};
