/**
 * Schedules: one per cluster and login, which invokes poll, and one that invokes reconcile. Made from the configuration and nowhere else:
 * nothing at run time makes or forgets a schedule.
 * Guards that time lost is not repeated: a tick that could not be delivered within a minute is dropped, since the next one looks at
 * everything anyway. That two polls of a login never both count is the lease's business (protocols §5.1), not the scheduler's.
 */
import { Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { pollInvocation, RECONCILE_INVOCATION, RECONCILE_MINUTES } from '../lib/aws/invocations.ts';
import type { Deployment } from './deployment.ts';
import { prefixOf } from './state-stack.ts';
import { ticksOf } from './ticks.ts';

export interface SchedulesProps {
  readonly deployment: Deployment;
  readonly poll: IFunction;
  readonly reconcile: IFunction;
  readonly deadLetters: IQueue;
}

export class Schedules extends Construct {
  constructor(scope: Construct, id: string, { deployment, poll, reconcile, deadLetters }: SchedulesProps) {
    super(scope, id);
    const group = new CfnScheduleGroup(this, 'Group', { name: prefixOf(deployment) });
    const roleFor = (name: string, target: IFunction): Role =>
      new Role(this, `${name}Role`, {
        description: `dispatch ${deployment.tag}: the scheduler invokes ${name.toLowerCase()}, and nothing else`,
        assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
          // Of no other account and no other group, whoever names this role.
          conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account, 'aws:SourceArn': groupArn(this, deployment) } },
        }),
        inlinePolicies: {
          Does: new PolicyDocument({
            minimize: false,
            statements: [
              new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [target.functionArn] }),
              // What could not be delivered is put there under the same role.
              new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadLetters.queueArn] }),
            ],
          }),
        },
      });
    const tick = (name: string, minutes: number, target: IFunction, role: Role, input: unknown, says: string): void => {
      const made = new CfnSchedule(this, name, {
        groupName: group.name!,
        description: says,
        scheduleExpression: `rate(${minutes} minute${minutes === 1 ? '' : 's'})`,
        flexibleTimeWindow: { mode: 'OFF' },
        target: {
          arn: target.functionArn,
          roleArn: role.roleArn,
          input: JSON.stringify(input),
          retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
          deadLetterConfig: { arn: deadLetters.queueArn },
        },
      });
      made.addResourceDependency(group);
    };
    const pollRole = roleFor('Poll', poll);
    for (const { cluster, login, minutes } of ticksOf(deployment))
      tick(`${cluster}.${login}`, minutes, poll, pollRole, pollInvocation(cluster, login), `polls ${cluster} as ${login}`);
    const says = 'repairs supervision from the record';
    tick('Reconcile', RECONCILE_MINUTES, reconcile, roleFor('Reconcile', reconcile), RECONCILE_INVOCATION, says);
  }
}

const groupArn = (scope: Construct, deployment: Deployment): string =>
  Stack.of(scope).formatArn({ service: 'scheduler', resource: 'schedule-group', resourceName: prefixOf(deployment) });
