/** Compared: a day of one job and of a thousand, here and with a loop per job, in one table. Pure. */
import { count, lambda, lasting, plus, sumOf, times, usage } from './estimate.ts';
import { type Loops, loops } from './loop.ts';
import { money, rows } from './markdown.ts';
import type { Measured } from './measured.ts';
import { ASSUMED } from './prices.ts';

export interface Day {
  /** An hour in which nothing happens. */
  readonly idle: Measured;
  /** What a day in which a cluster has jobs adds to that, whatever their number. */
  readonly cluster: Measured;
  /** What each job adds that runs for a day. */
  readonly job: Measured;
  /** Dollars of a month, for being there. */
  readonly standing: number;
}

const HOURS = 24;
const MANY = 1000;
const LOOP_SECONDS = 60;
const SLOW_SECONDS = 300;

/** All that is paid by use in a day, polls and reconciles of a cluster without jobs included. */
export const dayOf = ({ idle, cluster, job }: Day, jobs: number): Measured =>
  plus(plus(lasting(idle, HOURS), cluster), { ...times(job, jobs), hours: HOURS });

const standingOfDay = (day: Day): number => day.standing / ASSUMED.daysPerMonth;
const sumOfLoops = ({ dollars }: Loops): number => dollars.machine + dollars.functions + dollars.logs;
const looped = (jobs: number, everySeconds = LOOP_SECONDS): Loops => loops({ jobs, everySeconds, hours: HOURS });

/** Seconds that a poll or a reconcile of many jobs might take instead. */
const SLOW_TICK_SECONDS = 20;

/** Dollars more in a day, if each poll and each reconcile took that long. */
export const slower = (day: Day): number => {
  const { polls, looks, reconciles } = dayOf(day, MANY);
  const { idlePoll, look, reconcile } = ASSUMED.seconds;
  const seconds = (polls + reconciles) * SLOW_TICK_SECONDS - (polls - looks) * idlePoll - looks * look - reconciles * reconcile;
  return lambda(0, seconds);
};

/** From so many jobs at once on, dispatch costs less, its standing costs included. */
export const cheaperFrom = (day: Day): number => {
  const fixed = standingOfDay(day) + sumOf(usage(dayOf(day, 0)));
  const perJob = sumOf(usage({ ...day.job, hours: HOURS }));
  return Math.ceil(fixed / (sumOfLoops(looped(1)) - perJob));
};

const ofDispatch = (day: Day, jobs: number): readonly string[] => {
  const all = dayOf(day, jobs);
  const lines = usage(all);
  const of = (...names: string[]): number => sumOf(lines.filter(({ what }) => names.includes(what)));
  const functions = of('Advance', 'Park', 'polls', 'reconciles');
  const [machine, logs] = [of('state machine'), of('logs')];
  const together = sumOf(lines) + standingOfDay(day);
  return [
    ...[count(all.transitions), count(all.polls + all.reconciles + all.advances + all.parks), count(all.connections / HOURS)],
    ...[machine, functions, logs, sumOf(lines) - machine - functions - logs, standingOfDay(day), together, together / jobs].map(money),
  ];
};

const ofLoops = (jobs: number): readonly string[] => {
  const all = looped(jobs);
  const { machine, functions, logs } = all.dollars;
  return [
    ...[count(all.transitions), count(all.invocations), count(all.connectionsPerHour)],
    ...[machine, functions, logs, 0, 0, sumOfLoops(all), sumOfLoops(all) / jobs].map(money),
  ];
};

const LABELS = [
  'transitions',
  'invocations of functions',
  'connections to the cluster in an hour',
  'US $: state machine',
  'US $: functions',
  'US $: logs',
  'US $: record, schedules, events, keys',
  'US $: alarms, dashboard, heartbeats, secrets',
  '**US $ together**',
  '**US $ for each job**',
];

export const compared = (day: Day): string => {
  const columns = [1, MANY].flatMap((jobs) => [ofDispatch(day, jobs), ofLoops(jobs)]);
  const [slow, fast] = [looped(1, SLOW_SECONDS), looped(1)];
  return [
    '## Compared with a loop per job',
    '',
    'The plain way to watch a job from a state machine: each has its own, which waits a minute, connects to the cluster, asks for its job and',
    'goes round again. A day in which that many jobs run from its beginning to its end; what is not certain is counted against dispatch:',
    'the loop keeps no record, tells nobody anything and is watched by nobody, and of the keys every connection here is taken for a read.',
    '',
    ...rows(
      ['in a day', '1 job: dispatch', '1 job: loop', '1,000 jobs: dispatch', '1,000 jobs: loops'],
      LABELS.map((label, i) => [label, ...columns.map((column) => column[i] ?? '')]),
    ),
    '',
    `Polls and reconciles are taken to last as long with 1,000 jobs as with one; if each lasted ${SLOW_TICK_SECONDS} s, the day would cost $${money(slower(day))} more.`,
    '',
    `Dispatch costs less from ${cheaperFrom(day)} jobs at once on. A round of the loop is 3 transitions and 9 events of history, so each of them fails after`,
    `${Math.round(fast.hoursToFailure)} h unless it is begun anew. One that looks every five minutes has ${count(slow.transitions)} transitions and ${count(slow.connectionsPerHour)} connections an hour,`,
    `lasts ${count(slow.hoursToFailure / HOURS)} days, costs $${money(sumOfLoops(slow))} for each job and day, and learns everything five times later.`,
    '',
  ].join('\n');
};
