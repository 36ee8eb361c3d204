/**
 * Functions: the doors and workers of lib/aws/doors.ts as Lambda functions, each with a role of its own and exactly the variables that
 * it reads (lib/aws/environment.ts).
 *
 * The configuration of clusters travels as a file beside the code, not as a variable or a parameter: variables of a function end at 4 KB
 * and a parameter at 8 KB, while 64 clusters with their host keys need ten times that; a file has no such end, costs no call and no
 * permission at a cold start, and changes in the same deploy as the schedules that are made from it.
 */
import { join } from 'node:path';
import { ArnFormat, AssetHashType, DockerImage, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type AssetCode,
  CfnEventInvokeConfig,
  Code,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { CONNECTING, FUNCTION_NAMES, type FunctionName } from '../lib/aws/doors.ts';
import { type Variable, variablesOf } from '../lib/aws/environment.ts';
import { acknowledgeRole } from './acknowledged.ts';
import { bundleFunction, CLUSTERS_FILE, HANDLER, ROOT } from './bundle.ts';
import { type Deployment, digestOf } from './deployment.ts';
import { type Granting, READS_SECRETS, readsSecrets, type SecretsOf, secretsOf, statementsOf } from './grants.ts';
import { booksOf } from './limits.ts';
import type { Joined } from './network.ts';
import { ticksOf } from './ticks.ts';

interface Setting {
  readonly memoryMiB: number;
  /** What contract §13 promises. */
  readonly timeoutSeconds: number;
}

const DOOR: Setting = { memoryMiB: 512, timeoutSeconds: 29 };
export const SETTINGS: Readonly<Record<FunctionName, Setting>> = {
  ...{ submit: DOOR, plan: DOOR, publish: DOOR, jobs: DOOR, output: DOOR, clusters: DOOR, document: DOOR },
  advance: { memoryMiB: 512, timeoutSeconds: 150 },
  park: { memoryMiB: 512, timeoutSeconds: 10 },
  // Below its period of a minute, so that one has ended before the next begins.
  poll: { memoryMiB: 512, timeoutSeconds: 50 },
  // Below its period of five minutes, likewise.
  reconcile: { memoryMiB: 512, timeoutSeconds: 240 },
  preflight: { memoryMiB: 512, timeoutSeconds: 150 },
};

/** Invoked by schedules and rules, with nobody waiting. What is late or failed is worth nothing: the next tick does the same work. */
const UNATTENDED: readonly FunctionName[] = ['poll', 'reconcile', 'preflight'];
const EVENT_AGE_SECONDS = 60;

const KINDS: readonly SecretsOf[] = ['keys', 'programs'];

export interface FunctionsProps extends Omit<Granting, 'logGroupArn' | 'deadLetterArn' | 'apart'> {
  readonly busName: string;
  readonly deadLetterArn: string;
  /** Of functions that connect to clusters; undefined: outside any network. */
  readonly network: Joined | undefined;
}

export class Functions extends Construct {
  readonly all: Readonly<Record<FunctionName, LambdaFunction>>;

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    const books = new Map(KINDS.map((kind) => [kind, this.books(kind, props)] as const));
    const made = FUNCTION_NAMES.map((name) => [name, this.make(name, props, books)] as const);
    this.all = Object.fromEntries(made) as Record<FunctionName, LambdaFunction>;
  }

  /** Policies that the roles of several functions share: none of them could hold all of this itself. */
  private books(kind: SecretsOf, { deployment, secretArn }: FunctionsProps): readonly ManagedPolicy[] {
    return booksOf(secretsOf(kind, deployment)).map(
      (names, i) =>
        new ManagedPolicy(this, `${kind}${i + 1}`, {
          description: `dispatch ${deployment.tag}: reads secrets (${kind})`,
          document: new PolicyDocument({ statements: [readsSecrets(names.map(secretArn))], minimize: false }),
        }),
    );
  }

  private make(name: FunctionName, props: FunctionsProps, books: ReadonlyMap<SecretsOf, readonly ManagedPolicy[]>): LambdaFunction {
    const { deployment, network } = props;
    const { memoryMiB, timeoutSeconds } = SETTINGS[name];
    const scope = new Construct(this, name);
    const isUnattended = UNATTENDED.includes(name);
    const logGroup = new LogGroup(scope, 'Log', { retention: deployment.logDays, removalPolicy: RemovalPolicy.DESTROY });
    const { deadLetterArn, ...granting } = props;
    const statements = statementsOf(name, {
      ...{ ...granting, logGroupArn: groupArn(logGroup), apart: KINDS.filter((kind) => books.get(kind)?.length) },
      ...(isUnattended ? { deadLetterArn } : {}),
    });
    const role = new Role(scope, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `dispatch ${deployment.tag}: what ${name} may do`,
      inlinePolicies: { Does: new PolicyDocument({ statements: [...statements], minimize: false }) },
      managedPolicies: KINDS.flatMap((kind) => (READS_SECRETS[kind].includes(name) ? [...(books.get(kind) ?? [])] : [])),
    });
    acknowledgeRole(role, statements);
    const reserved = reservedOf(name, deployment);
    const made = new LambdaFunction(scope, 'Function', {
      description: `dispatch ${deployment.tag}: ${name}`,
      code: codeOf(name, deployment.clustersText),
      handler: HANDLER,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMiB,
      timeout: Duration.seconds(timeoutSeconds),
      environment: variables(name, props),
      // All that it may do stands in grants.ts: nothing is added on the way.
      role: role.withoutPolicyUpdates(),
      logGroup,
      tracing: deployment.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      ...(network && CONNECTING.includes(name)
        ? { vpc: network.vpc, vpcSubnets: network.subnets, securityGroups: [network.securityGroup] }
        : {}),
    });
    if (isUnattended)
      new CfnEventInvokeConfig(scope, 'Unattended', {
        functionName: made.functionName,
        qualifier: '$LATEST',
        maximumRetryAttempts: 0,
        maximumEventAgeInSeconds: EVENT_AGE_SECONDS,
        destinationConfig: { onFailure: { destination: deadLetterArn } },
      });
    return made;
  }
}

/** Without the `:*` that the attribute ends with. */
const groupArn = (group: LogGroup): string =>
  Stack.of(group).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: group.logGroupName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/**
 * Reserved only where it protects, since it takes from what the account's other functions may use:
 * poll, one for each schedule: however many calls the API has, a poll finds room, and without polls nothing is seen any more;
 * reconcile, one: when a thousand executions end badly at once, each end asks for a walk over every job, and one walk does for all.
 * All others have none: a machine's function that is throttled would only be tried again, and the API has its own limit of requests.
 */
export const reservedOf = (name: FunctionName, deployment: Deployment): number | undefined => {
  if (!deployment.reservedConcurrency) return undefined;
  if (name === 'reconcile') return 1;
  return name === 'poll' ? ticksOf(deployment).length : undefined;
};

/** Where the platform puts a function's code. */
const CODE_FOLDER = '/var/task';

const variables = (name: FunctionName, props: FunctionsProps): Record<string, string> => {
  const { deployment, record, machineArn, busName } = props;
  const known: Readonly<Record<Variable, string | undefined>> = {
    DISPATCH_TAG: deployment.tag,
    DISPATCH_CONFIG: `${CODE_FOLDER}/${CLUSTERS_FILE}`,
    DISPATCH_TABLE: record.tableName,
    DISPATCH_BUS: busName,
    DISPATCH_MACHINE_ARN: machineArn,
    DISPATCH_TOKEN_KEYS: deployment.tokenKeysSecret,
    DISPATCH_CALLERS: deployment.access.kind === 'iam' ? JSON.stringify(deployment.people) : undefined,
    DISPATCH_MAX_ACTIVE_JOBS: deployment.maxActiveJobs?.toString(),
    DISPATCH_LOG_LEVEL: deployment.logLevel,
  };
  const { required, optional } = variablesOf(name);
  return Object.fromEntries([...required, ...optional].flatMap((one) => (known[one] === undefined ? [] : [[one, known[one]]])));
};

/** Bundled by esbuild in this process; the asset is known by the bytes that come out. */
const codeOf = (name: FunctionName, clusters: string): AssetCode =>
  Code.fromAsset(join(ROOT, 'functions'), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never used: what cannot be bundled here throws, and nothing is ever asked of a container.
      image: DockerImage.fromRegistry('none'),
      // Assets with the same words share one bundle; `local` is no word, so what it depends on is said here.
      command: [name, digestOf(clusters)],
      local: {
        tryBundle: (folder) => {
          bundleFunction(name, folder, clusters);
          return true;
        },
      },
    },
  });
