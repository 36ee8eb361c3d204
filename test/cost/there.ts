/** There: what a deployment pays for while nothing happens, counted in the templates that are deployed. */
import type { Resource } from '../infra/world.ts';
import { least, type Raw, synthesise } from '../infra/world.ts';
import type { Standing } from './estimate.ts';

interface Looking {
  readonly Metrics?: readonly { readonly MetricStat?: unknown }[];
}

/** Of an alarm: each metric is paid for, expressions are not. */
const metricsOf = ({ Properties }: Resource): number =>
  (Properties as Looking).Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;

/** One cluster with so many logins, each with a key of its own; and a secret for the tokens of attempts. */
export const there = (logins: number, more: Raw = {}): Standing => {
  const [cluster] = least()['clusters'] as Raw[];
  const named = Array.from({ length: logins }, (_, i) => ({ id: `l${i}`, user: `u${i}`, privateKeySecret: `dispatch/l${i}` }));
  const { app } = synthesise(least({ clusters: [{ ...cluster, logins: named }], ...more }));
  const alarms = app.of('AWS::CloudWatch::Alarm').map(([, alarm]) => alarm);
  return {
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((sum, alarm) => sum + metricsOf(alarm), 0),
    dashboards: app.of('AWS::CloudWatch::Dashboard').length,
    // Of each login's polls, and of reconcile.
    heartbeats: logins + 1,
    secrets: logins + 1,
  };
};
