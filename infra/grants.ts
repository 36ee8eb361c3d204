/**
 * Grants: what each function may do, exactly: actions by name on resources by name. Pure data and pure functions; a test lists every
 * statement of every role, and a change here is a change there.
 * Guards least privilege: who only reads a list cannot write, who never connects to a cluster has no key, nobody may scan the table.
 */
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CONNECTING, type FunctionName } from '../lib/aws/doors.ts';
import { variablesOf } from '../lib/aws/environment.ts';
import { EVENT_SOURCE } from '../lib/aws/invocations.ts';
import { type Deployment, keySecrets, programSecrets } from './deployment.ts';
import type { TableNames } from './state-stack.ts';

type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';

interface TableAccess {
  readonly actions: readonly TableAction[];
  /** Which lists it asks for. */
  readonly indexes: readonly string[];
}

const WRITES = ['PutItem', 'UpdateItem'] as const;
/** Connections are counted and take slots, which are given back by deletion; a probe asks what the active jobs rely on. */
const CONNECTS = { actions: ['GetItem', 'Query', ...WRITES, 'DeleteItem'], indexes: ['active'] } as const;

/** Of each function that knows the table. Every one reads logs (Query) and items (GetItem), all consistently. */
export const TABLE_ACCESS: Readonly<Record<Exclude<FunctionName, 'document'>, TableAccess>> = {
  submit: { ...CONNECTS, indexes: ['active', 'unendedIn'] },
  plan: CONNECTS,
  publish: { actions: ['GetItem', 'Query', ...WRITES], indexes: [] },
  jobs: { actions: ['GetItem', 'BatchGetItem', 'Query', ...WRITES], indexes: ['listed', 'project', 'cluster', 'state', 'asked'] },
  output: { ...CONNECTS, indexes: [] },
  // A cluster's record has no head: it is only appended to.
  clusters: { actions: ['GetItem', 'Query', 'PutItem'], indexes: [] },
  advance: CONNECTS,
  // Stores a token on what is there, and makes nothing.
  park: { actions: ['GetItem', 'Query', 'UpdateItem'], indexes: [] },
  poll: { ...CONNECTS, indexes: ['active', 'owed', 'unsent'] },
  reconcile: { actions: ['GetItem', 'BatchGetItem', 'Query', ...WRITES, 'DeleteItem'], indexes: ['unended', 'owed', 'unsent'] },
  preflight: CONNECTS,
};

/** Who starts executions; the machine itself continues as new under its own role. */
export const STARTS: readonly FunctionName[] = ['submit', 'reconcile'];
/** Who lists publications in buckets. Nobody here writes one: runs do, with credentials of their own. */
export const LISTS_BUCKETS: readonly FunctionName[] = ['output', 'advance', 'poll'];
/** Who removes saves that nobody needs, when a person asks for it. */
export const COLLECTS: readonly FunctionName[] = ['output'];

/** Whose: keys of logins, for whoever connects; programs' secrets, for who launches them. */
export type SecretsOf = 'keys' | 'programs';
export const READS_SECRETS: Readonly<Record<SecretsOf, readonly FunctionName[]>> = { keys: CONNECTING, programs: ['advance'] };
export const secretsOf = (one: SecretsOf, deployment: Deployment): readonly string[] =>
  one === 'keys' ? keySecrets(deployment) : programSecrets(deployment);

export interface Granting {
  readonly deployment: Deployment;
  readonly record: TableNames;
  readonly machineArn: string;
  readonly busArn: string;
  readonly logGroupArn: string;
  /** Where what could not be handled goes; only of functions that are invoked without anybody waiting. */
  readonly deadLetterArn?: string;
  /** `arn:…:secret:name-??????` of a secret's name: six characters of its own end every secret's ARN. */
  readonly secretArn: (name: string) => string;
  /** Which secrets stand in policies apart (booksOf), since a role's own holds only so many. */
  readonly apart?: readonly SecretsOf[];
  readonly bucketArn: (bucket: string) => string;
}

const allow = (actions: readonly string[], resources: readonly string[], more: { readonly conditions?: Record<string, unknown> } = {}) =>
  new PolicyStatement({ actions: [...actions], resources: [...resources], ...more });

/** Every statement of one function's role. */
export const statementsOf = (one: FunctionName, granting: Granting): readonly PolicyStatement[] => {
  const { logGroupArn, deadLetterArn, deployment } = granting;
  const { required } = variablesOf(one);
  const connects = CONNECTING.includes(one);
  return [
    // The streams of its own group; the part behind the group's name is the stream's, which the platform names.
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [`${logGroupArn}:log-stream:*`]),
    ...(one === 'document' ? [] : tableStatements(TABLE_ACCESS[one], granting.record)),
    ...(required.includes('DISPATCH_MACHINE_ARN') ? [allow(['states:SendTaskSuccess'], [granting.machineArn])] : []),
    ...(STARTS.includes(one) ? [allow(['states:StartExecution'], [granting.machineArn])] : []),
    ...(required.includes('DISPATCH_BUS')
      ? [allow(['events:PutEvents'], [granting.busArn], { conditions: { StringEquals: { 'events:source': EVENT_SOURCE } } })]
      : []),
    ...secretStatements(one, granting),
    ...bucketStatements(one, granting),
    ...(deadLetterArn === undefined ? [] : [allow(['sqs:SendMessage'], [deadLetterArn])]),
    ...(connects && deployment.network ? network() : []),
    ...(deployment.tracing ? [tracing()] : []),
  ];
};

const tableStatements = ({ actions, indexes }: TableAccess, { tableArn }: TableNames): readonly PolicyStatement[] => [
  allow(
    actions.map((action) => `dynamodb:${action}`),
    [tableArn],
  ),
  ...(indexes.length === 0
    ? []
    : [
        allow(
          ['dynamodb:Query'],
          indexes.map((index) => `${tableArn}/index/${index}`),
        ),
      ]),
];

const secretStatements = (one: FunctionName, { deployment, secretArn, apart = [] }: Granting): readonly PolicyStatement[] => {
  const names = [
    ...(['keys', 'programs'] as const).flatMap((kind) =>
      READS_SECRETS[kind].includes(one) && !apart.includes(kind) ? secretsOf(kind, deployment) : [],
    ),
    ...(variablesOf(one).required.includes('DISPATCH_TOKEN_KEYS') ? [deployment.tokenKeysSecret] : []),
  ];
  return names.length === 0 ? [] : [readsSecrets([...new Set(names)].sort().map(secretArn))];
};

export const readsSecrets = (arns: readonly string[]): PolicyStatement => allow(['secretsmanager:GetSecretValue'], arns);

const bucketStatements = (one: FunctionName, { deployment, bucketArn }: Granting): readonly PolicyStatement[] => {
  if (!LISTS_BUCKETS.includes(one)) return [];
  const buckets = deployment.clusters.flatMap((cluster) => (cluster.kind === 'slurm' ? Object.entries(cluster.buckets) : []));
  const roles = [...new Set(buckets.flatMap(([, { role }]) => role ?? []))].sort();
  // A store of its own kind knows nothing of this account's roles; a bucket with a role is reached as that role.
  const own = [
    ...new Set(buckets.flatMap(([name, { role, endpoint }]) => (role === undefined && endpoint === undefined ? name : []))),
  ].sort();
  return [
    ...(roles.length === 0 ? [] : [allow(['sts:AssumeRole'], roles)]),
    ...(own.length === 0 ? [] : [allow(['s3:ListBucket'], own.map(bucketArn))]),
    ...(own.length === 0 || !COLLECTS.includes(one)
      ? []
      : [
          allow(
            ['s3:DeleteObject'],
            own.map((bucket) => `${bucketArn(bucket)}/*`),
          ),
        ]),
  ];
};

/** The platform makes a function's network interfaces before they exist, under the function's role. */
const INTERFACES = [
  ...['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface', 'ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'],
  ...['ec2:AssignPrivateIpAddresses', 'ec2:UnassignPrivateIpAddresses'],
];
const network = (): readonly PolicyStatement[] => [
  allow(INTERFACES, ['*']),
  // For the platform alone: what the function's own code asks for names the function, and is refused.
  new PolicyStatement({
    effect: Effect.DENY,
    actions: INTERFACES,
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  }),
];
/** Segments belong to no resource. */
export const tracing = () => allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*']);
