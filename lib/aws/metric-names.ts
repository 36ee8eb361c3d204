/**
 * Metric names: every metric of a deployment, with unit and dimensions, in one list that the functions send by, and that alarms and the
 * dashboard are made from.
 * Guards the idle bill: a metric costs by the hour in which it is sent, so only the heartbeats are sent always; counts and gauges are sent
 * where they are above zero, and alarms on them treat missing data as fine.
 */
export const METRIC_NAMESPACE = 'dispatch';

/** Every metric has this dimension, and some have more. */
export const SERVICE_DIMENSION = 'service';
/** Its value: one account may hold several deployments. */
export const serviceOf = (tag: string): string => `dispatch-${tag}`;
export type Dimension = 'cluster' | 'login';

export interface Metric {
  readonly unit: 'Count' | 'Seconds' | 'Milliseconds';
  readonly dimensions: readonly Dimension[];
  /** How an alarm or a graph reads it: what is counted is summed, of what is measured the greatest matters. */
  readonly statistic: 'Sum' | 'Maximum';
  /** Sent also when it is zero or nothing happened. */
  readonly always?: true;
  readonly says: string;
}

const count = (says: string): Metric => ({ unit: 'Count', dimensions: [], statistic: 'Sum', says });
const gauge = (says: string, unit: Metric['unit'] = 'Count'): Metric => ({ unit, dimensions: [], statistic: 'Maximum', says });
const ofLogin = (says: string): Metric => ({ unit: 'Count', dimensions: ['cluster', 'login'], statistic: 'Sum', says });

export const METRICS = {
  /** Missing for 5 minutes: nobody looks after that cluster and login. */
  PollHeartbeat: { ...ofLogin('a poll came to its end, whatever it found'), always: true },
  ReconcileHeartbeat: { ...count('a reconcile came to its end'), always: true },
  PollUnreachable: ofLogin('a poll got no complete answer from the cluster'),
  PollBlocked: ofLogin('a poll did not look, since the login is refused or the host key changed'),
  PollMilliseconds: {
    unit: 'Milliseconds',
    dimensions: ['cluster', 'login'],
    statistic: 'Maximum',
    says: 'how long a poll took that looked',
  },
  ActiveJobs: { ...ofLogin('jobs that a poll watched'), statistic: 'Maximum' },
  SignalsSent: count('wakes that reached a waiting supervisor'),
  SignalsSuperseded: count('wakes whose task was gone, which is normal; a lasting high rate is not'),
  SignalsFailed: count('wakes that stay owed, since the service did not answer'),
  TokensInvalid: count('stored task tokens that are none: a bug, or a damaged record'),
  WakesOwed: gauge('wakes found owed for longer than 30 s by a reconcile'),
  NoticesFailed: count('batches of notices that the bus did not take; they are sent again'),
  JobsUnended: gauge('jobs that have not ended'),
  QuestionsOpen: gauge('jobs that wait for a person'),
  OldestQuestionSeconds: gauge('how long the job that waits longest for a person has not moved', 'Seconds'),
  OldestHeadSeconds: gauge('since the supervisor that was seen longest ago was seen; the safety wake keeps it below half a day', 'Seconds'),
  SupervisorsRestarted: count('supervisors that a reconcile replaced'),
  SupervisorsFailing: gauge('jobs whose supervisors end one after the other without having decided anything'),
  RecordsRepaired: count('heads that a reconcile brought forward, and wakes it sent for a dead writer'),
  JobsStranded: gauge('jobs of clusters or logins that the configuration no longer names'),
  SecretsUnreadable: count('secrets that could not be read'),
} as const satisfies Readonly<Record<string, Metric>>;
export type MetricName = keyof typeof METRICS;
