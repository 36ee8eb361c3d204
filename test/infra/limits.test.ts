/**
 * Deployments that nobody should make and somebody will: as large as the file allows, with names as long as it allows. Each is either
 * one that AWS takes, by its quotas, or refused in one line before anything is made.
 */
import { describe, expect, it } from 'vitest';
import { readDeployment } from '../../infra/deployment.ts';
import { booksOf, bytesOfSecrets, resourcesOf } from '../../infra/limits.ts';
import { deploymentOf, example, least, type Raw, type Resource, type Synthesised, synthesiseAnew, text } from './world.ts';

const long = (word: string, i: number, length: number): string => `${word}${i}`.padEnd(length, 'x');
const cluster = (c: number, logins: number, more: Raw = {}): Raw => ({
  ...{ id: long('c', c, 31), kind: 'slurm', root: '/srv/dispatch' },
  transport: { type: 'ssh', host: `login${c}.example.org`, port: 2200 + c, hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
  logins: Array.from({ length: logins }, (_, l) => ({
    ...{ id: long('l', l, 31), user: 'svc' },
    privateKeySecret: `dispatch/${long('c', c, 31)}/${long('l', l, 31)}`,
  })),
  ...more,
});
const clusters = (count: number, logins: number): readonly Raw[] => Array.from({ length: count }, (_, c) => cluster(c, logins));
const topics = (count: number): readonly Raw[] =>
  Array.from({ length: count }, (_, i) => ({ on: ['dispatch.job.state_changed', 'dispatch.attempt.ended'], sns: long('t', i, 80) }));
const JWT = { people: [], access: { kind: 'jwt', issuer: 'https://id.example.org/', audience: ['dispatch'] } };
const ARN = 'arn:aws:secretsmanager:ap-southeast-1:111122223333:secret:';
const programs = Object.fromEntries(
  Array.from({ length: 64 }, (_, i) => [`p${i}`, { secretId: `${ARN}${long('programs/', i, 60)}-AbCdEf` }]),
);

const DEPLOYMENTS: readonly (readonly [string, Raw])[] = [
  ['one cluster, nobody told', least()],
  ['the example', example()],
  ['tokens instead of IAM', least(JWT)],
  [
    'fifty clusters with five logins each, behind gateways',
    least({ clusters: clusters(50, 5), notify: topics(5), network: { natGateways: 2 } }),
  ],
  [
    'fifty notices to a topic each, names as long as they may be',
    least({ name: 'd'.repeat(20), notify: topics(50), alarms: { sns: 'x'.repeat(80) } }),
  ],
  ['a hundred logins of one alarm each', least({ clusters: clusters(20, 5), notify: topics(10) })],
  ['as many keys and programs’ secrets as logins', least({ clusters: clusters(20, 5), secrets: programs, table: 't'.repeat(255) })],
  [
    'every setting that gives leave, in a network that exists',
    least({
      ...{
        tracing: true,
        clusters: [cluster(1, 14, { buckets: Object.fromEntries(Array.from({ length: 18 }, (_, i) => [long('b', i, 63), {}])) })],
      },
      network: { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['eu-west-1a'], subnetIds: ['subnet-01234567'] },
      table: 't'.repeat(255),
    }),
  ],
];

/** As AWS sees it: what is filled in is as long as it may be. */
const filled = (value: unknown): string =>
  text(value)
    .replaceAll('<AWS::Region>', 'ap-southeast-1')
    .replaceAll('<AWS::AccountId>', '111122223333')
    .replaceAll(/<[^<>]*:TableArn>/g, `arn:aws:dynamodb:ap-southeast-1:111122223333:table/${'t'.repeat(80)}`)
    .replaceAll(/<[^<>]+\.Arn>/g, 'a'.repeat(170))
    .replaceAll(/<[^<>]+>/g, 'a'.repeat(100));
const policyBytes = (document: { readonly Statement: readonly Record<string, unknown>[] }): number =>
  JSON.stringify({
    ...document,
    Statement: document.Statement.map((one) => ({ ...one, Resource: ([] as unknown[]).concat(one['Resource']).map(filled) })),
  }).length;
const properties = (app: Synthesised, type: string): readonly Resource['Properties'][] => app.of(type).map(([, one]) => one.Properties);

describe.each(DEPLOYMENTS)('%s', (_, raw) => {
  const { app, state } = synthesiseAnew(raw);

  it('CloudFormation: at most 500 resources, 200 outputs and a megabyte, and no less room than was counted', () => {
    const count = Object.keys(app.resources).length;
    expect(count).toBeLessThanOrEqual(500);
    expect(Object.keys(app.template.toJSON()['Outputs'] as object).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(app.template.toJSON(), undefined, 1).length).toBeLessThan(1_000_000);
    const deployment = deploymentOf(raw);
    const counted = resourcesOf({ ...deployment, keys: [], programs: [] });
    const apart = app.of('AWS::IAM::ManagedPolicy').length;
    expect(counted + apart).toBeGreaterThanOrEqual(count);
    // A count that is too careful refuses what would stand.
    expect(counted + apart - count).toBeLessThan(5 + (deployment.notify.length > 0 ? 2 : 0));
    expect(Object.keys(state.resources)).toHaveLength(1);
  });

  it('IAM: what stands in a role is below 10,240 bytes, a policy apart below 6,144, and ten of these at most', () => {
    for (const { Policies = [], ManagedPolicyArns = [] } of properties(app, 'AWS::IAM::Role')) {
      const bytes = (Policies as { PolicyDocument: never }[]).reduce((sum, one) => sum + policyBytes(one.PolicyDocument), 0);
      expect(bytes).toBeLessThan(10_240);
      expect(ManagedPolicyArns.length).toBeLessThanOrEqual(10);
    }
    for (const { PolicyDocument } of properties(app, 'AWS::IAM::ManagedPolicy')) expect(policyBytes(PolicyDocument)).toBeLessThan(6144);
  });

  it('SQS: a queue’s policy is below 8,192 bytes and has ten conditions at most', () => {
    for (const { PolicyDocument } of properties(app, 'AWS::SQS::QueuePolicy')) {
      expect(policyBytes(PolicyDocument)).toBeLessThan(8192);
      expect(PolicyDocument.Statement.length).toBeLessThanOrEqual(10);
    }
  });

  it('CloudWatch: an alarm looks at ten metrics, a widget shows 100 alarms and 500 metrics, all of them 2,500', () => {
    for (const { Metrics = [], AlarmDescription } of properties(app, 'AWS::CloudWatch::Alarm')) {
      expect(Metrics.filter((one: { MetricStat?: unknown }) => one.MetricStat).length).toBeLessThanOrEqual(10);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
    const [board] = properties(app, 'AWS::CloudWatch::Dashboard');
    const { widgets } = JSON.parse(text(board.DashboardBody)) as {
      widgets: { properties: { alarms?: unknown[]; metrics?: unknown[] } }[];
    };
    const shown = widgets.flatMap(({ properties: { alarms } }) => alarms ?? []);
    expect(shown).toHaveLength(app.of('AWS::CloudWatch::Alarm').length);
    for (const { properties: given } of widgets) {
      expect(given.alarms?.length ?? 0).toBeLessThanOrEqual(100);
      expect(given.metrics?.length ?? 0).toBeLessThanOrEqual(500);
    }
    expect(widgets.reduce((sum, { properties: { metrics } }) => sum + (metrics?.length ?? 0), 0)).toBeLessThanOrEqual(2500);
  });

  it('every cluster and login is looked after by exactly one alarm', () => {
    const looked = properties(app, 'AWS::CloudWatch::Alarm').flatMap(({ Metrics = [] }) =>
      Metrics.flatMap(
        ({ MetricStat }: { MetricStat?: { Metric: { MetricName: string; Dimensions: { Name: string; Value: string }[] } } }) => {
          if (MetricStat?.Metric.MetricName !== 'PollHeartbeat') return [];
          const named = Object.fromEntries(MetricStat.Metric.Dimensions.map(({ Name, Value }) => [Name, Value]));
          return [`${named['cluster']} ${named['login']}`];
        },
      ),
    );
    const polled = properties(app, 'AWS::Scheduler::Schedule').flatMap(({ Target }) => {
      const { cluster: id, login } = JSON.parse(Target.Input) as { cluster?: string; login?: string };
      return id === undefined ? [] : [`${id} ${login}`];
    });
    expect([...looked].sort()).toEqual([...polled].sort());
  });

  it('names are no longer than their services take', () => {
    for (const [type, key, most] of [
      ['AWS::StepFunctions::StateMachine', 'StateMachineName', 80],
      ['AWS::Scheduler::ScheduleGroup', 'Name', 64],
      ['AWS::Events::EventBus', 'Name', 256],
      ['AWS::Events::Rule', 'Description', 512],
      ['AWS::SNS::Topic', 'DisplayName', 100],
      ['AWS::Lambda::Function', 'Description', 256],
      ['AWS::Scheduler::Schedule', 'Description', 512],
      ['AWS::EC2::SecurityGroup', 'GroupDescription', 255],
    ] as const)
      for (const one of properties(app, type)) expect(String(one[key]).length, `${type}.${key}`).toBeLessThanOrEqual(most);
    for (const id of Object.keys(app.resources)) expect(id.length).toBeLessThanOrEqual(255);
  });

  it('EC2: a security group lets out by 60 rules at most', () => {
    for (const { SecurityGroupEgress = [] } of properties(app, 'AWS::EC2::SecurityGroup'))
      expect(SecurityGroupEgress.length).toBeLessThanOrEqual(60);
  });
});

describe('what is too much is refused in one line', () => {
  const says = (raw: Raw): string => {
    const read = readDeployment(JSON.stringify(raw));
    return read.ok ? 'accepted' : read.says;
  };
  const wide = (c: number): Raw =>
    cluster(c, 1, { buckets: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${long('b', i, 40)}${c}`, {}])) });

  it.each<[string, Raw, string]>([
    ['more logins than a stack can poll', least({ clusters: clusters(64, 6) }), 'clusters, notify: make '],
    ['fifty topics beside 250 logins', least({ clusters: clusters(50, 5), notify: topics(50) }), 'clusters, notify: make '],
    [
      'more secrets than roles can be granted',
      least({
        clusters: clusters(2, 1),
        secrets: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { secretId: long('programs/', i, 400) }])),
      }),
      'clusters, secrets: name more secrets than a role can be granted',
    ],
    [
      'more buckets than roles can be granted',
      least({ clusters: [wide(1), wide(2)] }),
      'clusters: their buckets and roles of buckets are more',
    ],
    [
      'more ports than a network lets out to',
      least({ clusters: clusters(64, 1), network: { natGateways: 1 } }),
      'clusters: are behind 65 different ports',
    ],
  ])('%s', (_, raw, expected) => {
    expect(says(raw)).toMatch(new RegExp(`^${expected}`));
    expect(says(raw)).not.toMatch(/\n/);
    expect(says(raw).length).toBeLessThan(300);
  });

  it('callers are weighed as Lambda weighs variables: with their quotes escaped', () => {
    const people = Array.from({ length: 9 }, (_, i) => ({
      ...{ arn: `arn:aws:iam::111122223333:role/r${i}`, scopes: ['read'] },
      groups: Array.from({ length: 44 }, (_, g) => `${g}`),
    }));
    expect(JSON.stringify(people).length).toBeLessThan(2800);
    expect(says(least({ people }))).toMatch(/^people: \d+ bytes are more than the 3200 that fit/);
  });
});

describe('secrets apart', () => {
  const names = Array.from({ length: 250 }, (_, i) => long('dispatch/', i, 72));

  it('few stand in the roles themselves', () => {
    expect(booksOf(names.slice(0, 10))).toEqual([]);
  });

  it('many are divided, none is lost and none is twice', () => {
    const books = booksOf(names);
    expect(books.length).toBeGreaterThan(1);
    expect(books.flat()).toEqual(names);
    for (const book of books) expect(bytesOfSecrets(book)).toBeLessThan(5900);
  });

  it('every function that connects may read every key, and nobody else any', () => {
    const { app } = synthesiseAnew(least({ clusters: clusters(20, 5), secrets: programs }));
    const readers = (kind: string) =>
      app
        .of('AWS::IAM::Role')
        .filter(([, one]) => (one.Properties.ManagedPolicyArns ?? []).some((arn: unknown) => text(arn).includes(`Functions${kind}`)))
        .map(([id]) => id.replace(/^DispatchFunctions|Role[0-9A-F]{8}$/g, ''));
    expect(readers('keys').sort()).toEqual(['advance', 'output', 'plan', 'poll', 'preflight', 'submit']);
    expect(readers('programs')).toEqual(['advance']);
    const granted = properties(app, 'AWS::IAM::ManagedPolicy').flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement[0].Resource.map(text),
    );
    expect(new Set(granted).size).toBe(100 + 64);
  });
});
