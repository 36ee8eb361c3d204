/** Of one job's log: why each attempt after the first exists, by which rule or answer, and within which limits; and why the job ended. */
import type { Outcome, RawEvent, RawJob, Rule, Spec } from './items.ts';
import { ENDS, reopens } from './log.ts';
import { finder, type Wrong } from './wrong.ts';

type By = Exclude<RawEvent['by'], string | undefined>;
const byOf = ({ by }: RawEvent): By | undefined => (typeof by === 'object' ? by : undefined);

const named = ({ on }: Rule, { cause, class: of }: Outcome): boolean =>
  on.some((word) => word === cause || word === of || (word === 'any' && of !== 'success' && of !== 'people'));

const among = (allowed: readonly unknown[] | undefined, value: unknown): boolean => allowed === undefined || allowed.includes(value);

const holds = ({ when }: Rule, { detail, evidence }: Outcome): boolean => {
  if (!when) return true;
  const said = [detail['message'], ...evidence.flatMap(({ message, reason }) => [message, reason])];
  const { exitCode, signal, scope, message } = when;
  return (
    among(exitCode, detail['code']) &&
    among(signal, detail['signal']) &&
    among(scope, detail['scope']) &&
    (message === undefined || said.some((text) => typeof text === 'string' && text.includes(message)))
  );
};

/** The first that matches wins; success meets none. */
export const ruleFor = (rules: readonly Rule[], outcome: Outcome): number =>
  outcome.class === 'success' ? -1 : rules.findIndex((rule) => named(rule, outcome) && holds(rule, outcome));

export const specOf = ({ commits }: RawJob): Spec | undefined => commits[0]?.events[0]?.spec;

export const judgeRecovery = (raw: RawJob): Wrong[] => {
  const { found, say } = finder(raw.job);
  const spec = specOf(raw);
  if (!spec) return found;
  const { rules, unmatched, limits } = spec.policy;
  const outcomes = new Map<number, Outcome>();
  const memory = new Map<number, number | undefined>();
  const uses = new Map<number, number>();
  let [attempts, byAnswer, byUnmatched] = [0, 0, 0];
  let relaunch: RawEvent | undefined;
  for (const { version, at, events } of raw.commits) {
    const answered = (by: By): boolean =>
      events.some(
        ({ type, id, answer }) =>
          (type === 'escalation_answered' || type === 'escalation_expired') && id === by.question && answer === by.answer,
      );
    for (const event of events) {
      const { type, n = 0 } = event;
      if (ENDS.has(type) && event.outcome) outcomes.set(n, event.outcome);
      else if (reopens(event)) outcomes.delete(n);
      if (type === 'attempt_planned' && n > attempts) {
        if (n > 1 && relaunch?.n !== n - 1) say('each relaunch is explained', version, `attempt ${n} was decided by nobody`);
        if (relaunch && at < (relaunch.notBefore ?? 0)) say('each relaunch is explained', version, `attempt ${n} comes before its moment`);
        if (relaunch && relaunch.action?.resources?.memoryPerNodeMi !== event.resources?.memoryPerNodeMi)
          say('each relaunch is explained', version, `attempt ${n} has another memory than was decided`);
        [attempts, relaunch] = [n, undefined];
        memory.set(n, event.resources?.memoryPerNodeMi);
        if (n > limits.attempts + byAnswer)
          say('within the limits', version, `attempt ${n} of ${limits.attempts} and ${byAnswer} by answers`);
      }
      if (type !== 'recovery_decided') continue;
      const by = byOf(event);
      const outcome = outcomes.get(n);
      if (!by || !outcome || n !== attempts) {
        say('each relaunch is explained', version, `a recovery of attempt ${n}, which has not ended`);
        continue;
      }
      const rule = rules[by.rule ?? -1];
      const kind = event.action?.kind ?? '';
      if (kind === 'relaunch') relaunch = event;
      if (by.kind === 'rule') {
        if (ruleFor(rules, outcome) !== by.rule || !rule || !(kind in rule.do))
          say('each relaunch is explained', version, `rule ${by.rule} does not say ${kind} about ${outcome.cause}`);
        const counts = kind === 'requeue' || event.action?.counts === true;
        const used = (uses.get(by.rule ?? -1) ?? 0) + (counts ? 1 : 0);
        uses.set(by.rule ?? -1, used);
        const max = rule?.do.relaunch?.max ?? rule?.do.requeue?.max ?? 0;
        if (used > max) say('within the limits', version, `rule ${by.rule} is used ${used} times of ${max}`);
        if (!counts && outcome.ran !== 'no') say('within the limits', version, `rule ${by.rule} does not count an attempt that ran`);
        const [was, is] = [memory.get(n), event.action?.resources?.memoryPerNodeMi];
        const most = Math.max(was ?? 0, rule?.do.relaunch?.scale?.memoryPerNode?.upToMi ?? was ?? 0);
        if (kind === 'relaunch' && ((is ?? 0) < (was ?? 0) || (is ?? 0) > most))
          say('within the limits', version, `memory goes from ${was} to ${is} MiB, at most ${most}`);
      } else if (by.kind === 'answer') {
        if (!answered(by)) say('each relaunch is explained', version, `decided by an answer that nobody gave: ${by.question} ${by.answer}`);
        byAnswer += 1;
      } else {
        byUnmatched += 1;
        if (unmatched !== 'relaunch_once' || ruleFor(rules, outcome) >= 0)
          say('each relaunch is explained', version, 'relaunched as unmatched, and a rule matches or nothing says so');
        if (byUnmatched > 1) say('within the limits', version, 'relaunch_once was used before');
      }
    }
  }
  return found;
};

const ENDED_BY_PEOPLE: Readonly<Record<string, string>> = { accept_success: 'succeeded' };

/** What job_ended says follows from what is there: the last outcome, a cancel, a time that has passed, an answer, a rule. */
export const judgeEnd = (raw: RawJob): Wrong[] => {
  const { found, say } = finder(raw.job);
  const events = raw.commits.flatMap(({ version, at, events: own }) => own.map((event) => ({ version, at, event })));
  const end = events.find(({ event }) => event.type === 'job_ended');
  const spec = specOf(raw);
  if (!end || !spec) return found;
  const of = (type: string): RawEvent[] => events.flatMap(({ event }) => (event.type === type ? [event] : []));
  const last = events.findLast(({ event }) => ENDS.has(event.type))?.event.outcome;
  const cancelled = of('cancel_requested').length > 0;
  const { outcome, because } = end.event;
  const wrong = (says: string): void => say('an end is explained', end.version, says);
  const { rules, limits } = spec.policy;
  const completed = last?.class === 'success';
  switch (because?.kind) {
    case 'completed':
      if (!completed || outcome?.state !== 'succeeded') wrong(`completed, and the last attempt is ${last?.cause}`);
      break;
    case 'cancel':
      if (!cancelled) wrong('cancelled, and nobody asked for it');
      if (outcome?.state !== (completed ? 'succeeded' : 'cancelled')) wrong(`cancelled, and its state is ${outcome?.state}`);
      break;
    case 'rule':
      if (!last || ruleFor(rules, last) !== because.rule || !rules[because.rule ?? -1]?.do.stop)
        wrong(`rule ${because.rule} does not end it`);
      break;
    case 'unmatched':
      if (!last || (ruleFor(rules, last) >= 0 && last.class !== 'evidence')) wrong('unmatched, and a rule matches');
      break;
    case 'answer': {
      const given = [...of('escalation_answered'), ...of('escalation_expired')].findLast(({ id }) => id === because.question);
      if (given?.answer !== because.answer) wrong(`nobody answered ${because.answer} to ${because.question}`);
      const state = ENDED_BY_PEOPLE[because.answer ?? ''];
      if (state && outcome?.state !== state) wrong(`${because.answer}, and its state is ${outcome?.state}`);
      break;
    }
    case 'deadline':
      if (spec.deadline === undefined || end.at < spec.deadline) wrong('before its deadline');
      break;
    case 'wall_clock':
      if (end.at < (raw.commits[0]?.at ?? 0) + (limits.wallClockSeconds ?? Infinity) * 1000) wrong('before its wall clock');
      break;
    case 'limit':
      if (!last || completed) wrong('a limit, and nothing failed');
      break;
    default:
      wrong(`because of ${because?.kind}`);
  }
  return found;
};
