/**
 * Which causes a rule can meet, before anything happened: the plan's half of "first match wins" (contract §5).
 * Guards: what is said here of a rule agrees with `matchingRule` (limit.ts), which decides on the real outcome.
 */
import { CAUSE_NAMES, CAUSES, type Cause } from './cause.ts';
import type { Rule } from './policy.ts';

type When = NonNullable<Rule['when']>;

/** Causes after which no rule is asked, with the reason. */
export const NEVER_ASKED: Readonly<Partial<Record<Cause, string>>> = {
  completed: 'success ends the job and matches no rule',
  deadline: 'no rule is asked once the deadline or the wall clock has passed',
  cancelled_by_dispatch: 'a job that was cancelled through dispatch ends',
};

/** Only these causes carry the detail that a condition looks at. A message may stand in any evidence. */
const CARRIED_BY = { exitCode: ['exited'], signal: ['signalled'], scope: ['out_of_memory'] } as const satisfies Partial<
  Record<keyof When, readonly Cause[]>
>;
const CONDITIONS = ['exitCode', 'signal', 'scope'] as const;

/** Every cause that `on` names, whether the rule can meet it or not. */
export const namedCauses = (rule: Rule): Cause[] =>
  CAUSE_NAMES.filter((cause) =>
    rule.on.some((on) => {
      if (on === cause || on === CAUSES[cause]) return true;
      return on === 'any' && CAUSES[cause] !== 'success' && CAUSES[cause] !== 'people' && NEVER_ASKED[cause] === undefined;
    }),
  );

/** The conditions of the rule that this cause can never meet. */
export const missingDetail = (rule: Rule, cause: Cause): (keyof typeof CARRIED_BY)[] =>
  CONDITIONS.filter((key) => rule.when?.[key] !== undefined && !(CARRIED_BY[key] as readonly Cause[]).includes(cause));

/** The causes that the rule, alone, can meet. */
export const possibleCauses = (rule: Rule): Cause[] =>
  namedCauses(rule).filter((cause) => NEVER_ASKED[cause] === undefined && missingDetail(rule, cause).length === 0);

/** Whether everything that meets `narrow` meets `wide` too. */
const implies = (narrow: When | undefined, wide: When | undefined): boolean => {
  if (!wide) return true;
  const lists = CONDITIONS.every((key) => {
    const allowed: readonly unknown[] | undefined = wide[key];
    const asked: readonly unknown[] | undefined = narrow?.[key];
    return allowed === undefined || (asked?.every((value) => allowed.includes(value)) ?? false);
  });
  return lists && (wide.message === undefined || (narrow?.message?.includes(wide.message) ?? false));
};

export interface Reach {
  /** Causes that come to this rule: possible, and not taken whole by an earlier one. */
  readonly causes: readonly Cause[];
  /** The earlier rules that take what this one names. */
  readonly takenBy: readonly number[];
}

export const reachOf = (rules: readonly Rule[]): Reach[] => {
  const possible = rules.map((rule) => new Set(possibleCauses(rule)));
  return rules.map((rule, i) => {
    const taker = (cause: Cause) => rules.findIndex((earlier, j) => j < i && possible[j]!.has(cause) && implies(rule.when, earlier.when));
    const mine = [...possible[i]!];
    return {
      causes: mine.filter((cause) => taker(cause) === -1),
      takenBy: [...new Set(mine.map(taker).filter((j) => j !== -1))],
    };
  });
};

/** Whether some rule takes every outcome of this cause, so that `unmatched` is never asked about it. */
export const coveredWhole = (rules: readonly Rule[], cause: Cause): boolean =>
  rules.some((rule) => rule.when === undefined && possibleCauses(rule).includes(cause));
