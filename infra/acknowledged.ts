/**
 * Acknowledged: every rule of AwsSolutions (cdk-nag) that this app does not follow, and why. Nothing is acknowledged anywhere else.
 * Each reason says what was decided, not that it was decided; a finding without an entry here fails the synthesis.
 */
import { Stack, Validations } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

const acknowledge = (of: IConstruct, id: string, reason: string): void => Validations.of(of).acknowledge({ id, reason });

/** Why a resource is not named to its last letter, by what is done with it. Everything else in this app is. */
export const WILDCARDS: readonly { readonly action: RegExp; readonly resource: RegExp; readonly why: string }[] = [
  {
    action: /^secretsmanager:GetSecretValue$/,
    resource: /[^*?]-\?{6}$/,
    why: 'Secrets Manager ends every ARN by six characters of its own; the secret is named.',
  },
  {
    action: /^logs:(CreateLogStream|PutLogEvents)$/,
    resource: /:log-stream:\*$/,
    why: 'The platform names the streams; the group is named.',
  },
  {
    action: /^s3:DeleteObject$/,
    resource: /[^*]\/\*$/,
    why: 'Objects are named by jobs that do not exist yet; the bucket is named.',
  },
  { action: /^ec2:/, resource: /^\*$/, why: 'The platform makes the function’s network interfaces, which have no name before.' },
  {
    action: /^xray:(Put|GetSampling)/,
    resource: /^\*$/,
    why: 'Traces and their sampling belong to no resource: AWS grants this on everything or not at all.',
  },
  {
    action: /^logs:(\w*LogDeliver(y|ies)|PutResourcePolicy|DescribeResourcePolicies|DescribeLogGroups)$/,
    resource: /^\*$/,
    why: 'Deliveries of logs belong to no resource: AWS grants this on everything or not at all.',
  },
];

/** Throws for a wildcard without a reason, so that it cannot come in unseen even where cdk-nag does not look. */
export const acknowledgeRole = (role: IConstruct, statements: readonly PolicyStatement[]): void => {
  const reasons = new Map<string, Set<string>>();
  for (const { actions, resources } of statements) {
    for (const resource of resources.map((one) => plain(Stack.of(role).resolve(one))).filter((one) => /[*?]/.test(one))) {
      const why = new Set(actions.map((action) => whyOf(action, resource)));
      reasons.set(resource, new Set([...(reasons.get(resource) ?? []), ...why]));
    }
  }
  // The rules know of no other wildcard than this one.
  for (const [resource, why] of reasons)
    if (resource.includes('*')) acknowledge(role, `AwsSolutions-IAM5[Resource::${resource}]`, [...why].join(' '));
};

const whyOf = (action: string, resource: string): string => {
  const found = WILDCARDS.find((one) => one.action.test(action) && one.resource.test(resource));
  if (!found) throw new Error(`no reason is written for ${action} on ${resource}`);
  return found.why;
};

/** As cdk-nag writes a resource: `<Name>` for what CloudFormation fills in. */
const plain = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = value as Readonly<Record<string, unknown>>;
  if (typeof ref === 'string') return `<${ref}>`;
  if (Array.isArray(attribute)) return `<${attribute.join('.')}>`;
  if (Array.isArray(joined)) return (joined[1] as unknown[]).map(plain).join(String(joined[0]));
  return JSON.stringify(value);
};

export const acknowledgeTracing = (machine: IConstruct): void =>
  acknowledge(
    machine,
    'AwsSolutions-SF2',
    'Tracing is off by default, since every trace costs; `tracing: true` in the deployment turns it on everywhere.',
  );

export const acknowledgeOpenRoute = (route: IConstruct, access: 'anyone' | 'attempt'): void =>
  acknowledge(
    route,
    'AwsSolutions-APIG4',
    access === 'attempt'
      ? 'A run on a cluster has no AWS identity. It sends the token of its attempt, which the function checks; the route has a request limit of its own.'
      : 'Says nothing about any job: the API’s own document, and that the service is up. The route has a request limit of its own.',
  );

export const acknowledgeDeadLetters = (queue: IConstruct): void =>
  acknowledge(queue, 'AwsSolutions-SQS3', 'It is itself the queue of dead letters; an alarm watches its depth.');
