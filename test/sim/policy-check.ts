/**
 * Policy: what a record may decide after an attempt ended, told once more from the contract (§5) and judged on the judge's own ledger: S3
 * to S6, S11. What dispatch matches and counts with is not asked, since it is what is judged.
 */
import type { Outcome } from '../../lib/job/cause.ts';
import type { Commit, Event, EventOf, Resources } from '../../lib/job/event.ts';
import type { Backoff, Rule } from '../../lib/job/policy.ts';
import { SKEW_MS } from './climate.ts';
import { enter, type Ledger, type LedgerAttempt } from './ledger.ts';
import { holds } from './verdict.ts';

/** Judges every event of a commit on what came before it, and enters it. `at`: the moment of the append, by true time. */
export const judgeByLedger = (ledger: Ledger, commit: Commit, at: number): void => {
  for (const event of commit.events) {
    const where = `${event.type} in version ${commit.version} of ${commit.job}`;
    holds(ledger.endedAt === undefined, 'S4', () => `${where} follows job_ended`);
    judgeEvent(ledger, event, commit, at, where);
    enter(ledger, event, commit, at);
  }
};

const judgeEvent = (ledger: Ledger, event: Event, commit: Commit, at: number, where: string): void => {
  switch (event.type) {
    case 'attempt_planned':
      holds(ledger.cancelledAt === undefined, 'S5', () => `${where} after cancel_requested`);
      judgePlanned(ledger, event, at, where);
      return;
    case 'release_intended':
    case 'requeue_intended':
      holds(ledger.cancelledAt === undefined, 'S5', () => `${where} after cancel_requested`);
      return;
    case 'recovery_decided':
      judgeDecided(ledger, event, commit, where);
      return;
    case 'escalation_raised':
      judgeRaised(ledger, event, where);
      return;
    case 'escalation_answered':
    case 'escalation_expired':
    case 'escalation_withdrawn': {
      const question = ledger.questions.get(event.id);
      holds(question && !question.closed, 'S11', () => `${where}: question ${event.id} is not open`);
      const { options, onExpiry, expiresAt } = question.asked;
      if (event.type === 'escalation_answered')
        holds(options.includes(event.answer), 'S11', () => `${where}: ${event.answer} is no answer to ${event.id}`);
      if (event.type === 'escalation_expired')
        holds(event.answer === onExpiry, 'S11', () => `${where}: ${event.id} says ${onExpiry} on expiry, not ${event.answer}`);
      const early = event.type === 'escalation_expired' && at < expiresAt - SKEW_MS;
      holds(!early, 'S11', () => `${where}: question ${event.id} expires in ${expiresAt - at} ms`);
      return;
    }
    case 'job_ended':
      judgeBecause(ledger, event, where);
      return;
    default:
  }
};

/** S6: within the limits, but for one attempt beyond them per answer, and only after an attempt that ended and a decision about it. */
const judgePlanned = (ledger: Ledger, event: EventOf<'attempt_planned'>, at: number, where: string): void => {
  const last = ledger.attempts.at(-1);
  if (event.try > 1) {
    const until = ledger.attempts[event.n - 1]?.deferredUntil;
    holds(event.n === ledger.attempts.length && until !== undefined, 'S3', () => `${where}: try ${event.try} without a deferral`);
    holds(at >= until - SKEW_MS, 'S3', () => `${where}: try ${event.try} comes ${until - at} ms before it was deferred to`);
    return;
  }
  holds(event.n === ledger.attempts.length + 1, 'S6', () => `${where}: ${ledger.attempts.length} attempts are known`);
  if (!last) return;
  holds(last.ended, 'S6', () => `${where}: attempt ${event.n - 1} has not ended`);
  const { pending } = ledger;
  const action = pending?.n === event.n - 1 ? pending.action : undefined;
  holds(pending && action?.kind === 'relaunch', 'S6', () => `${where}: no decision to relaunch attempt ${event.n - 1}`);
  holds(at >= pending.notBefore - SKEW_MS, 'S6', () => `${where}: ${pending.notBefore - at} ms before it was decided to`);
  const resumes = event.resume.step >= 0;
  holds(
    !resumes || action.from === 'checkpoint',
    'S6',
    () => `${where}: resumes at step ${event.resume.step}, and was to start from scratch`,
  );
  const same = isSame(event.resources, action.resources) && isSame(event.excludeNodes, action.excludeNodes);
  holds(same, 'S6', () => `${where}: asks for something else than what was decided`);
  const answers = ledger.decisions.filter((one) => one.event.by.kind === 'answer').length;
  const most = (ledger.spec?.policy.limits.attempts ?? 0) + answers;
  holds(event.n <= most, 'S6', () => `${where}: attempt ${event.n} of at most ${most}`);
};

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value).toSorted() : value;

/** The first rule that an outcome meets, or −1. */
const firstRule = (ledger: Ledger, outcome: Outcome): number =>
  outcome.class === 'success' ? -1 : (ledger.spec?.policy.rules ?? []).findIndex((rule) => isMet(rule, outcome));

const isMet = ({ on, when = {} }: Rule, { cause, class: kind, detail, evidence }: Outcome): boolean => {
  const named = on.some((one) => (one === 'any' ? kind !== 'people' && kind !== 'success' : one === cause || one === kind));
  const words = [detail['message'], ...evidence.flatMap(({ message, reason }) => [message, reason])];
  const { exitCode, signal, scope, message } = when;
  return (
    named &&
    (!exitCode || exitCode.includes(detail['code'] as number)) &&
    (!signal || signal.includes(detail['signal'] as number)) &&
    (!scope || scope.includes(detail['scope'] as string)) &&
    (message === undefined || words.some((word) => typeof word === 'string' && word.includes(message)))
  );
};

const judgeDecided = (ledger: Ledger, event: EventOf<'recovery_decided'>, commit: Commit, where: string): void => {
  const attempt = ledger.attempts[event.n - 1];
  const { outcome } = attempt ?? {};
  holds(attempt && event.n === ledger.attempts.length, 'S6', () => `${where}: attempt ${event.n} is not the last`);
  holds(attempt.ended && outcome, 'S6', () => `${where}: attempt ${event.n} has not ended`);
  holds(!ledger.pending, 'S6', () => `${where}: nothing has come of the decision before it`);
  holds(ledger.cancelledAt === undefined, 'S5', () => `${where} after cancel_requested`);
  if (event.by.kind === 'answer') {
    judgeByAnswer(ledger, event, attempt, commit, where);
    return;
  }
  const first = firstRule(ledger, outcome);
  const said = event.by.kind === 'rule' ? event.by.rule : -1;
  holds(said === first, 'S6', () => `${where}: by rule ${said}, and the first that matches is ${first}`);
  const rule = ledger.spec?.policy.rules[said]?.do;
  if (rule && 'requeue' in rule) judgeRequeue(ledger, event, rule.requeue, where);
  else judgeRelaunch(ledger, event, attempt, outcome, commit, where);
};

/** One attempt beyond any limit, as the last one was. */
const judgeByAnswer = (ledger: Ledger, event: EventOf<'recovery_decided'>, attempt: LedgerAttempt, commit: Commit, where: string): void => {
  if (event.by.kind !== 'answer') return;
  const { question: id, answer } = event.by;
  const question = ledger.questions.get(id);
  const given = question?.closed?.version === commit.version && question.closed.answer === answer && question.asked.n === event.n;
  holds(given, 'S6', () => `${where}: by an answer that was not given`);
  const from = answer === 'relaunch' ? 'checkpoint' : answer === 'relaunch_from_scratch' ? 'scratch' : undefined;
  const { action } = event;
  const does = action.kind === 'relaunch' && action.from === from && isSame(action.resources, attempt.plan?.resources);
  holds(does, 'S6', () => `${where}: the answer ${answer} became ${JSON.stringify(action)}`);
};

/** How often the scheduler began by itself what is, or may be, this rule's. */
const requeuesOf = (ledger: Ledger, rule: Rule): number =>
  ledger.attempts.flatMap(({ requeues }) => requeues).filter((cause) => cause === undefined || rule.on.some((on) => on === cause)).length;

const decisionsOf = (ledger: Ledger, rule: number): Ledger['decisions'] =>
  ledger.decisions.filter(({ event: { by } }) => by.kind === 'rule' && by.rule === rule);

type Requeue = Extract<Rule['do'], { readonly requeue: unknown }>['requeue'];

const judgeRequeue = (ledger: Ledger, event: EventOf<'recovery_decided'>, rule: Requeue, where: string): void => {
  const { action, by } = event;
  if (by.kind !== 'rule') return;
  const does = action.kind === 'requeue' && action.by === rule.by;
  holds(does, 'S6', () => `${where}: rule ${by.rule} requeues by the ${rule.by}, and became ${JSON.stringify(action)}`);
  holds(!ledger.refused.has(by.rule), 'S6', () => `${where}: a requeue by rule ${by.rule} was refused`);
  const uses = rule.by === 'scheduler' ? requeuesOf(ledger, ledger.spec!.policy.rules[by.rule]!) : decisionsOf(ledger, by.rule).length;
  holds(uses < rule.max, 'S6', () => `${where}: rule ${by.rule} was used ${uses} of ${rule.max} times`);
};

/** What `relaunch_once` stands for, where no rule says anything. */
const ONCE: { readonly backoff: Backoff; readonly from: 'checkpoint' } = {
  backoff: { initialSeconds: 30, factor: 2, maxSeconds: 900 },
  from: 'checkpoint',
};

type Relaunch = Extract<Rule['do'], { readonly relaunch: unknown }>['relaunch'];

const judgeRelaunch = (
  ledger: Ledger,
  event: EventOf<'recovery_decided'>,
  attempt: LedgerAttempt,
  outcome: Outcome,
  commit: Commit,
  where: string,
): void => {
  const { by, action } = event;
  holds(action.kind === 'relaunch', 'S6', () => `${where}: became ${JSON.stringify(action)}`);
  const rule = by.kind === 'rule' ? ledger.spec?.policy.rules[by.rule]?.do : undefined;
  const does: Partial<Relaunch> & Pick<Relaunch, 'backoff' | 'from'> = rule && 'relaunch' in rule ? rule.relaunch : ONCE;
  holds(!rule || 'relaunch' in rule, 'S6', () => `${where}: the rule says ${JSON.stringify(rule)}`);
  const prior = by.kind === 'rule' ? decisionsOf(ledger, by.rule) : [];
  const uses = prior.filter(({ ran }) => ran !== 'no').length;
  if (by.kind === 'rule' && outcome.ran !== 'no')
    holds(uses < does.max!, 'S6', () => `${where}: rule ${by.rule} was used ${uses} of ${does.max} times`);
  if (by.kind === 'unmatched') judgeOnce(ledger, outcome, where);
  holds(action.from === does.from, 'S6', () => `${where}: from ${action.from}, and the policy says from ${does.from}`);
  const resources = attempt.plan && scaled(attempt.plan.resources, does.scale);
  holds(isSame(action.resources, resources), 'S6', () => `${where}: asks for ${JSON.stringify(action.resources)}`);
  const counts = by.kind === 'unmatched' || outcome.ran !== 'no';
  holds(action.counts === counts, 'S6', () => `${where}: ${counts ? 'does not count' : 'counts'} as a use of its rule`);
  judgeExcluded(attempt, outcome, action.excludeNodes, does.excludeNodes?.max, where);
  judgeLimits(ledger, attempt, outcome, where);
  const { initialSeconds, factor, maxSeconds } = does.backoff;
  const mostMs = Math.ceil(Math.min(initialSeconds * factor ** prior.length, maxSeconds)) * 1000;
  const waits = event.notBefore - commit.at;
  holds(waits >= 0 && waits <= mostMs, 'S6', () => `${where}: after ${waits} ms, and the backoff says at most ${mostMs}`);
};

const judgeOnce = ({ spec, decisions }: Ledger, outcome: Outcome, where: string): void => {
  const unmatched = spec?.policy.unmatched;
  const once = unmatched === 'relaunch_once' && outcome.class !== 'people' && decisions.every(({ event }) => event.by.kind !== 'unmatched');
  holds(once, 'S6', () => `${where}: no rule matched ${outcome.cause}, and the policy says ${unmatched}`);
};

const scaled = (from: Resources, scale: Relaunch['scale']): Resources => {
  const grown = (value: number, by: number, upTo: number): number => Math.max(value, Math.min(Math.floor(value * by), upTo));
  const { memoryPerNodeMi, timeLimitSeconds } = from;
  const { memoryPerNode: memory, timeLimit: time } = scale ?? {};
  return {
    timeLimitSeconds: time ? grown(timeLimitSeconds, time.by, time.upToSeconds) : timeLimitSeconds,
    ...(memoryPerNodeMi === undefined
      ? {}
      : { memoryPerNodeMi: memory ? grown(memoryPerNodeMi, memory.by, memory.upToMi) : memoryPerNodeMi }),
  };
};

/** Only nodes that the evidence itself names as failed, and no more than the rule says. */
const judgeExcluded = (
  { plan }: LedgerAttempt,
  { detail }: Outcome,
  nodes: readonly string[],
  max: number | undefined,
  where: string,
): void => {
  const before = plan?.excludeNodes ?? [];
  const failed = max === undefined ? [] : (detail['failedNodes'] as readonly string[] | undefined);
  const named = new Set([...before, ...(failed ?? [])]);
  const wrong = nodes.find((node) => !named.has(node));
  holds(wrong === undefined, 'S6', () => `${where}: excludes ${wrong}, which no evidence names as failed`);
  holds(nodes.length <= (max ?? before.length), 'S6', () => `${where}: excludes ${nodes.length} nodes`);
};

/** The general limits: only an answer goes beyond them. */
const judgeLimits = ({ spec, attempts }: Ledger, { plan }: LedgerAttempt, { cause }: Outcome, where: string): void => {
  const most = spec?.policy.limits.attemptsWithoutProgress;
  const ran = attempts.filter(({ outcome }) => outcome?.ran !== 'no');
  const idle =
    ran.length - 1 - ran.findLastIndex(({ plan: of, runs }) => runs.some(({ latest }) => (latest?.step ?? -1) > of!.resume.step));
  holds(most === undefined || idle < most, 'S6', () => `${where}: ${idle} of ${most} attempts in a row made no progress`);
  const memory = (of: LedgerAttempt['plan']): number | undefined => of?.resources.memoryPerNodeMi;
  const killed = attempts.filter(({ outcome, plan: of }) => outcome?.cause === 'out_of_memory' && memory(of) === memory(plan)).length;
  holds(cause !== 'out_of_memory' || killed < 2, 'S6', () => `${where}: killed ${killed} times with the same memory`);
};

/** P9: a key is asked once. And what is asked about an outcome follows from the policy. */
const judgeRaised = (ledger: Ledger, event: EventOf<'escalation_raised'>, where: string): void => {
  const { id, kind, n, episode } = event;
  holds(!ledger.questions.has(id), 'S11', () => `${where}: question ${id} was raised before`);
  const twice = [...ledger.questions.values()].find(({ asked }) => asked.kind === kind && asked.n === n && asked.episode === episode);
  holds(!twice, 'S11', () => `${where}: ${kind} about attempt ${n}, episode ${episode}, was asked as ${twice?.asked.id}`);
  const outcome = ledger.attempts[n - 1]?.outcome;
  if (kind !== 'unmatched_outcome' && kind !== 'rule_asks') return;
  holds(outcome, 'S6', () => `${where}: attempt ${n} has not ended`);
  const first = firstRule(ledger, outcome);
  const rule = ledger.spec?.policy.rules[first];
  const asks = kind === 'rule_asks' ? rule && 'escalate' in rule.do : !rule && ledger.spec?.policy.unmatched === 'escalate';
  holds(asks, 'S6', () => `${where}: ${kind}, and the first rule that matches ${outcome.cause} is ${first}`);
};

/** S6: a rule ends a job only if it is the first that matches and says so; `unmatched` only where none does. */
const judgeBecause = (ledger: Ledger, { because, outcome: told }: EventOf<'job_ended'>, where: string): void => {
  const outcome = ledger.attempts.at(-1)?.outcome;
  if (ledger.cancelledAt !== undefined) {
    const state = outcome?.class === 'success' ? 'succeeded' : 'cancelled';
    const says = (): string => `${where} as ${told.state} because of ${because.kind}, after cancel_requested`;
    holds(because.kind === 'cancel' && told.state === state, 'S5', says);
  }
  const policy = ledger.spec?.policy;
  if (because.kind === 'cancel') holds(ledger.cancelledAt !== undefined, 'S5', () => `${where}: nobody asked for a cancel`);
  if (because.kind === 'completed') holds(outcome?.class === 'success', 'S6', () => `${where} as completed after ${outcome?.cause}`);
  if (!outcome || !policy) return;
  const first = firstRule(ledger, outcome);
  const rule = policy.rules[first]?.do;
  if (because.kind === 'rule') {
    const stops = first === because.rule && rule && 'stop' in rule && outcome.class !== 'evidence';
    holds(stops, 'S6', () => `${where} by rule ${because.rule}, and the first that matches ${outcome.cause} is ${first}`);
  }
  if (because.kind !== 'unmatched') return;
  const unknown = policy.unmatched === 'stop' && (outcome.class === 'evidence' || outcome.cause === 'never_landed');
  const none = first === -1 && (policy.unmatched === 'stop' || outcome.class === 'people');
  holds(unknown || none, 'S6', () => `${where} as unmatched, and rule ${first} matches ${outcome.cause}`);
};
