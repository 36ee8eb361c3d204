/**
 * Limits and matching: which rule of a policy an outcome meets, and what is already used up (contract §5).
 * Pure arithmetic over the view; recovery.ts turns it into a verdict.
 */
import { CAUSES, type Cause, type Outcome } from './cause.ts';
import type { Rule } from './policy.ts';
import type { AttemptView, View } from './view.ts';

/** From this version on no rule acts and no change of a pending group is committed (contract §8). */
export const LOG_RULES_STOP = 9500;
/** From this version on a record has room for cancels, ends and answers alone (contract §8). */
export const LOG_ENDS_ONLY = 9900;

/** `any` is every cause except success and people; people match only a rule that names them. */
const names = (rule: Rule, outcome: Outcome): boolean =>
  rule.on.some(
    (on) => on === outcome.cause || on === outcome.class || (on === 'any' && outcome.class !== 'success' && outcome.class !== 'people'),
  );

const numberIn = (list: readonly number[] | undefined, value: unknown): boolean =>
  list === undefined || (typeof value === 'number' && list.includes(value));

const conditionsHold = (rule: Rule, outcome: Outcome): boolean => {
  const when = rule.when;
  if (!when) return true;
  const { code, signal, scope, message } = outcome.detail;
  if (!numberIn(when.exitCode, code) || !numberIn(when.signal, signal)) return false;
  if (when.scope && !(typeof scope === 'string' && when.scope.includes(scope))) return false;
  const said = [message, ...outcome.evidence.flatMap((e) => [e.message, e.reason])];
  return when.message === undefined || said.some((text) => typeof text === 'string' && text.includes(when.message as string));
};

/** Index of the first rule that matches, or −1. Success matches none. */
export const matchingRule = (rules: readonly Rule[], outcome: Outcome): number =>
  outcome.class === 'success' ? -1 : rules.findIndex((rule) => names(rule, outcome) && conditionsHold(rule, outcome));

const byScheduler = (rule: Rule): boolean => 'requeue' in rule.do && rule.do.requeue.by === 'scheduler';

/**
 * Runs that the scheduler began by itself over all attempts, as far as they are this rule's: what `requeue by scheduler` counts.
 * One whose reason the cluster did not tell counts for every such rule, since a limit must hold in any case.
 */
const schedulerRequeues = (view: View, rule: Rule): number => {
  const names = (cause: Cause | 'untold'): boolean =>
    cause === 'untold' || rule.on.some((on) => on === cause || on === CAUSES[cause] || on === 'any');
  return view.attempts.reduce((sum, a) => sum + a.schedulerRequeues.filter(names).length, 0);
};

/** The first `requeue by scheduler` whose max the scheduler has gone beyond, as a phrase for people. */
export const requeuedTooOften = (view: View): string | undefined => {
  for (const rule of view.spec?.policy.rules ?? []) {
    if (!('requeue' in rule.do) || rule.do.requeue.by !== 'scheduler') continue;
    const count = schedulerRequeues(view, rule);
    if (count > rule.do.requeue.max) return `the scheduler requeued it ${count} times, ${rule.do.requeue.max} are allowed`;
  }
  return undefined;
};

/** How often a rule acted so far. */
export const usesOf = (view: View, rule: number): number => {
  const its = view.spec?.policy.rules[rule];
  if (its && byScheduler(its)) return schedulerRequeues(view, its);
  return view.decisions.filter((d) => d.by.kind === 'rule' && d.by.rule === rule && (d.action.kind === 'requeue' || d.action.counts))
    .length;
};

const madeProgress = (attempt: AttemptView): boolean => attempt.runs.some((run) => (run.latest?.step ?? -1) > attempt.resume.step);

/** Attempts in a row without progress, the last one included; those that never ran neither count nor reset. */
export const withoutProgress = (view: View): number => {
  let count = 0;
  for (const attempt of view.attempts.toReversed()) {
    if (attempt.outcome?.ran === 'no') continue;
    if (madeProgress(attempt)) break;
    count++;
  }
  return count;
};

/** A second memory kill at the same memory teaches nothing new (C033), whatever happened between the two. */
const sameMemoryAgain = (view: View, attempt: AttemptView): boolean =>
  attempt.outcome?.cause === 'out_of_memory' &&
  view.attempts.some(
    (a) => a.n < attempt.n && a.outcome?.cause === 'out_of_memory' && a.resources.memoryPerNodeMi === attempt.resources.memoryPerNodeMi,
  );

/** Too long a record: no rule acts any more, so that there is room left for its end (contract §8). */
export const recordFull = (view: View): string | undefined =>
  view.version >= LOG_RULES_STOP ? `the record holds ${view.version} commits` : undefined;

/** The general limits that forbid one more attempt, as a phrase for people; undefined: none does. */
export const exhausted = (view: View, attempt: AttemptView): string | undefined => {
  const limits = view.spec?.policy.limits;
  if (!limits) return undefined;
  if (view.attempts.length >= limits.attempts) return `${view.attempts.length} of ${limits.attempts} attempts are used`;
  const idle = withoutProgress(view);
  if (limits.attemptsWithoutProgress !== undefined && idle >= limits.attemptsWithoutProgress)
    return `${idle} attempts in a row made no progress`;
  if (sameMemoryAgain(view, attempt)) return `out of memory twice with ${attempt.resources.memoryPerNodeMi ?? 'the default'} MiB per node`;
  return undefined;
};

/**
 * Whether the rule itself forbids one more use for this attempt. An attempt that never ran consumes no rule's `max`, except by a
 * requeue: that consumes none of `limits.attempts`, so its rule's `max` is the only bound it has. Once refused, a requeue is
 * used up for the whole job.
 */
export const ruleUsedUp = (view: View, rule: number, max: number, ran: Outcome['ran']): string | undefined => {
  const requeues = 'requeue' in (view.spec?.policy.rules[rule]?.do ?? {});
  const refused = requeues ? view.attempts.find((a) => a.requeueRefused !== undefined && refusedRule(view, a.n) === rule) : undefined;
  if (refused) return `the requeue was refused: ${refused.requeueRefused}`;
  if (ran === 'no' && !requeues) return undefined;
  const uses = usesOf(view, rule);
  return uses >= max ? `rule ${rule} was used ${uses} of ${max} times` : undefined;
};

const refusedRule = (view: View, n: number): number | undefined => {
  const by = view.decisions.findLast((d) => d.n === n && d.action.kind === 'requeue')?.by;
  return by?.kind === 'rule' ? by.rule : undefined;
};
