/** Alarms: what somebody is woken for, each with the page that says what to do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../infra/alarm-table.ts';
import { ROOT } from '../../infra/bundle.ts';
import { TABLE_ACCESS } from '../../infra/grants.ts';
import { METRIC_NAMESPACE, METRICS, type Metric } from '../../lib/aws/metric-names.ts';
import { example, least, synthesise, text } from './world.ts';

const { app } = synthesise(example());
const alarms = app
  .of('AWS::CloudWatch::Alarm')
  .map(([id, one]) => [id.replace(/^DispatchAlarms|[0-9A-F]{8}$/g, ''), one.Properties] as const);
const pageOf = (description: string): string | undefined => /What to do: (docs\/runbook\/[a-z0-9-]+\.md)$/.exec(description)?.[1];

describe('runbook', () => {
  it.each(alarms)('%s leads to its page, which is there and says when, why and what', (_, alarm) => {
    const page = pageOf(alarm.AlarmDescription);
    expect(page, alarm.AlarmDescription).toBeDefined();
    expect(existsSync(join(ROOT, page!)), page).toBe(true);
    const written = readFileSync(join(ROOT, page!), 'utf8');
    expect(written).toMatch(/^# .+\n\n/);
    for (const part of ['## What it means', '## What to do', '## When it is over']) expect(written, page).toContain(part);
  });

  it('every page has its alarm, and every alarm a page of its own kind', () => {
    const pages = readdirSync(join(ROOT, 'docs/runbook')).filter((file) => file !== 'README.md');
    expect(pages.sort()).toEqual(PAGES.map((page) => `${page}.md`).sort());
    expect(new Set(alarms.map(([, alarm]) => pageOf(alarm.AlarmDescription)))).toEqual(
      new Set(PAGES.map((page) => `docs/runbook/${page}.md`)),
    );
    const index = readFileSync(join(ROOT, 'docs/runbook/README.md'), 'utf8');
    for (const page of PAGES) expect(index).toContain(`(${page}.md)`);
  });

  it('pages may lie elsewhere', () => {
    const raw = least({ alarms: { sns: 'ops', pages: 'https://wiki.example.org/dispatch' } });
    const [, one] = synthesise(raw).app.of('AWS::CloudWatch::Alarm')[0]!;
    expect(one.Properties.AlarmDescription).toContain('What to do: https://wiki.example.org/dispatch/');
  });
});

interface Looked {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Statistic?: string;
}
const metricsOf = (
  alarm: { readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: Looked; readonly Stat: string } }[] } & Looked,
) => alarm.Metrics?.flatMap(({ MetricStat }) => (MetricStat ? [{ ...MetricStat.Metric, Statistic: MetricStat.Stat }] : [])) ?? [alarm];

describe('what is measured', () => {
  it.each(alarms)('%s looks at metrics that somebody sends, with exactly their dimensions', (_, alarm) => {
    for (const { Namespace, MetricName, Dimensions, Statistic } of metricsOf(alarm)) {
      if (Namespace !== METRIC_NAMESPACE) {
        expect(Namespace).toMatch(/^AWS\/(States|DynamoDB|ApiGateway|SQS|Lambda)$/);
        continue;
      }
      const known: Metric | undefined = METRICS[MetricName as keyof typeof METRICS];
      expect(known, MetricName).toBeDefined();
      expect((Dimensions ?? []).map(({ Name }) => Name).sort()).toEqual(['service', ...(known?.dimensions ?? [])].sort());
      expect(Dimensions?.find(({ Name }) => Name === 'service')?.Value).toBe('dispatch-k7m2');
      expect(Statistic).toBe(known?.statistic);
    }
  });

  it('every metric of ours is sent by some function', () => {
    const sources = ['functions', 'lib/aws'].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((file) => file !== 'metric-names.ts')
        .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
    );
    expect(
      Object.keys(METRICS).filter((name) => !sources.some((source) => source.includes(`'${name}'`) || source.includes(`${name}:`))),
    ).toEqual([]);
  });

  it('silence of every cluster and login rings, and of reconcile; silence of anything else is peace', () => {
    const silent = alarms.filter(([, alarm]) => alarm.TreatMissingData === 'breaching').map(([id]) => id);
    expect(silent).toEqual(['PollSilenthpcresearch', 'PollSilenthpcplatform', 'ReconcileSilent']);
    for (const [id, alarm] of alarms.filter(([name]) => silent.includes(name))) {
      expect(alarm.ComparisonOperator, id).toBe('LessThanThreshold');
      // Of missing data CloudWatch first looks for older ones, and rings after three or four periods of silence instead of one.
      expect(alarm.Metrics[0].Expression, id).toBe('FILL(m0, 0)');
    }
  });

  it('the table is asked by operation: only so does a request count that an index made wait', () => {
    const [, throttled] = alarms.find(([id]) => id === 'TableThrottled')!;
    const actions = new Set(Object.values(TABLE_ACCESS).flatMap((access) => [...access.actions]));
    const looked = metricsOf(throttled).map(({ MetricName, Dimensions }) => [
      MetricName,
      Dimensions?.find(({ Name }) => Name === 'Operation')?.Value,
    ]);
    expect(looked).toHaveLength(actions.size);
    expect(new Set(looked.map(([name]) => name))).toEqual(new Set(['ThrottledRequests']));
    expect(new Set(looked.map(([, operation]) => operation))).toEqual(actions);
  });

  it('every failure that the machine’s executions can have is one', () => {
    const [, failed] = alarms.find(([id]) => id === 'SupervisorFailed')!;
    expect(metricsOf(failed).map(({ MetricName }) => MetricName)).toEqual(['ExecutionsFailed', 'ExecutionsTimedOut', 'ExecutionsAborted']);
    expect(failed.Metrics.find((one: { Expression?: string }) => one.Expression)?.Expression).toBe(
      'FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0)',
    );
  });

  it('a slow poll may be as slow as it is configured', () => {
    const [cluster] = least()['clusters'] as Record<string, unknown>[];
    const { app: slow } = synthesise(least({ clusters: [{ ...cluster, pollEverySeconds: 3600 }] }));
    const [, alarm] = slow.of('AWS::CloudWatch::Alarm').find(([id]) => id.includes('PollSilent'))!;
    expect(alarm.Properties).toMatchObject({
      EvaluationPeriods: 3,
      Metrics: [{ Expression: 'FILL(m0, 0)' }, { MetricStat: { Period: 3600 } }],
    });
  });
});

describe('who is called', () => {
  it('the topic that the deployment names, also when it is over', () => {
    for (const [id, alarm] of alarms) {
      expect(alarm.AlarmActions.map(text), id).toEqual([expect.stringMatching(/^<DispatchTopicsoperations[0-9A-F]{8}>$/)]);
      expect(alarm.OKActions, id).toEqual(alarm.AlarmActions);
    }
  });

  it('nobody, where it names none: the dashboard shows them all the same', () => {
    const { app: quiet } = synthesise(least());
    expect(quiet.of('AWS::CloudWatch::Alarm').every(([, one]) => one.Properties.AlarmActions === undefined)).toBe(true);
    const [, board] = quiet.of('AWS::CloudWatch::Dashboard')[0]!;
    expect(text(board.Properties.DashboardBody)).toContain('"type":"alarm"');
  });
});
