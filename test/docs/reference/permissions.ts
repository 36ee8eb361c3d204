/**
 * Who may do what, as docs/security.md prints it: the scopes of callers from the table of routes, what each function may do from the very
 * statements of its role. An action that has no words here fails, so nothing is granted that the page does not tell.
 */
import { Effect } from 'aws-cdk-lib/aws-iam';
import { type Granting, statementsOf } from '../../../infra/grants.ts';
import { ROUTES } from '../../../lib/api/routes.ts';
import { SCOPES, type Scope } from '../../../lib/app/principal.ts';
import { DOORS, FUNCTION_NAMES, type FunctionName, type WorkerName } from '../../../lib/aws/doors.ts';
import { deploymentOf, example, least, type Raw, synthesise, text } from '../../infra/world.ts';
import { code, codes, table } from './markdown.ts';

const SCOPE_SAYS: Readonly<Record<Scope, string>> = {
  read: 'sees the jobs of its projects, their output and saves; every cluster with all its logins, and its questions',
  submit: 'runs programs under every login that allows it, with every secret that allows it',
  cancel: 'ends jobs of its projects, and removes saves of theirs that nothing needs',
  answer: 'decides questions of jobs of its projects. An answer may end a job, relaunch it, or cancel it: it needs no `cancel` for that',
  operate: 'every project, with the other scopes that it has; and what is done to clusters',
};

export const scopes = (): string =>
  table(
    ['scope', 'operations', 'what it comes to'],
    SCOPES.map((scope) => [code(scope), codes(ROUTES.filter(({ access }) => access === scope).map(({ id }) => id)), SCOPE_SAYS[scope]]),
  );

/** Routes with a limit of requests of their own. */
export const limitedRoutes = (): string => {
  const [stage] = synthesise(least()).app.of('AWS::ApiGatewayV2::Stage');
  const limits = stage![1].Properties.RouteSettings as Record<string, { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }>;
  return table(
    ['route', 'a second, at once', 'for'],
    ROUTES.flatMap(({ method, path, access }) => {
      const key = `${method.toUpperCase()} ${path}`;
      const limit = limits[key];
      if (!limit) return [];
      const who =
        access === 'attempt'
          ? 'who has the token of an attempt of that job'
          : access === 'anyone'
            ? 'anybody'
            : `callers with ${code(access)}`;
      return [[code(key), `${limit.ThrottlingRateLimit}, ${limit.ThrottlingBurstLimit}`, who]];
    }),
  );
};

const CALLED_BY: Readonly<Record<WorkerName, string>> = {
  advance: 'the state machine',
  park: 'the state machine',
  poll: 'a schedule per cluster and login',
  reconcile: 'a schedule, and a rule on executions that ended badly',
  preflight: 'a rule on the bus',
};
const calledBy = (one: FunctionName): string => (one in DOORS ? 'the API' : CALLED_BY[one as WorkerName]);

const ROLE = 'arn:aws:iam::444455556666:role/checkpoints';
/** A deployment with everything in it that gives leave. */
const everything = (): Raw => {
  const raw = example();
  const [cluster] = raw['clusters'] as Raw[];
  return { ...raw, tracing: true, clusters: [{ ...cluster, buckets: { 'own-saves': {}, 'their-saves': { role: ROLE } } }] };
};

type Column = 'record' | 'elsewhere' | 'secrets' | 'buckets' | 'platform';
const ACTIONS: Readonly<Record<string, readonly [column: Column, says: string]>> = {
  'dynamodb:GetItem': ['record', 'reads'],
  'dynamodb:BatchGetItem': ['record', 'reads'],
  'dynamodb:Query': ['record', 'reads'],
  'dynamodb:PutItem': ['record', 'puts'],
  'dynamodb:UpdateItem': ['record', 'changes'],
  'dynamodb:DeleteItem': ['record', 'deletes'],
  'states:SendTaskSuccess': ['elsewhere', 'wakes supervisors'],
  'states:StartExecution': ['elsewhere', 'starts supervisors'],
  'events:PutEvents': ['elsewhere', 'puts events on the bus'],
  'secretsmanager:GetSecretValue': ['secrets', 'reads'],
  'sts:AssumeRole': ['buckets', 'assumes their roles'],
  's3:ListBucket': ['buckets', 'lists'],
  's3:DeleteObject': ['buckets', 'deletes'],
  // The same of every function that has them; told in the page's words.
  'logs:CreateLogStream': ['platform', 'log'],
  'logs:PutLogEvents': ['platform', 'log'],
  'sqs:SendMessage': ['platform', 'dead letters'],
  'xray:PutTraceSegments': ['platform', 'traces'],
  'xray:PutTelemetryRecords': ['platform', 'traces'],
  'ec2:CreateNetworkInterface': ['platform', 'network'],
  'ec2:DeleteNetworkInterface': ['platform', 'network'],
  'ec2:DescribeNetworkInterfaces': ['platform', 'network'],
  'ec2:DescribeSubnets': ['platform', 'network'],
  'ec2:AssignPrivateIpAddresses': ['platform', 'network'],
  'ec2:UnassignPrivateIpAddresses': ['platform', 'network'],
};

const SECRET_KINDS: readonly (readonly [RegExp, string])[] = [
  [/attempt-tokens/, 'keys of attempts’ tokens'],
  [/programs\//, 'secrets of programs'],
  [/hpc\//, 'keys of all logins and jump hosts'],
];

const grantingOf = (): Granting => ({
  deployment: deploymentOf(everything()),
  record: { tableName: 'table', tableArn: 'table' },
  machineArn: 'machine',
  busArn: 'bus',
  logGroupArn: 'log',
  deadLetterArn: 'letters',
  secretArn: (name) => `secret:${name}`,
  apart: [],
  bucketArn: (bucket) => `bucket:${bucket}`,
});

/** By column, what the statements of one role say. Throws for an action, or a secret, without words. */
const wordsOf = (one: FunctionName): Readonly<Record<Column, readonly string[]>> => {
  const said: Record<Column, Set<string>> = {
    ...{ record: new Set(), elsewhere: new Set(), secrets: new Set(), buckets: new Set(), platform: new Set() },
  };
  for (const { actions, resources, effect } of statementsOf(one, grantingOf())) {
    if (effect !== Effect.ALLOW) continue;
    for (const action of actions) {
      const known = ACTIONS[action];
      if (!known) throw new Error(`docs/security.md has no words for ${action}`);
      const [column, says] = known;
      if (column !== 'secrets') said[column].add(says);
    }
    for (const resource of resources.map(text).filter((each) => each.startsWith('secret:'))) {
      const kind = SECRET_KINDS.find(([form]) => form.test(resource));
      if (!kind) throw new Error(`docs/security.md has no words for ${resource}`);
      said.secrets.add(kind[1]);
    }
  }
  return Object.fromEntries(Object.entries(said).map(([column, all]) => [column, [...all]])) as unknown as Record<Column, string[]>;
};

const cell = (words: readonly string[]): string => (words.length === 0 ? '' : words.join(', '));

export const functions = (): string =>
  table(
    ['function', 'called by', 'record', 'secrets', 'buckets', 'and'],
    FUNCTION_NAMES.map((one) => {
      const { record, secrets, buckets, elsewhere } = wordsOf(one);
      return [code(one), calledBy(one), cell(record), cell(secrets), cell(buckets), cell(elsewhere)];
    }),
  );
