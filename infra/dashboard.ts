/** Dashboard: one page that answers, from top to bottom, whether dispatch works, what it works on, and who waits for whom. */
import { type Alarm, AlarmStatusWidget, Dashboard, GraphWidget, type IMetric, type IWidget, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { METRICS, type MetricName } from '../lib/aws/metric-names.ts';
import { metricsOf, ourMetric, type Watched } from './alarms.ts';
import type { Deployment } from './deployment.ts';
import { ticksOf } from './schedules.ts';
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
    const perLogin = (title: string, name: MetricName): IWidget =>
      graph(
        title,
        ticksOf(deployment).map(({ cluster, login }) =>
          ourMetric(watched.tag, name, MINUTES, { cluster, login }).with({ label: `${cluster} ${login}` }),
        ),
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
        [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 24, height: 4 })],
        [
          ours('Jobs that have not ended', 'JobsUnended'),
          perLogin('Jobs that polls watch', 'ActiveJobs'),
          ours('Questions to people', 'QuestionsOpen'),
        ],
        [
          perLogin('Polls that came to their end', 'PollHeartbeat'),
          perLogin('Longest poll', 'PollMilliseconds'),
          graph('Polls without an answer', [
            ...ticksOf(deployment).flatMap(({ cluster, login }) =>
              (['PollUnreachable', 'PollBlocked'] as const).map((name) =>
                ourMetric(watched.tag, name, MINUTES, { cluster, login }).with({ label: `${cluster} ${login} ${METRICS[name].says}` }),
              ),
            ),
          ]),
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
          services('Table throttled', { of: 'table', names: ['ReadThrottleEvents', 'WriteThrottleEvents'] }),
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
