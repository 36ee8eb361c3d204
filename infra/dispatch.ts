/**
 * Dispatch: everything of a deployment but its record, as one construct for any CDK app:
 *
 *   const record = new RecordTable(stack, 'Record').table;          // in a stack that is never deleted
 *   new Dispatch(stack, 'Dispatch', { deployment, record });        // in one that may be
 *
 * `deployment` is what readDeployment makes of the one file. Nothing in here is the truth: deleted and made again, reconcile rebuilds all
 * supervision from the table.
 */
import { ArnFormat, CfnOutput, Duration, Stack, Tags } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledgeDeadLetters } from './acknowledged.ts';
import { Alarms, type Watched } from './alarms.ts';
import { Api } from './api.ts';
import { Board } from './dashboard.ts';
import type { Deployment } from './deployment.ts';
import { Functions } from './functions.ts';
import { Machine, machineArnOf } from './machine.ts';
import { ClusterNetwork } from './network.ts';
import { allowAlarms, busArnOf, makeBus, Notify, Topics } from './notify.ts';
import { Schedules } from './schedules.ts';
import { prefixOf, type TableNames } from './state-stack.ts';

export interface DispatchProps {
  readonly deployment: Deployment;
  /** The table of a RecordTable, in this app or imported. */
  readonly record: TableNames;
}

/** Long enough for a weekend and a holiday. */
const LETTERS_KEPT = Duration.days(14);

export class Dispatch extends Construct {
  readonly functions: Functions['all'];
  readonly machine: Machine['machine'];
  readonly api: Api['api'];
  readonly topics: Topics;

  constructor(scope: Construct, id: string, { deployment, record }: DispatchProps) {
    super(scope, id);
    Tags.of(this).add('dispatch:deployment', deployment.tag);
    const bus = makeBus(this, deployment);
    const queues = { ticks: this.queue('DeadLetters'), notices: this.queue('UndeliveredNotices') };
    const network = deployment.network && new ClusterNetwork(this, 'Network', deployment, deployment.network);
    const { all } = new Functions(this, 'Functions', {
      ...{ deployment, record, network },
      busName: prefixOf(deployment),
      busArn: busArnOf(this, deployment),
      machineArn: machineArnOf(this, deployment),
      deadLetterArn: queues.ticks.queueArn,
      secretArn: (name) => secretArn(this, name),
      bucketArn: (bucket) => Stack.of(this).formatArn({ service: 's3', region: '', account: '', resource: bucket }),
    });
    const { machine } = new Machine(this, 'Machine', { deployment, advance: all.advance, park: all.park });
    const { api, url } = new Api(this, 'Api', { deployment, functions: all });
    new Schedules(this, 'Schedules', { deployment, poll: all.poll, reconcile: all.reconcile, deadLetters: queues.ticks });
    this.topics = new Topics(this, 'Topics');
    new Notify(this, 'Notify', {
      ...{ deployment, bus, topics: this.topics, reconcile: all.reconcile, preflight: all.preflight },
      ...{ machineArn: machineArnOf(this, deployment), unsent: queues.notices, deadLetters: queues.ticks },
    });
    const watched: Watched = {
      ...{ tag: deployment.tag, machineArn: machine.stateMachineArn, tableName: record.tableName },
      ...{ apiId: api.apiId, functions: all, queues },
    };
    const { alarms, observability } = deployment;
    const topic = alarms && this.topics.topic(alarms.sns, alarms.emails, deployment.tag);
    const made = observability.alarms ? new Alarms(this, 'Alarms', { deployment, watched, topic }).all : [];
    if (topic) allowAlarms(topic);
    if (observability.dashboard) new Board(this, 'Board', { deployment, watched, alarms: made });
    this.functions = all;
    this.machine = machine;
    this.api = api;
    new CfnOutput(this, 'ApiUrl', { value: url, description: 'Where the API is.' });
    new CfnOutput(this, 'BusName', { value: bus.eventBusName, description: 'Where domain events go.' });
    for (const [name, one] of this.topics.made) new CfnOutput(this, `Topic${name}`, { value: one.topicArn });
  }

  private queue(id: string): Queue {
    const queue = new Queue(this, id, { retentionPeriod: LETTERS_KEPT, enforceSSL: true });
    acknowledgeDeadLetters(queue);
    return queue;
  }
}

/** Six characters of its own end the ARN of every secret. */
const secretArn = (scope: Construct, name: string): string =>
  name.startsWith('arn:')
    ? name
    : Stack.of(scope).formatArn({
        service: 'secretsmanager',
        resource: 'secret',
        resourceName: `${name}-??????`,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
