/** Report: what an idle month, a day of a job and a recovery cost, as the page docs/cost.md shows it. */
import { alarmRows } from '../../infra/alarm-table.ts';
import { TIMING } from '../../lib/job/timing.ts';
import { beyond, type Line, lasting, plus, standing, sumOf, usage } from './estimate.ts';
import { type Measured, measure } from './measured.ts';
import { AS_OF, ASSUMED, PRICES, REGION } from './prices.ts';

const running = (hours: number) => ({ queueSeconds: 60, program: { runsSeconds: hours * 3600, ends: 'completed' } });
const PREEMPTED = { queueSeconds: 60, program: { runsSeconds: 600, publishes: [{ atSeconds: 300, step: 100 }], ends: 'preempted' } };
const LONG = [running(60)];
const DAY = 24;

const QUESTION_HOURS = 4;
const ticks = (logins: number) => Array.from({ length: logins }, (_, i) => ({ cluster: 'lab', login: `l${i}`, minutes: 1 }));
const alarms = (logins: number): number => alarmRows(ticks(logins), QUESTION_HOURS).length;

export const report = async (): Promise<string> => {
  const hours = ASSUMED.daysPerMonth * DAY;
  const idle = await measure({ hours: 1, jobs: 0 });
  const alone = await measure({ hours: 1, jobs: 1, script: LONG });
  const two = await measure({ hours: 1, jobs: 2, script: LONG });
  const later = await measure({ hours: 2, jobs: 1, script: LONG });
  const calm = await measure({ hours: 1, jobs: 1, script: [running(0.5)] });
  const preempted = await measure({ hours: 1, jobs: 1, script: [PREEMPTED, running(0.5)] });
  // An hour in which everything begins and, 23 times, one in which nothing happens; jobs share the polls of their cluster.
  const each = beyond(two, alone);
  const goesOn = beyond(beyond(later, alone), idle);
  const cluster = beyond(beyond(alone, idle), each);
  const own = plus(each, ends(calm, alone));
  const month = [...standing({ alarms: alarms(1), metrics: 2, secrets: 2, dashboards: 1 }), ...usage(lasting(idle, hours))];
  const further = [
    ...standing({ alarms: alarms(2) - alarms(1), metrics: 1, secrets: 1, dashboards: 0 }),
    ...usage(lasting({ ...idle, reconciles: 0 }, hours)),
  ];
  const shared = usage({ ...lasting(plus(cluster, goesOn), DAY), hours: DAY });
  return [
    table('An idle month', 'one cluster, one login, nothing submitted', month),
    table('Each further cluster or login', 'a month', further),
    table('A day in which a cluster has jobs', 'whatever their number: it is looked at every minute', shared),
    table(
      'A job',
      `from its submission to its end; every ${TIMING.safetyWakeSeconds / 3600} h on the way add one loop of 3 transitions`,
      usage(own),
    ),
    table('A recovery', 'an attempt that is preempted, and the next one', usage(recovery(preempted, calm))),
    assumed(),
    prices(),
  ].join('\n');
};

/** What an end adds to an hour that has a beginning: the polls that then find nothing active are not the job's. */
const ends = (calm: Measured, alone: Measured): Measured => ({
  ...beyond(calm, alone),
  ...{ polls: 0, looks: 0, reconciles: 0 },
  reads: Math.max(0, calm.reads - alone.reads),
  writes: Math.max(0, calm.writes - alone.writes),
});

const recovery = (preempted: Measured, calm: Measured): Measured => ({ ...beyond(preempted, calm), polls: 0, looks: 0, reconciles: 0 });

const money = (dollars: number): string => {
  if (dollars === 0) return '0';
  return dollars >= 0.1 ? dollars.toFixed(2) : dollars.toFixed(Math.max(2, 1 - Math.floor(Math.log10(Math.abs(dollars)))));
};

const table = (title: string, says: string, lines: readonly Line[]): string => {
  const rows = [
    ...lines.map(({ what, of, dollars }) => `| ${what} | ${of} | ${money(dollars)} |`),
    `| **together** |  | **${money(sumOf(lines))}** |`,
  ];
  return [
    `## ${title}`,
    '',
    `${says.charAt(0).toUpperCase()}${says.slice(1)}.`,
    '',
    '| what | how much | US $ |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
};

const WORDS: Readonly<Record<keyof typeof PRICES, readonly [what: string, per: number, unit: string]>> = {
  stepFunctionsPerTransition: ['Step Functions, standard', 1000, '1,000 transitions'],
  tableWriteUnit: ['DynamoDB on demand', 1e6, 'million write units'],
  tableReadUnit: ['DynamoDB on demand', 1e6, 'million read units'],
  tableStorageGbMonth: ['DynamoDB storage', 1, 'GB and month'],
  tableBackupGbMonth: ['DynamoDB point-in-time recovery', 1, 'GB and month'],
  lambdaRequest: ['Lambda requests', 1e6, 'million'],
  lambdaGbSecond: ['Lambda, Arm', 1e6, 'million GB-seconds'],
  apiRequest: ['API Gateway, HTTP', 1e6, 'million requests'],
  schedulerInvocation: ['EventBridge Scheduler', 1e6, 'million invocations'],
  busEvent: ['EventBridge, own events', 1e6, 'million events'],
  logsGb: ['CloudWatch Logs, written', 1, 'GB'],
  metricMonth: ['CloudWatch metric', 1, 'month'],
  alarmMonth: ['CloudWatch alarm', 1, 'month'],
  dashboardMonth: ['CloudWatch dashboard', 1, 'month'],
  secretMonth: ['Secrets Manager', 1, 'secret and month'],
  secretRead: ['Secrets Manager', 1e4, '10,000 reads'],
};

const BILLED: Readonly<Record<keyof typeof ASSUMED.seconds, string>> = {
  idlePoll: 'a poll of an idle cluster',
  look: 'a poll that connects and looks',
  reconcile: 'a reconcile',
  advance: 'Advance',
  park: 'Park',
};

const assumed = (): string =>
  [
    '## Assumed',
    '',
    `Seconds that are billed, at ${ASSUMED.memoryGb * 1024} MB; most of it is waiting for others.`,
    '',
    '| of | seconds |',
    '| --- | --- |',
    ...(Object.keys(BILLED) as (keyof typeof BILLED)[]).map((name) => `| ${BILLED[name]} | ${ASSUMED.seconds[name]} |`),
    '',
  ].join('\n');

const prices = (): string =>
  [
    '## Prices',
    '',
    `List prices of ${REGION} on ${AS_OF}, without any free tier.`,
    '',
    '| what | US $ | per |',
    '| --- | --- | --- |',
    ...(Object.keys(PRICES) as (keyof typeof PRICES)[]).map((name) => {
      const [what, per, unit] = WORDS[name];
      return `| ${what} | ${Number((PRICES[name] * per).toPrecision(6))} | ${unit} |`;
    }),
    '',
  ].join('\n');
