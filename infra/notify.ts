/**
 * Notify: the bus that domain events go to, what of it goes to people (`notify` of the deployment: a rule and a topic each), and the two
 * rules by which the deployment tells itself something.
 * Guards: rules may publish to their own topic and to nothing else; what a rule cannot deliver is kept and counted, not lost.
 */
import { Stack } from 'aws-cdk-lib';
import { EventBus, type EventPattern, type IRule, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
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

/** A service may publish to a topic of ours on behalf of this resource alone. An existing topic's owner grants that there. */
export const allowPublish = (topic: ITopic, service: string, sourceArn: string): void => {
  if (!(topic instanceof Topic)) return;
  topic.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      principals: [new ServicePrincipal(service)],
      conditions: { ArnEquals: { 'aws:SourceArn': sourceArn } },
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
    for (const { on, sns, emails } of deployment.notify) {
      const types = [on].flat();
      const topic = topics.topic(sns, emails, deployment.tag);
      // Known by what it says and not by its place, so that taking one out of the file changes no other.
      const name = `Notice${digestOf(JSON.stringify([sns, types]))}`;
      if (this.node.tryFindChild(name)) continue;
      const rule = new Rule(this, name, {
        eventBus: bus,
        description: `${types.join(', ')} → ${sns}`.slice(0, 512),
        eventPattern: { source: [EVENT_SOURCE], detailType: types },
      });
      rule.addTarget(toTarget(topic.topicArn, unsent, NOTICE_SECONDS));
      allowPublish(topic, 'events.amazonaws.com', rule.ruleArn);
      allowSend(unsent, rule);
    }
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
    allowSend(deadLetters, rule);
  }
}

/** By its ARN alone: the targets that come with CDK grant more than they need. */
const toTarget = (arn: string, deadLetters: IQueue, ageSeconds: number): IRuleTarget => ({
  bind: () => ({
    arn,
    deadLetterConfig: { arn: deadLetters.queueArn },
    // Within this time, delivery is tried again: at least once is what the record promises, too.
    retryPolicy: { maximumEventAgeInSeconds: ageSeconds, maximumRetryAttempts: ageSeconds === INVOCATION_SECONDS ? 2 : 185 },
  }),
});

const allowSend = (queue: IQueue, rule: IRule): void => {
  queue.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      principals: [new ServicePrincipal('events.amazonaws.com')],
      conditions: { ArnEquals: { 'aws:SourceArn': rule.ruleArn } },
    }),
  );
};

/** Of a bus by its name, without depending on it. */
export const busArnOf = (scope: Construct, deployment: Deployment): string =>
  Stack.of(scope).formatArn({ service: 'events', resource: 'event-bus', resourceName: prefixOf(deployment) });
