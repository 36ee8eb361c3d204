/** Dashboard: one page that answers, from top to bottom, whether dispatch works, what it works on, and who waits for whom. */
import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE, METRICS, type MetricName, SERVICE_DIMENSION, serviceOf } from '../lib/aws/metric-names.ts';
import { metricsOf, ourMetric, type Watched } from './alarms.ts';
import type { Deployment } from './deployment.ts';
import { prefixOf } from './state-stack.ts';

const MINUTES = 5;
const WIDTH = 8;

export interface BoardProps {
  readonly deployment: Deployment;
  readonly watched: Watched;
  readonly alarms: readonly Alarm[];
}

export class Board extends Construct {
  constructor(scope: Construct, id: string, { deployment, watched, alarms }: BoardProps) {
    super(scope, id);
    const graph = (title: string, left: readonly IMetric[]): IWidget => new GraphWidget({ title, width: WIDTH, left: [...left] });
    const ours = (title: string, ...names: readonly MetricName[]): IWidget =>
      graph(
        title,
        names.map((name) => ourMetric(watched.tag, name, MINUTES)),
      );
    const perLogin = (title: string, ...names: readonly MetricName[]): IWidget =>
      graph(
        title,
        names.map((name) => everyLogin(watched.tag, name, names.length === 1 ? '' : ` ${METRICS[name].says}`)),
      );
    const services = (title: string, ...measured: Parameters<typeof metricsOf>[1][]): IWidget =>
      graph(
        title,
        measured.flatMap((one) => [...metricsOf(watched, one, MINUTES)]),
      );
    new Dashboard(this, 'Dashboard', {
      dashboardName: prefixOf(deployment),
      widgets: [
        [new TextWidget({ markdown: `# dispatch ${deployment.tag}\nWhat an alarm asks of you: \`docs/runbook\`.`, width: 24, height: 2 })],
        ...hundreds(alarms).map((some) => [new AlarmStatusWidget({ title: 'Alarms', alarms: [...some], width: 24, height: 4 })]),
        [
          ours('Jobs that have not ended', 'JobsUnended'),
          perLogin('Jobs that polls watch', 'ActiveJobs'),
          ours('Questions to people', 'QuestionsOpen'),
        ],
        [
          perLogin('Polls that came to their end', 'PollHeartbeat'),
          perLogin('Longest poll', 'PollMilliseconds'),
          perLogin('Polls without an answer', 'PollUnreachable', 'PollBlocked'),
        ],
        [
          services('Supervisors', {
            of: 'machine',
            names: ['ExecutionsStarted', 'ExecutionsSucceeded', 'ExecutionsFailed', 'ExecutionThrottled'],
          }),
          ours('Wakes', 'SignalsSent', 'SignalsSuperseded', 'SignalsFailed', 'WakesOwed'),
          ours('Repairs', 'SupervisorsRestarted', 'SupervisorsFailing', 'RecordsRepaired', 'OldestHeadSeconds'),
        ],
        [
          services('API', { of: 'api', names: ['Count', '4xx', '5xx'] }),
          services('Functions that find no room', { of: 'doors', names: ['Throttles'] }, { of: 'workers', names: ['Throttles'] }),
          services('Table throttled', { of: 'table', names: ['ThrottledRequests'] }),
        ],
        [
          services('Errors of functions', { of: 'doors', names: ['Errors'] }, { of: 'workers', names: ['Errors'] }),
          ours('Notices not taken, secrets not read', 'NoticesFailed', 'SecretsUnreadable', 'TokensInvalid'),
          services('Dead letters', { of: 'queue', queue: 'ticks' }, { of: 'queue', queue: 'notices' }),
        ],
      ],
    });
  }
}

/** By a search, which finds up to 500 of them: a graph holds no more, and the whole page 2,500, if each is named. */
const everyLogin = (tag: string, name: MetricName, says: string): IMetric => {
  const { statistic, dimensions } = METRICS[name];
  const schema = [METRIC_NAMESPACE, SERVICE_DIMENSION, ...dimensions].join(',');
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${name}" ${SERVICE_DIMENSION}="${serviceOf(tag)}"', '${statistic}', ${MINUTES * 60})`,
    period: Duration.minutes(MINUTES),
    label: `${dimensions.map((one) => `\${PROP('Dim.${one}')}`).join(' ')}${says}`,
  });
};

/** As many as one widget shows. */
const hundreds = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / 100) }, (_, i) => all.slice(i * 100, (i + 1) * 100));
