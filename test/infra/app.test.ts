/** The app stack: functions, machine, API, schedules and rules, each held against the table in lib/ that it is made from. */
import validate from 'asl-validator';
import { describe, expect, it } from 'vitest';
import { doorOf, routeKey } from '../../infra/api.ts';
import { SETTINGS } from '../../infra/functions.ts';
import { ROUTES } from '../../lib/api/routes.ts';
import { MACHINE } from '../../lib/app/advance.ts';
import { NOTICE_TYPES } from '../../lib/app/notices.ts';
import { CONNECTING, DOORS, FUNCTION_NAMES, type FunctionName } from '../../lib/aws/doors.ts';
import { readEnvironment, variablesOf } from '../../lib/aws/environment.ts';
import { pollAsked, reconcileAsked } from '../../lib/aws/invocations.ts';
import { example, least, type Raw, type Resource, synthesise, text } from './world.ts';

const { app } = synthesise(example());
const { app: plain } = synthesise(least());
const nameOf = (id: string): string => id.replace(/^DispatchFunctions|(Function)?[0-9A-F]{8}$/g, '').replace(/Function$/, '');
const functionsOf = (stack: typeof app): Readonly<Record<string, Resource>> =>
  Object.fromEntries(stack.of('AWS::Lambda::Function').map(([id, one]) => [nameOf(id), one]));
const functions = functionsOf(app);
const idOf = (name: FunctionName): string => app.of('AWS::Lambda::Function').find(([id]) => nameOf(id) === name)![0];

describe('functions', () => {
  it('are the doors and workers that there are, and no other', () => {
    expect(Object.keys(functions).sort()).toEqual([...FUNCTION_NAMES].sort());
  });

  it.each(FUNCTION_NAMES)('%s is told exactly what it reads', (name) => {
    const told = functions[name]?.Properties.Environment.Variables as Record<string, unknown>;
    const { required, optional } = variablesOf(name);
    expect(
      Object.keys(told)
        .filter((variable) => !(optional as string[]).includes(variable))
        .sort(),
    ).toEqual([...required].sort());
    // What it is told is what it can read.
    const filled = Object.fromEntries(Object.entries(told).map(([variable, value]) => [variable, text(value)]));
    expect(readEnvironment(name, filled)).toMatchObject(filled);
    // All variables of a function together: 4 KB.
    expect(JSON.stringify(filled).length).toBeLessThan(3900);
  });

  it.each(FUNCTION_NAMES)('%s: Node 24 on arm64, the time of contract §13, logs that end', (name) => {
    const { Properties } = functions[name]!;
    expect(Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      Timeout: SETTINGS[name].timeoutSeconds,
    });
    expect(Properties.FunctionName).toBeUndefined();
    const group = text(Properties.LoggingConfig.LogGroup).slice(1, -1);
    expect(app.resources[group]).toMatchObject({ Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 30 } });
  });

  it('§13: API 29 s, poll 50 s, advance 150 s, park 10 s; whatever repeats ends before it begins again', () => {
    const seconds = Object.fromEntries(Object.entries(SETTINGS).map(([name, { timeoutSeconds }]) => [name, timeoutSeconds]));
    for (const door of Object.keys(DOORS)) expect(seconds[door]).toBe(29);
    expect(seconds).toMatchObject({ poll: 50, advance: 150, park: 10, reconcile: 240, preflight: 150 });
  });

  it('§13: every log group ends', () => {
    const groups = app.of('AWS::Logs::LogGroup');
    expect(groups.length).toBeGreaterThan(FUNCTION_NAMES.length);
    expect(groups.filter(([, one]) => one.Properties.RetentionInDays !== 30)).toEqual([]);
  });

  it('room is reserved for polls and for one reconcile alone, or for nobody', () => {
    const reserved = (stack: typeof app) =>
      Object.fromEntries(
        Object.entries(functionsOf(stack)).flatMap(([name, one]) => {
          const count = one.Properties.ReservedConcurrentExecutions;
          return count === undefined ? [] : [[name, count]];
        }),
      );
    expect(reserved(app)).toEqual({ poll: 2, reconcile: 1 });
    expect(reserved(synthesise(least({ reservedConcurrency: false })).app)).toEqual({});
  });

  it('what nobody waits for is never repeated and never late, and its failures are kept', () => {
    const configured = app.of('AWS::Lambda::EventInvokeConfig').map(([, one]) => one.Properties);
    expect(configured.map((one) => nameOf(text(one.FunctionName).slice(1, -1))).sort()).toEqual(['poll', 'preflight', 'reconcile']);
    for (const one of configured) {
      expect(one).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
      expect(text(one.DestinationConfig.OnFailure.Destination)).toMatch(/^<DispatchDeadLetters[0-9A-F]{8}\.Arn>$/);
    }
  });

  it('X-Ray is off by default, and everywhere on when asked for', () => {
    const modes = (stack: typeof app) => new Set(Object.values(functionsOf(stack)).map((one) => one.Properties.TracingConfig?.Mode));
    expect(modes(app)).toEqual(new Set([undefined]));
    const { app: traced } = synthesise(least({ tracing: true }));
    expect(modes(traced)).toEqual(new Set(['Active']));
    expect(traced.of('AWS::StepFunctions::StateMachine')[0]![1].Properties.TracingConfiguration).toEqual({ Enabled: true });
  });

  it('only those that connect to clusters join the network, and without one nobody does', () => {
    const joined = Object.entries(functions)
      .filter(([, one]) => one.Properties.VpcConfig)
      .map(([name]) => name);
    expect(joined.sort()).toEqual([...CONNECTING].sort());
    expect(Object.values(functionsOf(plain)).filter((one) => one.Properties.VpcConfig)).toEqual([]);
    expect(plain.of('AWS::EC2::VPC')).toEqual([]);
  });
});

describe('network', () => {
  const egress = (stack: typeof app) =>
    stack
      .of('AWS::EC2::SecurityGroup')[0]![1]
      .Properties.SecurityGroupEgress.map((one: { FromPort: number; ToPort: number }) => [one.FromPort, one.ToPort]);

  it('lets out to AWS and to the first host on each way, and lets nothing in', () => {
    expect(egress(app)).toEqual([
      [443, 443],
      [2222, 2222],
    ]);
    expect(app.of('AWS::EC2::SecurityGroup')[0]![1].Properties.SecurityGroupIngress).toBeUndefined();
  });

  it('may be one that exists, named and never looked up', () => {
    const network = { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['eu-west-1a'], subnetIds: ['subnet-01234567'] };
    const { app: joined } = synthesise(least({ network }));
    expect(joined.of('AWS::EC2::VPC')).toEqual([]);
    expect(functionsOf(joined)['advance']?.Properties.VpcConfig.SubnetIds).toEqual(['subnet-01234567']);
    expect(egress(joined)).toEqual([
      [22, 22],
      [443, 443],
    ]);
  });

  it('lets out to stores that are not S3, wherever they listen', () => {
    const [cluster] = least()['clusters'] as Raw[];
    const buckets = { a: { endpoint: 'http://minio.example.org:9000' }, b: { endpoint: 'http://store.example.org' }, c: {} };
    const named = Object.fromEntries(Object.entries(buckets).map(([name, one]) => [`saves-${name}`, one]));
    const { app: stored } = synthesise(least({ clusters: [{ ...cluster, buckets: named }], network: { natGateways: 1 } }));
    expect(egress(stored).map(([port]: [number]) => port)).toEqual([22, 80, 443, 9000]);
  });

  it('says from which addresses connections come, since that is what it is for', () => {
    const { Outputs } = synthesise(least({ network: { natGateways: 2 } })).app.template.toJSON() as {
      Outputs: Record<string, { Value: unknown }>;
    };
    const [addresses] = Object.entries(Outputs).filter(([id]) => id.includes('Addresses'));
    expect(text(addresses![1].Value)).toMatch(/^<DispatchNetworkVpcoutSubnet1EIP\w+>, <DispatchNetworkVpcoutSubnet2EIP\w+>$/);
  });

  it('has its price printed', () => {
    const outputs = app.template.toJSON()['Outputs'] as Record<string, { Value: string }>;
    expect(Object.values(outputs).map((one) => text(one.Value))).toContainEqual(
      expect.stringContaining('about $33 a month for 1 NAT gateway'),
    );
  });
});

describe('machine', () => {
  const [, machine] = app.of('AWS::StepFunctions::StateMachine')[0]!;
  const definition = text(machine.Properties.DefinitionString).replaceAll(
    /<DispatchFunctions\w+\.Arn>/g,
    (found) => `arn:aws:lambda:eu-west-1:111122223333:function:${nameOf(found.slice(1, -5))}`,
  );

  it('is the file that everything else runs, with nothing left to fill in', () => {
    expect(definition).not.toContain('${');
    expect(machine.Properties.DefinitionSubstitutions).toBeUndefined();
    const { isValid, errorsText } = validate(JSON.parse(definition));
    expect(isValid, errorsText('\n')).toBe(true);
  });

  it('invokes advance and park, unqualified, under the number that functions of this release know', () => {
    const { States } = JSON.parse(definition) as {
      States: Record<string, { Arguments?: { FunctionName?: string; Payload?: { machine: number } } }>;
    };
    const called = Object.entries(States).flatMap(([state, { Arguments: given }]) =>
      given?.FunctionName ? [[state, given.FunctionName, given.Payload?.machine]] : [],
    );
    expect(called).toEqual([
      ['Advance', 'arn:aws:lambda:eu-west-1:111122223333:function:advance', MACHINE],
      ['AwaitWake', 'arn:aws:lambda:eu-west-1:111122223333:function:park', MACHINE],
      ['AwaitAnswer', 'arn:aws:lambda:eu-west-1:111122223333:function:park', MACHINE],
    ]);
  });

  it('P2.6: logs everything but the data, since tokens are data', () => {
    expect(machine.Properties.LoggingConfiguration).toMatchObject({ IncludeExecutionData: false, Level: 'ALL' });
  });

  it('has the name by which functions know it', () => {
    expect(machine.Properties.StateMachineName).toBe('dispatch-k7m2-supervisor');
    expect(text(functions['advance']?.Properties.Environment.Variables.DISPATCH_MACHINE_ARN)).toMatch(
      /:stateMachine:dispatch-k7m2-supervisor$/,
    );
  });
});

describe('API', () => {
  const routesOf = (stack: typeof app): Readonly<Record<string, Resource>> =>
    Object.fromEntries(stack.of('AWS::ApiGatewayV2::Route').map(([, one]) => [one.Properties.RouteKey, one]));

  it('every route of the table is one of the gateway, and leads to the door that serves it', () => {
    const routes = routesOf(app);
    expect(Object.keys(routes).sort()).toEqual(ROUTES.map(routeKey).sort());
    for (const one of ROUTES) {
      const integration = app.resources[text(routes[routeKey(one)]?.Properties.Target).replace('integrations/', '').slice(1, -1)];
      expect(text(integration?.Properties.IntegrationUri), one.id).toBe(`<${idOf(doorOf(one.id))}.Arn>`);
      expect(integration?.Properties.PayloadFormatVersion).toBe('2.0');
    }
  });

  it('every operation of a door is a route', () => {
    expect(Object.values(DOORS).flat().sort()).toEqual(ROUTES.map((one) => one.id).sort());
  });

  it.each<[string, Raw, string]>([
    ['IAM unless told', least(), 'AWS_IAM'],
    [
      'tokens of the issuer that is named',
      least({ people: [], access: { kind: 'jwt', issuer: 'https://id.example.org', audience: ['dispatch'] } }),
      'JWT',
    ],
  ])('%s, but for what anyone may call and what takes an attempt’s token', (_, raw, type) => {
    const routes = routesOf(synthesise(raw).app);
    const open = ROUTES.filter((one) => routes[routeKey(one)]?.Properties.AuthorizationType === 'NONE').map(routeKey);
    expect(open).toEqual(['POST /jobs/{job}/checkpoints', 'GET /openapi.json', 'GET /health']);
    const closed = ROUTES.map(routeKey).filter((key) => !open.includes(key));
    expect(new Set(closed.map((key) => routes[key]?.Properties.AuthorizationType))).toEqual(new Set([type]));
  });

  it('tokens are for this deployment and of that issuer', () => {
    const raw = least({ people: [], access: { kind: 'jwt', issuer: 'https://id.example.org', audience: ['dispatch'] } });
    const [, authorizer] = synthesise(raw).app.of('AWS::ApiGatewayV2::Authorizer')[0]!;
    expect(authorizer.Properties).toMatchObject({
      AuthorizerType: 'JWT',
      JwtConfiguration: { Audience: ['dispatch'], Issuer: 'https://id.example.org' },
    });
    expect(authorizer.Properties.IdentitySource).toEqual(['$request.header.Authorization']);
  });

  it('what the gateway lets everybody through to, and what holds a function while its caller waits, has a low limit of its own', () => {
    const [, stage] = app.of('AWS::ApiGatewayV2::Stage')[0]!;
    expect(stage.Properties.DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 });
    expect(stage.Properties.RouteSettings).toEqual({
      'POST /jobs/{job}/checkpoints': { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 },
      'GET /openapi.json': { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 },
      'GET /health': { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 },
      'GET /jobs/{job}/events': { ThrottlingRateLimit: 10, ThrottlingBurstLimit: 20 },
    });
    // Of the account's 1,000, what all waiting callers together hold for 25 s each must leave room for supervisors.
    expect(10 * 25 + 20).toBeLessThan(300);
    // A stage that names a route which is not there yet cannot be made.
    expect(stage.DependsOn).toEqual(expect.arrayContaining(app.of('AWS::ApiGatewayV2::Route').map(([id]) => id)));
  });

  it('its log has neither headers nor queries, where tokens are', () => {
    const [, stage] = app.of('AWS::ApiGatewayV2::Stage')[0]!;
    expect(stage.Properties.AccessLogSettings.Format).not.toMatch(/header|querystring|authorization/i);
  });

  it('the gateway may invoke each door for its own routes, and nobody else may', () => {
    const permissions = app.of('AWS::Lambda::Permission').map(([, one]) => one.Properties);
    const gateway = permissions.filter((one) => one.Principal === 'apigateway.amazonaws.com');
    expect(gateway).toHaveLength(ROUTES.length);
    for (const one of gateway)
      expect(text(one.SourceArn)).toMatch(/^arn:aws:execute-api:<AWS::Region>:<AWS::AccountId>:<DispatchApiHttp\w+>\/\*\/\*\/[\w/{}*.-]+$/);
    const others = permissions.filter((one) => one.Principal !== 'apigateway.amazonaws.com');
    expect(others.map((one) => [one.Principal, nameOf(text(one.FunctionName).replace(/^<|\.Arn>$/g, ''))])).toEqual([
      ['events.amazonaws.com', 'reconcile'],
      ['events.amazonaws.com', 'preflight'],
    ]);
    for (const one of others) expect(text(one.SourceArn)).toMatch(/^<DispatchNotify\w+\.Arn>$/);
  });
});

describe('schedules', () => {
  const schedules = app.of('AWS::Scheduler::Schedule').map(([, one]) => one.Properties);

  it('one per cluster and login, and one for reconcile', () => {
    const inputs = schedules.map((one) => [
      one.ScheduleExpression,
      nameOf(text(one.Target.Arn).replace(/^<|\.Arn>$/g, '')),
      JSON.parse(one.Target.Input),
    ]);
    expect(inputs).toEqual([
      ['rate(1 minute)', 'poll', { cluster: 'hpc', login: 'research', scheduledAt: '<aws.scheduler.scheduled-time>' }],
      ['rate(1 minute)', 'poll', { cluster: 'hpc', login: 'platform', scheduledAt: '<aws.scheduler.scheduled-time>' }],
      ['rate(5 minutes)', 'reconcile', {}],
    ]);
  });

  it('are understood by the functions that they invoke', () => {
    for (const { Target } of schedules) {
      const filled = JSON.parse(String(Target.Input).replace('<aws.scheduler.scheduled-time>', '2026-11-30T00:05:00Z')) as unknown;
      if (text(Target.Arn).includes('poll')) expect(pollAsked(filled, () => 1)).toMatchObject({ cluster: 'hpc' });
      else expect(reconcileAsked(filled)).toEqual({});
    }
  });

  it('never retry, never wait, and keep what they could not deliver', () => {
    for (const one of schedules) {
      expect(one.FlexibleTimeWindow).toEqual({ Mode: 'OFF' });
      expect(one.Target.RetryPolicy).toEqual({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
      expect(text(one.Target.DeadLetterConfig.Arn)).toMatch(/^<DispatchDeadLetters/);
    }
  });

  it.each([
    [60, 'rate(1 minute)'],
    [10, 'rate(1 minute)'],
    [90, 'rate(2 minutes)'],
    [3600, 'rate(60 minutes)'],
  ])('a poll every %i s is %s', (pollEverySeconds, expected) => {
    const [cluster] = least()['clusters'] as Raw[];
    const { app: other } = synthesise(least({ clusters: [{ ...cluster, pollEverySeconds }] }));
    expect(other.of('AWS::Scheduler::Schedule')[0]![1].Properties.ScheduleExpression).toBe(expected);
  });
});

describe('bus, rules and topics', () => {
  const rules = app.of('AWS::Events::Rule').map(([id, one]) => [id.replace(/^DispatchNotify|[0-9A-F]{8}$/g, ''), one] as const);
  const bySource = (source: string) => rules.filter(([, one]) => one.Properties.EventPattern.source[0] === source);

  it('a supervisor that ends badly is seen on the account’s own bus', () => {
    const [[, rule]] = bySource('aws.states') as [(typeof rules)[number]];
    expect(rule.Properties.EventBusName).toBeUndefined();
    expect(rule.Properties.EventPattern).toMatchObject({
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
    });
    expect(rule.Properties.EventPattern.detail.stateMachineArn.map(text)).toEqual([
      expect.stringMatching(/:stateMachine:dispatch-k7m2-supervisor$/),
    ]);
  });

  it('`notify` makes a rule each, and a topic per name', () => {
    const notices = bySource('dispatch').filter(([id]) => id.startsWith('Notice'));
    expect(notices.map(([, one]) => one.Properties.EventPattern['detail-type'])).toEqual([
      ['dispatch.escalation.raised', 'dispatch.escalation.reissued'],
      ['dispatch.cluster.unreachable', 'dispatch.supervisor.failing'],
    ]);
    expect(app.of('AWS::SNS::Topic').map(([, one]) => one.Properties.DisplayName)).toEqual([
      'dispatch k7m2: questions',
      'dispatch k7m2: operations',
    ]);
    expect(app.of('AWS::SNS::Subscription').map(([, one]) => [one.Properties.Protocol, one.Properties.Endpoint])).toEqual([
      ['email', 'oncall@example.org'],
    ]);
    for (const [, one] of notices) expect(text(one.Properties.EventBusName)).toMatch(/^<DispatchBus[0-9A-F]{8}>$/);
  });

  it('every notice that there is may be asked for', () => {
    const { app: all } = synthesise(least({ notify: [{ on: NOTICE_TYPES, sns: 'all' }] }));
    const [, rule] = all.of('AWS::Events::Rule').find(([id]) => id.includes('Notice'))!;
    expect(rule.Properties.EventPattern['detail-type']).toEqual(NOTICE_TYPES);
  });

  it('taking one out of the file changes no other', () => {
    const both = [
      { on: 'dispatch.attempt.ended', sns: 'a' },
      { on: 'dispatch.job.state_changed', sns: 'b' },
    ];
    const ids = (notify: unknown[]) =>
      synthesise(least({ notify }))
        .app.of('AWS::Events::Rule')
        .map(([id]) => id)
        .filter((id) => id.includes('Notice'));
    expect(ids(both)).toContain(ids(both.slice(1))[0]);
  });

  it('a topic that exists is used as it is', () => {
    const arn = 'arn:aws:sns:eu-west-1:111122223333:pager';
    const { app: paged } = synthesise(least({ notify: [{ on: 'dispatch.attempt.ended', sns: arn }] }));
    expect(paged.of('AWS::SNS::Topic')).toEqual([]);
    const [, rule] = paged.of('AWS::Events::Rule').find(([id]) => id.includes('Notice'))!;
    expect(rule.Properties.Targets.map((one: { Arn: unknown }) => text(one.Arn))).toEqual([arn]);
  });

  it('publishes under a role: EventBridge gives a topic’s policy nothing to tell its rules by, so with a condition there nothing would arrive', () => {
    const notices = bySource('dispatch').filter(([id]) => id.startsWith('Notice'));
    for (const [, one] of notices)
      for (const target of one.Properties.Targets) expect(text(target.RoleArn)).toMatch(/^<DispatchNotifyPublishes\w+\.Arn>$/);
    // Targets that are functions are invoked by leave of their own policy.
    for (const [id, one] of rules.filter(([id]) => !id.startsWith('Notice'))) expect(one.Properties.Targets[0].RoleArn, id).toBeUndefined();
    const said = app.of('AWS::SNS::TopicPolicy').map(([, one]) => JSON.stringify(one.Properties));
    expect(said.filter((one) => one.includes('events.amazonaws.com'))).toEqual([]);
  });

  it('every rule keeps what it cannot deliver', () => {
    for (const [id, one] of rules)
      for (const target of one.Properties.Targets)
        expect(text(target.DeadLetterConfig.Arn), id).toMatch(/^<Dispatch(DeadLetters|UndeliveredNotices)/);
  });
});

describe('what others may do to what is ours', () => {
  const statements = (type: string) =>
    app.of(type).flatMap(([, one]) =>
      (one.Properties.PolicyDocument.Statement as Record<string, unknown>[]).map((said) => ({
        effect: said['Effect'],
        action: said['Action'],
        who: JSON.stringify(said['Principal']),
        condition: JSON.stringify(said['Condition']),
      })),
    );

  it.each([
    ['AWS::SNS::TopicPolicy', 'sns:Publish', /"cloudwatch\.amazonaws\.com"/],
    ['AWS::SQS::QueuePolicy', 'sqs:SendMessage', /"events\.amazonaws\.com"/],
  ])('%s: services alone, on behalf of ours alone, and nothing in the clear', (type, action, who) => {
    const said = statements(type);
    expect(said.length).toBeGreaterThan(0);
    for (const one of said) {
      if (one.effect === 'Deny') expect(one.condition).toBe('{"Bool":{"aws:SecureTransport":"false"}}');
      else {
        expect(one.action).toBe(action);
        expect(one.who).toMatch(who);
        expect(one.condition).toContain('aws:SourceArn');
      }
    }
    expect(said.filter((one) => one.effect === 'Deny').length).toBeGreaterThan(0);
  });
});
