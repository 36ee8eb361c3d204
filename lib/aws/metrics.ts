/**
 * Metrics: what alarms and the dashboard are made of, by Powertools Metrics: a line of a documented shape in the log (EMF), which
 * CloudWatch turns into metrics; no call, no wait. Only names of metric-names.ts exist.
 */
import { Metrics } from '@aws-lambda-powertools/metrics';
import { type Dimension, METRIC_NAMESPACE, METRICS, type Metric, type MetricName } from './metric-names.ts';

export interface Meter {
  /** A zero is sent only of those that are sent always. `where`: exactly the dimensions of that metric. */
  add(name: MetricName, value: number, where?: Partial<Readonly<Record<Dimension, string>>>): void;
  /** At the end of an invocation: what was added, as one line per set of dimensions. */
  flush(): void;
}

/** One function serves as many clusters and logins as its schedules name, and no more. */
const MOST_SETS = 64;

export const createMeter = (service: string): Meter => {
  const sets = new Map<string, Metrics>();
  const of = (where: Partial<Readonly<Record<Dimension, string>>>, dimensions: readonly Dimension[]): Metrics => {
    const values = Object.fromEntries(dimensions.map((name) => [name, where[name] ?? '']));
    const key = JSON.stringify(values);
    const known = sets.get(key);
    if (known) return known;
    // What was added in this invocation stays until it is sent.
    if (sets.size >= MOST_SETS) for (const [old, one] of sets) if (!one.hasStoredMetrics()) sets.delete(old);
    const made = new Metrics({ namespace: METRIC_NAMESPACE, serviceName: service, defaultDimensions: { ...values } });
    sets.set(key, made);
    return made;
  };
  return {
    add: (name, value, where = {}) => {
      const metric: Metric = METRICS[name];
      if (value === 0 && !metric.always) return;
      of(where, metric.dimensions).addMetric(name, metric.unit, value);
    },
    flush: () => {
      for (const one of sets.values()) if (one.hasStoredMetrics()) one.publishStoredMetrics();
    },
  };
};
