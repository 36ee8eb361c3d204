/**
 * Every statement of every role, in one table. A change of what anything may do is a change here, to be read and judged.
 * The deployment is the example with everything in it that gives leave: a network, program secrets, a bucket of its own, one behind a
 * role, and one of another kind of store.
 */
import { describe, expect, it } from 'vitest';
import { WILDCARDS } from '../../infra/acknowledged.ts';
import { example, least, type Raw, type Resource, type Synthesised, synthesise, text } from './world.ts';

const ROLE = 'arn:aws:iam::444455556666:role/checkpoints';
const everything = (): Raw => {
  const raw = example();
  const [cluster] = raw['clusters'] as Raw[];
  const buckets = { 'own-saves': {}, 'their-saves': { role: ROLE }, 'other-store': { endpoint: 'https://s3.example.org' } };
  return { ...raw, clusters: [{ ...cluster, buckets }] };
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}
const list = <T>(value: T | readonly T[]): readonly T[] => ([] as T[]).concat(value as T);

/** Without the hash of a logical id, and without what every ARN of this account and region has. */
const short = (resource: string): string =>
  resource
    .replace(/<Dispatch(\w+?)[0-9A-F]{8}(\.Arn)?>/g, '<$1>')
    .replace('<dispatch-k7m2-state:TableArn>', 'table')
    .replace(/^arn:aws:(\w+):(<AWS::Region>)?:(<AWS::AccountId>)?:/, '$1:');

const statementsOf = (id: string, role: Resource, stack: Synthesised): readonly Statement[] => {
  const inline = (role.Properties.Policies ?? []) as { PolicyDocument: { Statement: Statement[] } }[];
  const apart = stack.of('AWS::IAM::Policy').filter(([, one]) => one.Properties.Roles.some((of: unknown) => text(of) === `<${id}>`));
  return [...inline, ...apart.map(([, one]) => one.Properties)].flatMap((one) => one.PolicyDocument.Statement);
};

const written = ({ Effect, Action, Resource: resource, Condition }: Statement): string => {
  const where = list(resource)
    .map((one) => short(text(one)))
    .join(' ');
  return `${Effect === 'Allow' ? '' : `${Effect} `}${list(Action).join(' ')} → ${where}${Condition ? ` if ${JSON.stringify(Condition)}` : ''}`;
};

const tableOf = (stack: Synthesised): Record<string, readonly string[]> =>
  Object.fromEntries(
    stack.of('AWS::IAM::Role').map(([id, role]) => [id.replace(/^Dispatch|[0-9A-F]{8}$/g, ''), statementsOf(id, role, stack).map(written)]),
  );

const logs = (name: string) => `logs:CreateLogStream logs:PutLogEvents → logs:log-group:<Functions${name}Log>:log-stream:*`;
const reads = 'dynamodb:GetItem dynamodb:Query';
const batch = 'dynamodb:GetItem dynamodb:BatchGetItem dynamodb:Query';
const writes = 'dynamodb:PutItem dynamodb:UpdateItem';
const lists = (...names: readonly string[]) => `dynamodb:Query → ${names.map((name) => `table/index/${name}`).join(' ')}`;
const MACHINE = 'states:stateMachine:dispatch-k7m2-supervisor';
const signals = `states:SendTaskSuccess → ${MACHINE}`;
const starts = `states:StartExecution → ${MACHINE}`;
const tells = 'events:PutEvents → events:event-bus/dispatch-k7m2 if {"StringEquals":{"events:source":"dispatch"}}';
const secrets = (...names: readonly string[]) =>
  `secretsmanager:GetSecretValue → ${names.map((name) => `secretsmanager:secret:dispatch/${name}-??????`).join(' ')}`;
const KEYS = ['hpc/bastion', 'hpc/platform', 'hpc/research'];
const assumes = `sts:AssumeRole → ${ROLE}`;
const listsBucket = 's3:ListBucket → s3:own-saves';
const letters = 'sqs:SendMessage → <DeadLetters>';
const interfaces =
  'ec2:CreateNetworkInterface ec2:DeleteNetworkInterface ec2:DescribeNetworkInterfaces ec2:DescribeSubnets ec2:AssignPrivateIpAddresses ec2:UnassignPrivateIpAddresses → *';
/** For the platform, which makes the interfaces; whoever breaks into a function's code may not touch the account's network by it. */
const joins = [interfaces, `Deny ${interfaces} if {"Null":{"lambda:SourceFunctionArn":"false"}}`];

const ROLES: Readonly<Record<string, readonly string[]>> = {
  FunctionssubmitRole: [
    ...[logs('submit'), `${reads} ${writes} dynamodb:DeleteItem → table`, lists('active', 'unendedIn')],
    ...[signals, starts, tells, secrets(...KEYS), ...joins],
  ],
  FunctionsplanRole: [
    ...[logs('plan'), `${reads} ${writes} dynamodb:DeleteItem → table`, lists('active')],
    ...[tells, secrets(...KEYS), ...joins],
  ],
  FunctionspublishRole: [logs('publish'), `${reads} ${writes} → table`, signals, tells, secrets('attempt-tokens')],
  FunctionsjobsRole: [
    ...[logs('jobs'), `${batch} ${writes} → table`, lists('listed', 'project', 'cluster', 'state', 'asked')],
    ...[signals, tells],
  ],
  FunctionsoutputRole: [
    ...[logs('output'), `${reads} ${writes} dynamodb:DeleteItem → table`],
    ...[tells, secrets(...KEYS), assumes, listsBucket, 's3:DeleteObject → s3:own-saves/*', ...joins],
  ],
  FunctionsclustersRole: [logs('clusters'), `${reads} dynamodb:PutItem → table`, tells],
  FunctionsdocumentRole: [logs('document')],
  FunctionsadvanceRole: [
    ...[logs('advance'), `${reads} ${writes} dynamodb:DeleteItem → table`, lists('active')],
    ...[signals, tells, secrets('attempt-tokens', ...KEYS, 'programs/wandb')],
    ...[assumes, listsBucket, ...joins],
  ],
  FunctionsparkRole: [logs('park'), `${reads} dynamodb:UpdateItem → table`, tells],
  FunctionspollRole: [
    ...[logs('poll'), `${reads} ${writes} dynamodb:DeleteItem → table`, lists('active', 'owed', 'unsent')],
    ...[signals, tells, secrets(...KEYS), assumes, listsBucket, letters, ...joins],
  ],
  FunctionsreconcileRole: [
    ...[logs('reconcile'), `${batch} ${writes} dynamodb:DeleteItem → table`, lists('unended', 'owed', 'unsent')],
    ...[signals, starts, tells, letters],
  ],
  FunctionspreflightRole: [
    ...[logs('preflight'), `${reads} ${writes} dynamodb:DeleteItem → table`, lists('active')],
    ...[tells, secrets(...KEYS), letters, ...joins],
  ],
  MachineRole: [
    'lambda:InvokeFunction → <FunctionsadvanceFunction> <FunctionsparkFunction>',
    starts,
    'logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies logs:DescribeLogGroups → *',
  ],
  NotifyPublishes: ['sns:Publish → <Topicsquestions> <Topicsoperations>'],
  SchedulesPollRole: ['lambda:InvokeFunction → <FunctionspollFunction>', letters],
  SchedulesReconcileRole: ['lambda:InvokeFunction → <FunctionsreconcileFunction>', letters],
  NetworkVpcFlowsIAMRole: ['logs:CreateLogStream logs:PutLogEvents logs:DescribeLogStreams → <NetworkFlowLog>'],
};

const all = (raw: Raw): readonly Statement[] => {
  const { app } = synthesise(raw);
  return app.of('AWS::IAM::Role').flatMap(([id, role]) => statementsOf(id, role, app));
};

describe('roles', () => {
  it('each may do exactly what stands here', () => {
    expect(tableOf(synthesise(everything()).app)).toEqual(ROLES);
  });

  it('outside a network nothing makes network interfaces, and without buckets nothing touches one', () => {
    const actions = all(least()).flatMap(({ Action }) => list(Action));
    expect(actions.filter((action) => /^(ec2|s3|sts|xray):/.test(action))).toEqual([]);
  });

  it('tracing lets functions and machine write traces, and nothing more', () => {
    const without = all(least()).length;
    const traced = all(least({ tracing: true }));
    const writing = traced.filter(({ Action }) => list(Action).join(' ') === 'xray:PutTraceSegments xray:PutTelemetryRecords');
    expect(writing).toHaveLength(13);
    const sampling = traced.filter(({ Action }) => list(Action).join(' ') === 'xray:GetSamplingRules xray:GetSamplingTargets');
    expect(sampling).toHaveLength(1);
    expect(traced).toHaveLength(without + 13 + 1);
  });

  it.each([
    ['example', everything()],
    ['traced', least({ tracing: true })],
  ])('%s: no action has a wildcard, and every wildcard in a resource has its reason', (_, raw) => {
    for (const { Action, Resource: resource } of all(raw))
      for (const action of list(Action)) {
        expect(action).not.toContain('*');
        for (const one of list(resource)
          .map((each) => short(text(each)))
          .filter((each) => /[*?]/.test(each)))
          expect(
            WILDCARDS.filter((reason) => reason.action.test(action) && reason.resource.test(one)),
            `${action} on ${one}`,
          ).toHaveLength(1);
      }
  });

  it('no role has a policy that AWS manages, since such a one grants what nobody here decided', () => {
    for (const [, role] of synthesise(everything()).app.of('AWS::IAM::Role')) expect(role.Properties.ManagedPolicyArns ?? []).toEqual([]);
  });

  it('a role is assumed by one service alone', () => {
    for (const [id, role] of synthesise(everything()).app.of('AWS::IAM::Role')) {
      const services = role.Properties.AssumeRolePolicyDocument.Statement.map((one: { Principal: unknown }) =>
        JSON.stringify(one.Principal),
      );
      expect(services, id).toEqual([
        expect.stringMatching(/^\{"Service":"(lambda|states|scheduler|events|vpc-flow-logs)\.amazonaws\.com"\}$/),
      ]);
    }
  });

  it('the scheduler’s roles are for schedules of this deployment alone', () => {
    const { app } = synthesise(everything());
    for (const [, role] of app.of('AWS::IAM::Role').filter(([id]) => id.includes('Schedules'))) {
      const { StringEquals } = role.Properties.AssumeRolePolicyDocument.Statement[0].Condition;
      expect(text(StringEquals['aws:SourceAccount'])).toBe('<AWS::AccountId>');
      expect(text(StringEquals['aws:SourceArn'])).toBe('arn:aws:scheduler:<AWS::Region>:<AWS::AccountId>:schedule-group/dispatch-k7m2');
    }
  });

  it('a secret named by its ARN is granted as it is', () => {
    const arn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:lab-AbCdEf';
    const raw = least({ tokenKeysSecret: arn });
    expect(all(raw).flatMap(({ Resource: resource }) => list(resource).map(text))).toContain(arn);
  });
});
