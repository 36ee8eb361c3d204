/** Alarms: the rows of alarm-table.ts as alarms of CloudWatch, whose words lead to the page of the runbook. */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DOORS, type DoorName, type FunctionName, WORKERS } from '../lib/aws/doors.ts';
import { METRIC_NAMESPACE, METRICS, type MetricName, SERVICE_DIMENSION, serviceOf } from '../lib/aws/metric-names.ts';
import { type AlarmRow, alarmRows, type Measured } from './alarm-table.ts';
import type { Deployment } from './deployment.ts';
import { ticksOf } from './ticks.ts';

/** What alarms and graphs look at. */
export interface Watched {
  readonly tag: string;
  readonly machineArn: string;
  readonly tableName: string;
  readonly apiId: string;
  readonly functions: Readonly<Record<FunctionName, IFunction>>;
  readonly queues: { readonly ticks: IQueue; readonly notices: IQueue };
}

/** A metric that the functions send. `where`: exactly its further dimensions. */
export const ourMetric = (tag: string, name: MetricName, minutes: number, where: Readonly<Record<string, string>> = {}): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { [SERVICE_DIMENSION]: serviceOf(tag), ...where },
    statistic: METRICS[name].statistic,
    period: Duration.minutes(minutes),
  });

const serviceMetric = (
  namespace: string,
  name: string,
  dimensionsMap: Record<string, string>,
  minutes: number,
  statistic = 'Sum',
): Metric => new Metric({ namespace, metricName: name, dimensionsMap, statistic, period: Duration.minutes(minutes) });

export const metricsOf = (watched: Watched, measured: Measured, minutes: number): readonly Metric[] => {
  switch (measured.of) {
    case 'metric':
      return (measured.each ?? [{}]).map((where) => ourMetric(watched.tag, measured.name, minutes, where));
    case 'machine':
      return measured.names.map((name) => serviceMetric('AWS/States', name, { StateMachineArn: watched.machineArn }, minutes));
    case 'table':
      // By operation, since these count a request that an index made wait, too; what the table alone counts does not.
      return measured.names.flatMap((name) =>
        TABLE_OPERATIONS.map((Operation) => serviceMetric('AWS/DynamoDB', name, { TableName: watched.tableName, Operation }, minutes)),
      );
    case 'api':
      return measured.names.map((name) => serviceMetric('AWS/ApiGateway', name, { ApiId: watched.apiId }, minutes));
    case 'queue': {
      const dimensions = { QueueName: watched.queues[measured.queue].queueName };
      return [serviceMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', dimensions, minutes, 'Maximum')];
    }
    case 'doors':
      return ofFunctions(watched, Object.keys(DOORS) as DoorName[], measured.names, minutes);
    case 'workers':
      // Reconciles that find no room are what its one reserved place is for.
      return ofFunctions(
        watched,
        WORKERS.filter((name) => name !== 'reconcile'),
        measured.names,
        minutes,
      );
  }
};

const ofFunctions = ({ functions }: Watched, of: readonly FunctionName[], names: readonly string[], minutes: number): readonly Metric[] =>
  of.flatMap((one) => names.map((name) => serviceMetric('AWS/Lambda', name, { FunctionName: functions[one].functionName }, minutes)));

/** Every one of them is asked about; grants.ts allows no other. */
const TABLE_OPERATIONS = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

/**
 * What an alarm looks at, of at most ten. Missing is nothing: without the zeros, one that was never sent would hide all the others.
 * Of counts the sum. Of heartbeats the product, which is zero as soon as one of them is; also of a single one, since CloudWatch looks
 * for older data before it believes that some is missing, and rings a quarter of an hour late.
 */
const together = (metrics: readonly Metric[], { minutes, missing }: AlarmRow): IMetric => {
  const [only] = metrics;
  if (metrics.length === 1 && only && missing === 'fine') return only;
  if (metrics.length > 10) throw new Error(`an alarm looks at ten metrics at most, not at ${metrics.length}`);
  const usingMetrics = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
  const expression = metrics.map((_, i) => `FILL(m${i}, 0)`).join(missing === 'wrong' ? ' * ' : ' + ');
  return new MathExpression({ expression, usingMetrics, period: Duration.minutes(minutes), label: missing === 'wrong' ? 'beats' : 'sum' });
};

export interface AlarmsProps {
  readonly deployment: Deployment;
  readonly watched: Watched;
  /** Undefined: alarms show on the dashboard, and nobody is called. */
  readonly topic: ITopic | undefined;
}

export class Alarms extends Construct {
  readonly all: readonly Alarm[];

  constructor(scope: Construct, id: string, { deployment, watched, topic }: AlarmsProps) {
    super(scope, id);
    const { questionHours = 4, pages = 'docs/runbook' } = deployment.alarms ?? {};
    this.all = alarmRows(ticksOf(deployment), questionHours).map((row) => {
      const alarm = new Alarm(this, row.id, propsOf(row, watched, pages));
      if (topic) alarm.addAlarmAction(new SnsAction(topic));
      if (topic) alarm.addOkAction(new SnsAction(topic));
      return alarm;
    });
  }
}

const propsOf = (row: AlarmRow, watched: Watched, pages: string): AlarmProps => ({
  metric: together(metricsOf(watched, row.measured, row.minutes), row),
  alarmDescription: `dispatch ${watched.tag}: ${row.says}. What to do: ${pages}/${row.page}.md`,
  threshold: row.threshold,
  evaluationPeriods: row.periods,
  comparisonOperator:
    row.when === 'at least' ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
  treatMissingData: row.missing === 'wrong' ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
});
