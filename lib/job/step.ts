/**
 * Step: what a supervisor may have to do next, and the small words that concerns are made of (contract §9).
 */
import type { Because, CancelWhy } from './event.ts';
import type { Draft } from './question.ts';
import type { Verdict } from './recovery.ts';

export type Step =
  | { readonly do: 'submit'; readonly n: number }
  | { readonly do: 'settle'; readonly n: number }
  | { readonly do: 'release'; readonly n: number }
  | { readonly do: 'await'; readonly until: number; readonly question?: string }
  | { readonly do: 'cancel'; readonly n: number; readonly why: CancelWhy; readonly said?: string }
  | { readonly do: 'requeue'; readonly n: number }
  | { readonly do: 'discard'; readonly n: number }
  | { readonly do: 'decide'; readonly n: number; readonly verdict: Extract<Verdict, { kind: 'recover' }> }
  | { readonly do: 'escalate'; readonly question: Draft }
  | { readonly do: 'expire'; readonly question: string }
  | { readonly do: 'finish'; readonly because: Because }
  | { readonly do: 'done' };

/** "Nothing known of": later than any real moment, and still a safe integer. */
export const NEVER = 8_640_000_000_000_000;

/** A step that is due, or the earliest moment at which there may be one. */
export type Concern = Step | number;

export const first = (...concerns: readonly (() => Concern)[]): Concern => {
  let earliest = NEVER;
  for (const concern of concerns) {
    const says = concern();
    if (typeof says !== 'number') return says;
    earliest = Math.min(earliest, says);
  }
  return earliest;
};

export const at = (moment: number, now: number, step: () => Concern): Concern => (now < moment ? moment : step());
