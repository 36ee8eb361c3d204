/**
 * Alarm table: what somebody is woken for, as data: the page of the runbook that says what to do, what is measured, and from when on it
 * is wrong. Pure; infra/alarms.ts makes the alarms, and a test checks that every one has its page.
 * Guards people's sleep: a cluster that is down or a job that failed is news (`notify`), not an alarm; an alarm says that dispatch itself
 * does not do its work, or that people are owed an answer.
 */
import type { MetricName } from '../lib/aws/metric-names.ts';

/** `docs/runbook/<page>.md`. */
export const PAGES = [
  'supervisor-failed',
  'supervisor-failing',
  'supervisor-unseen',
  'poll-silent',
  'reconcile-silent',
  'jobs-stranded',
  'wakes-owed',
  'tokens-invalid',
  'secrets-unreadable',
  'dead-letters',
  'notices-undelivered',
  'question-open',
  'api-errors',
  'api-throttled',
  'functions-throttled',
  'executions-throttled',
  'table-throttled',
] as const;
export type Page = (typeof PAGES)[number];

type Where = Readonly<Record<string, string>>;

/** What the services measure themselves. */
export type Measured =
  | {
      readonly of: 'metric';
      readonly name: MetricName /** Its further dimensions; of several, each is measured. */;
      readonly each?: readonly Where[];
    }
  | { readonly of: 'machine'; readonly names: readonly string[] }
  | { readonly of: 'table'; readonly names: readonly string[] }
  | { readonly of: 'doors' | 'workers'; readonly names: readonly string[] }
  | { readonly of: 'api'; readonly names: readonly string[] }
  | { readonly of: 'queue'; readonly queue: 'ticks' | 'notices' };

export interface AlarmRow {
  /** Its construct's name. */
  readonly id: string;
  readonly page: Page;
  /** One sentence: what is wrong when it rings. */
  readonly says: string;
  readonly measured: Measured;
  readonly minutes: number;
  /** Consecutive periods, all of them beyond the threshold. */
  readonly periods: number;
  readonly threshold: number;
  readonly when: 'at least' | 'less than';
  /** Of a heartbeat, silence is the fault. */
  readonly missing: 'fine' | 'wrong';
}

const row = (id: string, page: Page, says: string, measured: Measured, more: Partial<AlarmRow> = {}): AlarmRow => ({
  ...{ id, page, says, measured, minutes: 5, periods: 1, threshold: 1, when: 'at least', missing: 'fine' },
  ...more,
});
const ours = (name: MetricName, each?: readonly Where[]): Measured => ({ of: 'metric', name, ...(each && { each }) });
const SILENT = { threshold: 1, when: 'less than', missing: 'wrong' } as const;

interface Ticked {
  readonly cluster: string;
  readonly login: string;
  readonly minutes: number;
}

/** Up to so many logins each has an alarm of its own; beyond, logins of a cluster share one, since a stack holds 500 resources. */
const MOST_ALONE = 100;
/** Metrics that one alarm may look at. */
const MOST_TOGETHER = 10;

/** Logins that one alarm looks after: always of one cluster, which is polled at one pace. */
export const watchedTogether = <T extends Ticked>(ticks: readonly T[]): readonly (readonly [T, ...T[]])[] => {
  if (ticks.length <= MOST_ALONE) return ticks.map((tick) => [tick]);
  const groups: [T, ...T[]][] = [];
  for (const tick of ticks) {
    const last = groups.at(-1);
    if (last && last[0].cluster === tick.cluster && last.length < MOST_TOGETHER) last.push(tick);
    else groups.push([tick]);
  }
  return groups;
};

/** `ticks`: what is polled, and how often. */
export const alarmRows = (ticks: readonly Ticked[], questionHours: number): readonly AlarmRow[] => [
  row('SupervisorFailed', 'supervisor-failed', 'an execution of a supervisor ended badly', {
    of: 'machine',
    names: ['ExecutionsFailed', 'ExecutionsTimedOut', 'ExecutionsAborted'],
  }),
  row(
    'SupervisorFailing',
    'supervisor-failing',
    'supervisors of a job end one after the other without a decision',
    ours('SupervisorsFailing'),
  ),
  // The safety wake comes after 12 h at the latest.
  row('SupervisorUnseen', 'supervisor-unseen', 'a job has had no supervisor at work for 13 h', ours('OldestHeadSeconds'), {
    threshold: 13 * 3600,
  }),
  row('JobsStranded', 'jobs-stranded', 'jobs are on a cluster that the configuration no longer names', ours('JobsStranded')),
  ...watchedTogether(ticks).map(([{ cluster, login, minutes }, ...more]) =>
    // Five ticks a minute apart; of slower ones three, so that one that came late rings for nobody.
    row(
      `PollSilent.${cluster}.${login}`,
      'poll-silent',
      `nobody looked after ${cluster} as ${login}${more.length === 0 ? '' : ` or as one of ${more.length} more, up to ${more.at(-1)?.login}`}`,
      ours(
        'PollHeartbeat',
        [login, ...more.map((one) => one.login)].map((one) => ({ cluster, login: one })),
      ),
      {
        ...SILENT,
        minutes: minutes === 1 ? 5 : minutes,
        periods: minutes === 1 ? 1 : 3,
      },
    ),
  ),
  row('ReconcileSilent', 'reconcile-silent', 'no reconcile came to its end', ours('ReconcileHeartbeat'), { ...SILENT, periods: 3 }),
  row('WakesOwed', 'wakes-owed', 'wakes stay owed: supervisors learn late of what happened', ours('WakesOwed'), { periods: 3 }),
  row('TokensInvalid', 'tokens-invalid', 'a stored task token is not one', ours('TokensInvalid')),
  row('SecretsUnreadable', 'secrets-unreadable', 'a secret that the deployment names cannot be read', ours('SecretsUnreadable'), {
    periods: 2,
  }),
  row('DeadLetters', 'dead-letters', 'ticks or preflights failed or were not delivered', { of: 'queue', queue: 'ticks' }),
  row('NoticesUndelivered', 'notices-undelivered', 'a topic did not take notices for people', { of: 'queue', queue: 'notices' }),
  row('QuestionOpen', 'question-open', `a question to people has been open for ${questionHours} h`, ours('OldestQuestionSeconds'), {
    threshold: questionHours * 3600,
  }),
  // One error may be a deploy in progress.
  row('ApiErrors', 'api-errors', 'the API answers with errors of its own', { of: 'api', names: ['5xx'] }, { threshold: 5 }),
  row('ApiThrottled', 'api-throttled', 'functions behind the API find no room', { of: 'doors', names: ['Throttles'] }),
  row(
    'FunctionsThrottled',
    'functions-throttled',
    'functions of supervisors and polls find no room',
    { of: 'workers', names: ['Throttles'] },
    { periods: 2 },
  ),
  row('ExecutionsThrottled', 'executions-throttled', 'Step Functions delays the supervisors', {
    of: 'machine',
    names: ['ExecutionThrottled'],
  }),
  row('TableThrottled', 'table-throttled', 'the table or one of its indexes throttles', { of: 'table', names: ['ThrottledRequests'] }),
];
