/**
 * Notify: the bus that domain events go to, what of it goes to people (`notify` of the deployment: a rule and a topic each), and the two
 * rules by which the deployment tells itself something.
 * Guards: rules of this bus may publish to the topics that the deployment names and to nothing else; what a rule cannot deliver is kept
 * and counted, not lost. They publish under a role: a topic's own policy cannot say for which rule EventBridge may publish to it (with a
 * condition nothing arrives, without one anybody's rule may), and a topic that exists then needs no change.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { EventBus, type EventPattern, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnPermission, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { badEndPattern, EVENT_SOURCE, PREFLIGHT_PATTERN } from '../lib/aws/invocations.ts';
import { type Deployment, digestOf } from './deployment.ts';
import { prefixOf } from './state-stack.ts';

/** Topics by the name that the configuration gives them, each made once. */
export class Topics extends Construct {
  private readonly known = new Map<string, ITopic>();

  topic(sns: string, emails: readonly string[], tag: string): ITopic {
    const topic = this.known.get(sns) ?? this.make(sns, tag);
    this.known.set(sns, topic);
    if (topic instanceof Topic)
      for (const email of emails) if (!topic.node.tryFindChild(email)) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }

  /** Of topics that are made here, by name. */
  get made(): ReadonlyMap<string, Topic> {
    return new Map([...this.known].flatMap(([name, topic]) => (topic instanceof Topic ? [[name, topic]] : [])));
  }

  private make(sns: string, tag: string): ITopic {
    if (sns.startsWith('arn:')) return Topic.fromTopicArn(this, sns, sns);
    return new Topic(this, sns, { displayName: `dispatch ${tag}: ${sns}`, enforceSSL: true });
  }
}

/** Alarms of this account may publish to a topic of ours. An existing topic's owner grants that there. */
export const allowAlarms = (topic: ITopic): void => {
  if (!(topic instanceof Topic)) return;
  const alarms = Stack.of(topic).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  topic.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      conditions: { ArnLike: { 'aws:SourceArn': alarms } },
    }),
  );
};

export interface NotifyProps {
  readonly deployment: Deployment;
  readonly bus: EventBus;
  readonly topics: Topics;
  readonly machineArn: string;
  readonly reconcile: IFunction;
  readonly preflight: IFunction;
  /** Of notices that no topic took. */
  readonly unsent: IQueue;
  /** Of invocations that could not be delivered. */
  readonly deadLetters: IQueue;
}

/** What nobody takes within an hour is read from the record by then. */
const NOTICE_SECONDS = 3600;
/** A preflight or a reconcile that is late is done by the next tick. */
const INVOCATION_SECONDS = 60;

export const makeBus = (scope: Construct, deployment: Deployment): EventBus =>
  new EventBus(scope, 'Bus', { eventBusName: prefixOf(deployment), description: `dispatch ${deployment.tag}: what happens to jobs` });

export class Notify extends Construct {
  constructor(scope: Construct, id: string, props: NotifyProps) {
    super(scope, id);
    const { deployment, bus, topics, machineArn, reconcile, preflight, unsent, deadLetters } = props;
    const told = deployment.notify.map(({ on, sns, emails }) => ({
      ...{ types: [on].flat(), sns },
      topicArn: topics.topic(sns, emails, deployment.tag).topicArn,
    }));
    const role = told.length === 0 ? undefined : this.publishes(deployment, [...new Set(told.map(({ topicArn }) => topicArn))]);
    for (const { types, sns, topicArn } of told) {
      // Known by what it says and not by its place, so that taking one out of the file changes no other.
      const name = `Notice${digestOf(JSON.stringify([sns, types]))}`;
      if (this.node.tryFindChild(name)) continue;
      const rule = new Rule(this, name, {
        eventBus: bus,
        description: `${types.join(', ')} → ${sns}`.slice(0, 512),
        eventPattern: { source: [EVENT_SOURCE], detailType: types },
      });
      rule.addTarget(toTarget(topicArn, unsent, NOTICE_SECONDS, role));
    }
    // One condition for all of them: a queue's policy holds ten.
    if (role) allowSend(unsent, { ArnLike: { 'aws:SourceArn': rulesOf(this, deployment) } });
    // Executions report to the account's default bus.
    this.invokes('BadEnd', reconcile, badEndPattern(machineArn), 'a supervisor ended badly: its successor is started at once', deadLetters);
    this.invokes(
      'Preflight',
      preflight,
      PREFLIGHT_PATTERN as unknown as EventPattern,
      'somebody asked what a cluster can do',
      deadLetters,
      bus,
    );
  }

  private publishes(deployment: Deployment, topicArns: readonly string[]): Role {
    return new Role(this, 'Publishes', {
      description: `dispatch ${deployment.tag}: what rules on its bus may publish to`,
      // A role cannot be handed to a service in another account, so no other account's rule can use it.
      assumedBy: new ServicePrincipal('events.amazonaws.com'),
      inlinePolicies: {
        Does: new PolicyDocument({
          minimize: false,
          statements: [new PolicyStatement({ actions: ['sns:Publish'], resources: [...topicArns] })],
        }),
      },
    });
  }

  private invokes(
    name: string,
    target: IFunction,
    eventPattern: EventPattern,
    description: string,
    deadLetters: IQueue,
    eventBus?: EventBus,
  ): void {
    const rule = new Rule(this, name, { description, eventPattern, ...(eventBus && { eventBus }) });
    rule.addTarget(toTarget(target.functionArn, deadLetters, INVOCATION_SECONDS));
    new CfnPermission(this, `${name}Invokes`, {
      action: 'lambda:InvokeFunction',
      functionName: target.functionArn,
      principal: 'events.amazonaws.com',
      sourceArn: rule.ruleArn,
    });
    allowSend(deadLetters, { ArnEquals: { 'aws:SourceArn': rule.ruleArn } });
  }
}

/** By its ARN alone: the targets that come with CDK grant more than they need. */
const toTarget = (arn: string, deadLetters: IQueue, ageSeconds: number, role?: Role): IRuleTarget => ({
  bind: () => ({
    arn,
    ...(role && { role }),
    deadLetterConfig: { arn: deadLetters.queueArn },
    // Within this time, delivery is tried again: at least once is what the record promises, too.
    retryPolicy: { maximumEventAgeInSeconds: ageSeconds, maximumRetryAttempts: ageSeconds === INVOCATION_SECONDS ? 2 : 185 },
  }),
});

const allowSend = (queue: IQueue, conditions: Readonly<Record<string, Readonly<Record<string, string>>>>): void => {
  queue.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      principals: [new ServicePrincipal('events.amazonaws.com')],
      conditions,
    }),
  );
};

/** Every rule of our bus. */
const rulesOf = (scope: Construct, deployment: Deployment): string =>
  Stack.of(scope).formatArn({ service: 'events', resource: 'rule', resourceName: `${prefixOf(deployment)}/*` });

/** Of a bus by its name, without depending on it. */
export const busArnOf = (scope: Construct, deployment: Deployment): string =>
  Stack.of(scope).formatArn({ service: 'events', resource: 'event-bus', resourceName: prefixOf(deployment) });
