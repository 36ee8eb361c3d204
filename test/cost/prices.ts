/**
 * List prices, US dollars, of one region, on one day; and what else an estimate takes for granted. To be looked up again and dated anew
 * before anybody relies on them: no discount, no free tier, no tax.
 */
export const AS_OF = '29 November 2026';
export const REGION = 'us-east-1';

export const PRICES = {
  /** Standard workflows. */
  stepFunctionsPerTransition: 0.025 / 1000,
  /** On demand, per request unit: 1 KB written, 4 KB read consistently. */
  tableWriteUnit: 0.625 / 1e6,
  tableReadUnit: 0.125 / 1e6,
  tableStorageGbMonth: 0.25,
  tableBackupGbMonth: 0.2,
  lambdaRequest: 0.2 / 1e6,
  /** Arm. */
  lambdaGbSecond: 0.0000133334,
  /** HTTP API. */
  apiRequest: 1 / 1e6,
  schedulerInvocation: 1 / 1e6,
  busEvent: 1 / 1e6,
  logsGb: 0.5,
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  secretMonth: 0.4,
  secretRead: 0.05 / 1e4,
} as const;

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
