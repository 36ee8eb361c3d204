/** Arithmetic: counts times prices, each expected number worked out by hand here, from prices as they are listed. */
import { describe, expect, test } from 'vitest';
import { after, beyond, lasting, plus, standing, sumOf, times, usage } from './estimate.ts';
import { loops } from './loop.ts';
import { money } from './markdown.ts';
import type { Measured } from './measured.ts';
import { there } from './there.ts';

const NOTHING: Measured = {
  ...{ hours: 1, reads: 0, writes: 0, transitions: 0, advances: 0, parks: 0, polls: 0, looks: 0, connections: 0 },
  ...{ reconciles: 0, events: 0, commits: 0 },
};
const dollars = (one: Partial<Measured>): Readonly<Record<string, number>> =>
  Object.fromEntries(usage({ ...NOTHING, ...one }).map((line) => [line.what, Number(line.dollars.toPrecision(5))]));
const says = (one: Partial<Measured>, what: string): string | undefined =>
  usage({ ...NOTHING, ...one }).find((line) => line.what === what)?.of;

describe('what is paid by use', () => {
  test('nothing for nothing', () => expect(usage(NOTHING)).toEqual([]));

  test('a job that is submitted and ends', () => {
    expect(dollars({ transitions: 6, advances: 2, parks: 1, writes: 75, reads: 45, connections: 3, events: 5 })).toEqual({
      // 6 × $0.025 / 1,000
      'state machine': 0.00015,
      // 2 × $0.20 / million = 0.0000004; 2 × 2 s × 0.5 GB = 2 GB-s × $0.0000133334 = 0.0000266668; together
      Advance: 0.000027067,
      // 0.0000002 + 0.15 s × 0.5 GB × 0.0000133334 = 0.000001000005; together, to five digits
      Park: 0.0000012,
      // 75 × 0.625 / million = 0.000046875; 45 × 0.125 / million = 0.000005625
      record: 0.0000525,
      // 5 × $1 / million
      events: 0.000005,
      // Advance 2 × (700 + 350) bytes, Park 350: 2,450 bytes × $0.50 / 10⁹
      logs: 0.000001225,
      // 3 × $0.05 / 10,000
      'keys of logins': 0.000015,
    });
  });

  test('a month of polls and reconciles without a job', () => {
    // 30 × 24 × 60 = 43,200 polls, every fifth of which looks: 8,640; 12 reconciles in an hour: 8,640.
    expect(dollars({ polls: 43_200, looks: 8640, connections: 8640, reconciles: 8640, writes: 8640, reads: 181_440 })).toEqual({
      // 43,200 × 0.0000002 = 0.00864; 34,560 × 0.25 s + 8,640 × 2 s = 25,920 s × 0.5 GB = 12,960 GB-s × 0.0000133334 = 0.172800864
      polls: 0.18144,
      // 8,640 × 0.0000002 = 0.001728; 8,640 × 0.3 s × 0.5 GB = 1,296 GB-s × 0.0000133334 = 0.0172800864
      reconciles: 0.019008,
      // (43,200 + 8,640) × $1 / million
      schedules: 0.05184,
      // 8,640 × 0.625 / million = 0.0054; 181,440 × 0.125 / million = 0.02268
      record: 0.02808,
      // 51,840 × 1,050 bytes = 54.432 MB × $0.50 / GB
      logs: 0.027216,
      // 8,640 × $0.05 / 10,000
      'keys of logins': 0.0432,
    });
  });

  test('looks that came on top are billed for the seconds that they take longer, and for no invocation', () => {
    // 1,152 × 1.75 s × 0.5 GB = 1,008 GB-s × 0.0000133334 = 0.0134400672
    expect(dollars({ looks: 1152 })).toEqual({ polls: 0.01344 });
    expect(says({ looks: 1152 }, 'polls')).toBe('1,152 of those that are made anyway connect and look, 1.75 s longer each');
  });
  test('what Advance connects for is in its own seconds: no look is billed', () => {
    expect(dollars({ advances: 1, connections: 2 })).toEqual({ Advance: 0.000013533, logs: 5.25e-7, 'keys of logins': 0.00001 });
    expect(says({ advances: 1 }, 'Advance')).toBe('1 invocation, 2 s each');
  });
});

describe('what is paid for being there', () => {
  test('metrics that alarms look at, dashboard, heartbeats and secrets', () => {
    // 33 × 0.10 = 3.30; 3; 2 × 0.30 = 0.60; 2 × 0.40 = 0.80
    const lines = standing({ alarms: 17, alarmMetrics: 33, dashboards: 1, heartbeats: 2, secrets: 2 });
    expect(lines.map((line) => Number(line.dollars.toFixed(2)))).toEqual([3.3, 3, 0.6, 0.8]);
    expect(sumOf(lines)).toBeCloseTo(7.7, 10);
  });
  test('the templates say how many: each login adds an alarm on one metric, a heartbeat and a secret', () => {
    const [one, two] = [there(1), there(2)];
    expect([two.alarms - one.alarms, two.alarmMetrics - one.alarmMetrics, two.dashboards - one.dashboards]).toEqual([1, 1, 0]);
    expect([one.dashboards, one.heartbeats, one.secrets, two.heartbeats, two.secrets]).toEqual([1, 2, 2, 3, 3]);
    expect(one.alarmMetrics).toBeGreaterThan(one.alarms);
  });
  test('a deployment may go without alarms and dashboard: heartbeats and secrets stay', () => {
    const bare = there(1, { observability: { alarms: false, dashboard: false } });
    expect(bare).toEqual({ alarms: 0, alarmMetrics: 0, dashboards: 0, heartbeats: 2, secrets: 2 });
    // 2 × 0.30 + 2 × 0.40
    expect(sumOf(standing(bare))).toBeCloseTo(1.4, 10);
  });
});

describe('a loop per job', () => {
  test('one job, a day, every minute', () => {
    const { transitions, invocations, connectionsPerHour, hoursToFailure, dollars: paid } = loops({ jobs: 1, everySeconds: 60, hours: 24 });
    // 24 × 60 = 1,440 rounds × 3
    expect([transitions, invocations, connectionsPerHour]).toEqual([4320, 1440, 60]);
    // 25,000 / 9 = 2,777 whole rounds / 60
    expect(hoursToFailure).toBeCloseTo(46.28, 2);
    // 4,320 × 0.000025
    expect(paid.machine).toBeCloseTo(0.108, 10);
    // 1,440 × 0.0000002 = 0.000288; 1,440 × 2 s × 0.5 GB = 1,440 GB-s × 0.0000133334 = 0.019200096
    expect(paid.functions).toBeCloseTo(0.019488096, 10);
    // 1,440 × 1,050 bytes = 1.512 MB × $0.50 / GB
    expect(paid.logs).toBeCloseTo(0.000756, 10);
  });
  test('a thousand jobs: a thousand times as much, and 60,000 connections in an hour', () => {
    const { transitions, connectionsPerHour, dollars: paid } = loops({ jobs: 1000, everySeconds: 60, hours: 24 });
    expect([transitions, connectionsPerHour]).toEqual([4_320_000, 60_000]);
    // 108 + 19.488096 + 0.756
    expect(paid.machine + paid.functions + paid.logs).toBeCloseTo(128.244096, 6);
  });
  test('every five minutes: a fifth of it, and 9.6 days', () => {
    const { transitions, connectionsPerHour, hoursToFailure, dollars: paid } = loops({ jobs: 1, everySeconds: 300, hours: 24 });
    expect([transitions, connectionsPerHour]).toEqual([864, 12]);
    // 2,777 / 12 = 231.4 h
    expect(hoursToFailure / 24).toBeCloseTo(9.64, 2);
    // 0.128244096 / 5
    expect(paid.machine + paid.functions + paid.logs).toBeCloseTo(0.0256488192, 10);
  });
});

describe('stretches of time', () => {
  const [one, two]: readonly Measured[] = [
    { ...NOTHING, reads: 10, polls: 60 },
    { ...NOTHING, hours: 2, reads: 25, polls: 120 },
  ];

  test('what came after: hours and counts of the longer without the shorter', () => {
    expect(after(two!, one!)).toEqual({ ...NOTHING, hours: 1, reads: 15, polls: 60 });
  });
  test('what came on top is of the same time, and of no other', () => {
    expect(beyond(one!, { ...NOTHING, reads: 4 })).toEqual({ ...NOTHING, reads: 6, polls: 60 });
    expect(() => beyond(two!, one!)).toThrow('2 h and 1 h cannot be compared');
  });
  test('going on: by the hour', () => expect(lasting(two!, 24)).toEqual({ ...NOTHING, hours: 24, reads: 300, polls: 1440 }));
  test('so many of it, and both together: in the same time', () => {
    expect(times(one!, 3)).toEqual({ ...NOTHING, reads: 30, polls: 180 });
    expect(plus(one!, times(one!, 3))).toEqual({ ...NOTHING, reads: 40, polls: 240 });
  });
});

test.each([
  [0, '0'],
  [128.244, '128.24'],
  [0.1282, '0.13'],
  [0.0256, '0.026'],
  [0.00051, '0.00051'],
  [0.0000012, '0.0000012'],
])('%s dollars are written %s', (amount, written) => expect(money(amount)).toBe(written));
