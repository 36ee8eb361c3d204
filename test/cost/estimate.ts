/** Estimates: counts times list prices, as lines that say what exactly they count and that add up. Pure. */
import type { Measured } from './measured.ts';
import { ASSUMED, costOf } from './prices.ts';

export interface Line {
  readonly what: string;
  /** How many of what, in words. */
  readonly of: string;
  readonly dollars: number;
}

export const sumOf = (lines: readonly Line[]): number => lines.reduce((sum, { dollars }) => sum + dollars, 0);

const each = (one: Measured, change: (value: number, name: keyof Measured) => number): Measured =>
  Object.fromEntries(Object.entries(one).map(([name, value]) => [name, change(value, name as keyof Measured)])) as unknown as Measured;

/** What the one has more than the other, of the same length of time. */
export const beyond = (more: Measured, less: Measured): Measured => {
  if (more.hours !== less.hours) throw new Error(`${more.hours} h and ${less.hours} h cannot be compared`);
  return each(more, (value, name) => (name === 'hours' ? value : value - less[name]));
};

/** What the longer has after the shorter, which is its beginning, ended. */
export const after = (longer: Measured, shorter: Measured): Measured => each(longer, (value, name) => value - shorter[name]);

/** The same, going on for so many hours. */
export const lasting = (one: Measured, hours: number): Measured => each(one, (value) => (value * hours) / one.hours);

/** So many of it in the same time. */
export const times = (one: Measured, many: number): Measured => each(one, (value, name) => (name === 'hours' ? value : value * many));

/** Both together, in the same time. */
export const plus = (one: Measured, other: Measured): Measured => beyond(one, times(other, -1));

export const count = (value: number): string => (value < 100 ? Math.round(value * 10) / 10 : Math.round(value)).toLocaleString('en-US');
const counted = (many: number, thing: string): string => `${count(many)} ${thing}${many === 1 ? '' : 's'}`;
const GB = 1e9;

/** Dollars of so many invocations that together are billed so many seconds. */
export const lambda = (invocations: number, seconds: number): number =>
  invocations * costOf('request') + seconds * ASSUMED.memoryGb * costOf('gbSecond');

/** Of which some connect and look. Where only looks came on top, the polls were there anyway, and each of them takes longer. */
const pollLine = ({ polls, looks }: Measured): Line => {
  const { idlePoll, look } = ASSUMED.seconds;
  const idle = polls - looks;
  const of =
    polls === 0
      ? `${count(looks)} of those that are made anyway connect and look, ${look - idlePoll} s longer each`
      : `${count(idle)} that read the record alone, ${idlePoll} s each; ${count(looks)} that connect and look, ${look} s each`;
  return { what: 'polls', of, dollars: lambda(polls, idle * idlePoll + looks * look) };
};

const functionLine = (what: string, many: number, seconds: number): Line => ({
  what,
  of: `${counted(many, 'invocation')}, ${seconds} s each`,
  dollars: lambda(many, many * seconds),
});

/** What is paid by use: nothing of it is paid while nothing happens. */
export const usage = (one: Measured): readonly Line[] => {
  const { seconds, lineBytes, platformLineBytes } = ASSUMED;
  const invocations = one.polls + one.reconciles + one.advances + one.parks;
  const ticks = one.polls + one.reconciles;
  const logged = (ticks + one.advances) * lineBytes + invocations * platformLineBytes;
  return [
    { what: 'state machine', of: `${count(one.transitions)} transitions`, dollars: one.transitions * costOf('transition') },
    functionLine('Advance', one.advances, seconds.advance),
    functionLine('Park', one.parks, seconds.park),
    pollLine(one),
    functionLine('reconciles', one.reconciles, seconds.reconcile),
    { what: 'schedules', of: `${count(ticks)} ticks: polls and reconciles`, dollars: ticks * costOf('tick') },
    {
      what: 'record',
      of: `${count(one.writes)} write units, ${count(one.reads)} read units`,
      dollars: one.writes * costOf('writeUnit') + one.reads * costOf('readUnit'),
    },
    { what: 'events', of: `${count(one.events)} events`, dollars: one.events * costOf('event') },
    {
      what: 'logs',
      of: logged < 1e5 ? `${count(logged / 1e3)} KB` : `${count(logged / 1e6)} MB`,
      dollars: (logged / GB) * costOf('logGb'),
    },
    // A key is kept for five minutes, so that most connections read none.
    {
      what: 'keys of logins',
      of: `${count(one.connections)} connections, one read each at most`,
      dollars: one.connections * costOf('secretRead'),
    },
  ].filter((line) => line.dollars !== 0);
};

export interface Standing {
  readonly alarms: number;
  /** Metrics that they look at together: these are what is paid. */
  readonly alarmMetrics: number;
  readonly dashboards: number;
  /** Own metrics that are sent also while nothing happens. */
  readonly heartbeats: number;
  readonly secrets: number;
}

/** What is paid in a month for being there. */
export const standing = (parts: Standing): readonly Line[] =>
  [
    {
      what: 'alarms',
      of: `${parts.alarms}, on ${counted(parts.alarmMetrics, 'metric')}`,
      dollars: parts.alarmMetrics * costOf('alarmMonth'),
    },
    { what: 'dashboard', of: `${parts.dashboards}`, dollars: parts.dashboards * costOf('dashboardMonth') },
    {
      what: 'heartbeats',
      of: counted(parts.heartbeats, 'metric'),
      dollars: parts.heartbeats * costOf('metricMonth'),
    },
    { what: 'secrets', of: `${parts.secrets}`, dollars: parts.secrets * costOf('secretMonth') },
  ].filter((line) => line.dollars !== 0);
