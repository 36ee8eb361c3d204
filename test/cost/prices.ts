/**
 * List prices, US dollars, of one region, on one day, each with the page that says it and how far that was confirmed; and what else an
 * estimate takes for granted. To be looked up again and dated anew before anybody relies on them: no discount, no free tier, no tax.
 */
export const AS_OF = '29 November 2026';
export const REGION = 'us-east-1';

/** Who says a number, and when: a page of AWS's own, or somebody's summary of it; or nobody who was read, though it is widely known. */
export type Told =
  | 'AWS, 29 November 2026'
  | 'AWS, no date'
  | `[a summary, ${'2025' | '2026' | 'no date'}](${string})`
  | 'not confirmed, 29 November 2026';

export interface Price {
  readonly what: string;
  /** For so many of the unit. */
  readonly dollars: number;
  readonly per: number;
  readonly unit: string;
  readonly page: keyof typeof PAGES;
  readonly told: Told;
  /** Of an account, every month; not subtracted anywhere. */
  readonly free?: readonly [words: string, told: Told];
}

/** AWS's own pages of prices: where to look again. */
export const PAGES = {
  'Step Functions': 'https://aws.amazon.com/step-functions/pricing/',
  DynamoDB: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  Lambda: 'https://aws.amazon.com/lambda/pricing/',
  'API Gateway': 'https://aws.amazon.com/api-gateway/pricing/',
  EventBridge: 'https://aws.amazon.com/eventbridge/pricing/',
  CloudWatch: 'https://aws.amazon.com/cloudwatch/pricing/',
  'Secrets Manager': 'https://aws.amazon.com/secrets-manager/pricing/',
} as const;

const price = (
  page: keyof typeof PAGES,
  what: string,
  [dollars, per, unit]: readonly [dollars: number, per: number, unit: string],
  told: Told,
  free?: Price['free'],
): Price => ({ page, what, dollars, per, unit, told, ...(free && { free }) });

const AWS = 'AWS, 29 November 2026';
const UNDATED = 'AWS, no date';
const UNCONFIRMED = 'not confirmed, 29 November 2026';
const TABLES = '[a summary, 2025](https://airbyte.com/data-engineering-resources/dynamodb-pricing)';
const FUNCTIONS = '[a summary, no date](https://unanswered.io/guide/aws-lambda-pricing-after-free-tier)';
const SCHEDULES = '[a summary, 2026](https://cloudburn.io/blog/amazon-eventbridge-pricing)';
const WATCHING = '[a summary, 2026](https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/)';
const ALARMS = '[a summary, no date](https://c3x.dev/resources/aws/aws_cloudwatch_metric_alarm)';

export const PRICES = {
  transition: price('Step Functions', 'standard', [0.025, 1000, '1,000 transitions'], AWS, ['4,000 transitions', AWS]),
  /** 1 KB written. */
  writeUnit: price('DynamoDB', 'on demand', [0.625, 1e6, 'million write units'], TABLES),
  /** 4 KB read consistently. */
  readUnit: price('DynamoDB', 'on demand', [0.125, 1e6, 'million read units'], TABLES),
  storageGbMonth: price('DynamoDB', 'storage', [0.25, 1, 'GB and month'], UNCONFIRMED),
  backupGbMonth: price('DynamoDB', 'point-in-time recovery', [0.2, 1, 'GB and month'], UNCONFIRMED),
  request: price('Lambda', 'requests', [0.2, 1e6, 'million'], FUNCTIONS, ['1 million', FUNCTIONS]),
  gbSecond: price('Lambda', 'Arm', [13.3334, 1e6, 'million GB-seconds'], UNCONFIRMED, ['400,000 GB-seconds', FUNCTIONS]),
  apiRequest: price('API Gateway', 'HTTP', [1, 1e6, 'million requests'], UNCONFIRMED),
  tick: price('EventBridge', 'Scheduler', [1, 1e6, 'million invocations'], SCHEDULES, ['14 million', SCHEDULES]),
  event: price('EventBridge', 'own events', [1, 1e6, 'million events'], UNCONFIRMED),
  logGb: price('CloudWatch', 'logs, written', [0.5, 1, 'GB'], WATCHING, ['5 GB', UNDATED]),
  metricMonth: price('CloudWatch', 'own metric', [0.3, 1, 'month'], UNCONFIRMED, ['10', UNDATED]),
  alarmMonth: price('CloudWatch', 'metric of an alarm', [0.1, 1, 'month'], ALARMS, ['10', UNDATED]),
  dashboardMonth: price('CloudWatch', 'dashboard', [3, 1, 'month'], WATCHING, ['3, of at most 50 metrics each', UNDATED]),
  secretMonth: price('Secrets Manager', 'secret', [0.4, 1, 'month'], UNCONFIRMED),
  secretRead: price('Secrets Manager', 'reads', [0.05, 1e4, '10,000'], UNCONFIRMED),
} as const;

/** Dollars for one. */
export const costOf = (name: keyof typeof PRICES): number => PRICES[name].dollars / PRICES[name].per;

/** Not measured here: what a function takes of time, where most of it is waiting for others. */
export const ASSUMED = {
  memoryGb: 0.5,
  /** Seconds that are billed. */
  seconds: { idlePoll: 0.25, look: 2, reconcile: 0.3, advance: 2, park: 0.15 },
  /** Of a line that is written, its frame included. */
  lineBytes: 700,
  /** The platform's own lines around an invocation. */
  platformLineBytes: 350,
  daysPerMonth: 30,
} as const;
