/** Report: what an idle month, a job, a recovery and a day of jobs cost, as the page docs/cost.md shows it. */
import { TIMING } from '../../lib/job/timing.ts';
import { compared, type Day } from './compared.ts';
import { after, beyond, type Line, lasting, standing, sumOf, usage } from './estimate.ts';
import { money, rows } from './markdown.ts';
import { type Measured, measure } from './measured.ts';
import { AS_OF, ASSUMED, PAGES, PRICES, REGION } from './prices.ts';
import { there } from './there.ts';

const running = (hours: number) => ({ queueSeconds: 60, program: { runsSeconds: hours * 3600, ends: 'completed' } });
const PREEMPTED = { queueSeconds: 60, program: { runsSeconds: 600, publishes: [{ atSeconds: 300, step: 100 }], ends: 'preempted' } };
const LONG = [running(60)];
const SHORT = [running(0.5)];
const DAY = 24;
const MONTH = ASSUMED.daysPerMonth * DAY;

/** What everything is made of. */
export interface Counts {
  /** An hour in which nothing happens. */
  readonly idle: Measured;
  /** A day's worth of what a cluster adds to that while it has jobs, whatever their number. */
  readonly cluster: Measured;
  /** What one more job adds that runs half an hour; and one that runs for a day. */
  readonly job: Measured;
  readonly jobDay: Measured;
  /** What it adds if it is preempted once and runs again. */
  readonly recovery: Measured;
}

/** What a second job adds, of which everything happens at the same moments: polls are shared, and none of them is counted. */
const oneMore = async (hours: number, script: readonly unknown[]): Promise<Measured> =>
  beyond(await measure({ hours, jobs: 2, script }), await measure({ hours, jobs: 1, script }));

export const counts = async (): Promise<Counts> => {
  const idle = await measure({ hours: 1, jobs: 0 });
  const secondHour = async (jobs: number): Promise<Measured> =>
    after(await measure({ hours: 2, jobs, script: LONG }), await measure({ hours: 1, jobs, script: LONG }));
  const quiet = await secondHour(1);
  const perJob = beyond(await secondHour(2), quiet);
  const job = await oneMore(1, SHORT);
  return {
    ...{ idle, job },
    cluster: lasting(beyond(beyond(quiet, idle), perJob), DAY),
    jobDay: await oneMore(DAY + 1, [running(DAY)]),
    recovery: beyond(await oneMore(1, [PREEMPTED, ...SHORT]), job),
  };
};

export const report = async (counted?: Counts): Promise<string> => {
  const { idle, cluster, job, jobDay, recovery } = counted ?? (await counts());
  const [one, two, bare] = [there(1), there(2), there(1, { observability: { alarms: false, dashboard: false } })];
  const further = {
    ...{ alarms: two.alarms - one.alarms, alarmMetrics: two.alarmMetrics - one.alarmMetrics, dashboards: two.dashboards - one.dashboards },
    ...{ heartbeats: two.heartbeats - one.heartbeats, secrets: two.secrets - one.secrets },
  };
  const idleUse = usage(lasting(idle, MONTH));
  const day: Day = { idle, cluster, job: jobDay, standing: sumOf(standing(one)) };
  const wakes = TIMING.safetyWakeSeconds / 3600;
  return [
    table('An idle month', `${ASSUMED.daysPerMonth} days of one cluster with one login and nothing submitted`, [
      ...standing(one),
      ...idleUse,
    ]),
    `Without alarms and dashboard: $${money(sumOf([...standing(bare), ...idleUse]))}.\n`,
    table('Each further cluster or login', 'a month, on top; reconciles are shared', [
      ...standing(further),
      ...usage(lasting({ ...idle, reconciles: 0 }, MONTH)),
    ]),
    table(
      'A day in which a cluster has jobs',
      'on top of an idle day, whatever their number: every poll looks, not every fifth',
      usage(cluster),
    ),
    table('A job', 'on top of these, from its submission to its end half an hour later', usage(job)),
    table(
      'A day of a job',
      `the same for one that runs ${DAY} h: every ${wakes} h its supervisor decides anew, and reconciles read where it stands`,
      usage(jobDay),
    ),
    table('A recovery', 'on top of a job: an attempt that is preempted after 10 minutes, and the next one', usage(recovery)),
    compared(day),
    assumed(),
    prices(),
  ].join('\n');
};

const table = (title: string, says: string, lines: readonly Line[]): string =>
  [
    `## ${title}`,
    '',
    `${says.charAt(0).toUpperCase()}${says.slice(1)}.`,
    '',
    ...rows(
      ['what', 'how much', 'US $'],
      [...lines.map(({ what, of, dollars }) => [what, of, money(dollars)]), ['**together**', '', `**${money(sumOf(lines))}**`]],
    ),
    '',
  ].join('\n');

const BILLED: Readonly<Record<keyof typeof ASSUMED.seconds, string>> = {
  idlePoll: 'a poll that reads the record alone',
  look: 'a poll that connects and looks; a round of the loop',
  reconcile: 'a reconcile',
  advance: 'Advance, its connections included',
  park: 'Park',
};

const assumed = (): string =>
  [
    '## Assumed',
    '',
    `Seconds that are billed for each invocation, at ${ASSUMED.memoryGb * 1024} MB; most of it is waiting for others. Of logs, ${ASSUMED.lineBytes} bytes for each invocation but those of`,
    `Park, and ${ASSUMED.platformLineBytes} of the platform's own for each.`,
    '',
    ...rows(
      ['of', 'seconds'],
      (Object.keys(BILLED) as (keyof typeof BILLED)[]).map((name) => [BILLED[name], `${ASSUMED.seconds[name]}`]),
    ),
    '',
  ].join('\n');

const prices = (): string =>
  [
    '## Prices',
    '',
    `List prices of ${REGION}, put together on ${AS_OF}; the name of a service leads to AWS's own page of its prices. "AWS": read there on that`,
    'day, or in a copy without a date; "a summary": read in what somebody else wrote down of it, which the link leads to; "not confirmed":',
    'widely known, assumed on that day, and to be looked up before anybody relies on it. "Free" is what an account has free every month for all',
    'that runs in it. Nothing above has it subtracted; an empty cell says only that it was not looked up.',
    '',
    ...rows(
      ['service', 'what', 'US $', 'per', 'told by', 'free in a month', 'told by whom'],
      Object.values(PRICES).map(({ page, what, dollars, unit, told, free = ['', ''] }) => [
        ...[`[${page}](${PAGES[page]})`, what, listed(dollars), unit, told, ...free],
      ]),
    ),
    '',
  ].join('\n');

/** As it is listed, whole. */
const listed = (dollars: number): string => dollars.toLocaleString('en-US', { maximumFractionDigits: 4 });
