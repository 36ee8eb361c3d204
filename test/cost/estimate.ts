/** Estimates: counts times list prices, as lines that add up. Pure. */
import type { Measured } from './measured.ts';
import { ASSUMED, PRICES } from './prices.ts';

export interface Line {
  readonly what: string;
  /** How many, in words. */
  readonly of: string;
  readonly dollars: number;
}

export const sumOf = (lines: readonly Line[]): number => lines.reduce((sum, { dollars }) => sum + dollars, 0);

/** What came on top: of the same length of time. */
export const beyond = (more: Measured, less: Measured): Measured =>
  Object.fromEntries(
    Object.entries(more).map(([name, value]) => [name, name === 'hours' ? value : value - less[name as keyof Measured]]),
  ) as unknown as Measured;

/** The same, going on for so many hours. */
export const lasting = (one: Measured, hours: number): Measured =>
  Object.fromEntries(Object.entries(one).map(([name, value]) => [name, (value * hours) / one.hours])) as unknown as Measured;

export const plus = (one: Measured, other: Measured): Measured =>
  Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value + other[name as keyof Measured]])) as unknown as Measured;

const count = (value: number): string => (value < 100 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString('en-US');
const GB = 1e9;

/** What is paid by use: nothing of it is paid while nothing happens. */
export const usage = (one: Measured): readonly Line[] => {
  const { seconds, memoryGb, lineBytes, platformLineBytes } = ASSUMED;
  const idlePolls = one.polls - one.looks;
  const invocations = one.polls + one.reconciles + one.advances + one.parks;
  const busy =
    idlePolls * seconds.idlePoll +
    one.looks * seconds.look +
    one.reconciles * seconds.reconcile +
    one.advances * seconds.advance +
    one.parks * seconds.park;
  const ticks = one.polls + one.reconciles;
  const logged = (ticks + one.advances) * lineBytes + invocations * platformLineBytes;
  return [
    { what: 'supervisors', of: `${count(one.transitions)} transitions`, dollars: one.transitions * PRICES.stepFunctionsPerTransition },
    {
      what: 'record',
      of: `${count(one.writes)} write and ${count(one.reads)} read units`,
      dollars: one.writes * PRICES.tableWriteUnit + one.reads * PRICES.tableReadUnit,
    },
    {
      what: 'functions',
      of: `${count(invocations)} invocations, ${count(busy)} s`,
      dollars: invocations * PRICES.lambdaRequest + busy * memoryGb * PRICES.lambdaGbSecond,
    },
    { what: 'schedules', of: `${count(ticks)} ticks`, dollars: ticks * PRICES.schedulerInvocation },
    { what: 'events', of: `${count(one.events)} events`, dollars: one.events * PRICES.busEvent },
    { what: 'logs', of: `${count(logged / 1e6)} MB`, dollars: (logged / GB) * PRICES.logsGb },
    // Kept for five minutes, so a look in between reads none.
    { what: 'keys', of: `${count(one.looks)} reads at most`, dollars: one.looks * PRICES.secretRead },
  ].filter((line) => line.dollars !== 0);
};

/** What is paid for being there. */
export const standing = (parts: {
  readonly alarms: number;
  readonly metrics: number;
  readonly secrets: number;
  readonly dashboards: number;
}): readonly Line[] =>
  [
    { what: 'alarms', of: `${parts.alarms}`, dollars: parts.alarms * PRICES.alarmMonth },
    { what: 'dashboard', of: `${parts.dashboards}`, dollars: parts.dashboards * PRICES.dashboardMonth },
    { what: 'heartbeats', of: `${parts.metrics} metric${parts.metrics === 1 ? '' : 's'}`, dollars: parts.metrics * PRICES.metricMonth },
    { what: 'secrets', of: `${parts.secrets}`, dollars: parts.secrets * PRICES.secretMonth },
  ].filter((line) => line.dollars !== 0);
