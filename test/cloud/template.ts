/**
 * Template: what would be deployed, read back from the synthesised stacks and nothing else: each function's code, environment and role,
 * the machine, the schedules, the rules, the routes. Names that CloudFormation would fill in are made up here, consistently.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readDeployment } from '../../infra/deployment.ts';
import { makeStacks } from '../../infra/stacks.ts';
import { type Statement, statementOf } from './policy.ts';

/** As the local engine names its machines. */
export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

export interface DeployedFunction {
  /** Of its logical id in the template: that of functions/. */
  readonly name: string;
  readonly arn: string;
  /** Where its code lies. */
  readonly folder: string;
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMiB: number;
  readonly role: readonly Statement[];
}

export interface Cloud {
  readonly functions: readonly DeployedFunction[];
  readonly table: string;
  readonly bus: string;
  readonly machine: { readonly name: string; readonly arn: string; readonly definition: string; readonly role: readonly Statement[] };
  readonly schedules: readonly {
    readonly everyMinutes: number;
    readonly target: string;
    readonly input: string;
    readonly role: readonly Statement[];
  }[];
  readonly rules: readonly {
    readonly bus: string;
    readonly pattern: Readonly<Record<string, unknown>>;
    readonly targets: readonly string[];
  }[];
  readonly routes: readonly { readonly method: string; readonly path: string; readonly authorization: string; readonly target: string }[];
}

type Json = Readonly<Record<string, unknown>>;
interface Resource {
  readonly Type: string;
  readonly Properties: Json;
}

/** Throws what the deployment's file refuses. `folder`: where the code goes. */
export const synthesise = (deployment: string, folder: string): Cloud => {
  const read = readDeployment(deployment);
  if (!read.ok) throw new Error(read.says);
  // Judged by the deployment's own tests; here it would only cost half a minute.
  process.env['CDK_VALIDATION'] = 'false';
  const app = new App({ outdir: folder });
  const stacks = makeStacks(app, read.deployment);
  app.synth();
  const load = (id: string) =>
    JSON.parse(readFileSync(join(folder, `${id}.template.json`), 'utf8')) as { Resources: Record<string, Resource> };
  return readCloud(load(stacks.app.artifactId), load(stacks.state.artifactId), folder);
};

const readCloud = (app: Loaded, state: Loaded, folder: string): Cloud => {
  const names = namesOf(app, state);
  const text = (value: unknown): string => textOf(value, names);
  const of = (type: string) => Object.entries(app.Resources).filter(([, one]) => one.Type === type);
  const roleOf = (arn: unknown): readonly Statement[] => {
    const role = of('AWS::IAM::Role').find(([id]) => names.arn(id) === text(arn));
    if (!role) throw new Error(`no role has the ARN ${text(arn)}`);
    const policies = (role[1].Properties['Policies'] ?? []) as { PolicyDocument: { Statement: Json[] } }[];
    const more = ['ManagedPolicyArns'].filter((key) => ((role[1].Properties[key] ?? []) as unknown[]).length > 0);
    if (more.length > 0 || of('AWS::IAM::Policy').length > 0) throw new Error('a role has policies that are not read here');
    return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map((one) => statementOf(filled(one, names) as Json)));
  };
  const [machine] = of('AWS::StepFunctions::StateMachine');
  const given = machine![1].Properties;
  return {
    functions: of('AWS::Lambda::Function').map(([id, { Properties: own }]) => ({
      name: /^dispatch \w+: (\w+)$/.exec(text(own['Description']))?.[1] ?? id,
      arn: names.arn(id),
      folder: join(folder, `asset.${text((own['Code'] as Json)['S3Key']).replace(/\.zip$/, '')}`),
      handler: text(own['Handler']),
      environment: filled((own['Environment'] as Json | undefined)?.['Variables'] ?? {}, names) as Record<string, string>,
      timeoutSeconds: Number(own['Timeout']),
      memoryMiB: Number(own['MemorySize']),
      role: roleOf(own['Role']),
    })),
    table: TABLE,
    bus: text(of('AWS::Events::EventBus')[0]![1].Properties['Name']),
    machine: {
      name: text(given['StateMachineName']),
      arn: names.arn(machine![0]),
      definition: text(given['DefinitionString']),
      role: roleOf(given['RoleArn']),
    },
    schedules: of('AWS::Scheduler::Schedule').map(([, { Properties: own }]) => {
      const target = own['Target'] as Json;
      const everyMinutes = Number(/^rate\((\d+) minutes?\)$/.exec(text(own['ScheduleExpression']))?.[1]);
      return { everyMinutes, target: text(target['Arn']), input: text(target['Input']), role: roleOf(target['RoleArn']) };
    }),
    rules: of('AWS::Events::Rule').map(([, { Properties: own }]) => ({
      bus: own['EventBusName'] === undefined ? 'default' : text(own['EventBusName']),
      pattern: filled(own['EventPattern'], names) as Json,
      targets: (own['Targets'] as Json[]).map((one) => text(one['Arn'])),
    })),
    routes: of('AWS::ApiGatewayV2::Route').map(([, { Properties: own }]) => {
      const [method = '', path = ''] = text(own['RouteKey']).split(' ');
      const integration = text(own['Target']).replace('integrations/', '');
      const uri = app.Resources[integration]!.Properties['IntegrationUri'];
      return { method, path, authorization: text(own['AuthorizationType']), target: text(uri) };
    }),
  };
};

interface Loaded {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } }>>;
}

const TABLE = 'dispatch-record';
const PSEUDO: Readonly<Record<string, string>> = {
  ...{ 'AWS::Partition': 'aws', 'AWS::Region': REGION, 'AWS::AccountId': ACCOUNT, 'AWS::URLSuffix': 'amazonaws.com' },
};

interface Names {
  readonly arn: (id: string) => string;
  readonly ref: (id: string) => string;
  readonly imported: (name: string) => string;
}

const namesOf = (app: Loaded, state: Loaded): Names => {
  const arnIn = (stack: Loaded, id: string): string => {
    const type = stack.Resources[id]?.Type ?? '';
    const at = (service: string, rest: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;
    switch (type) {
      case 'AWS::Lambda::Function':
        return at('lambda', `function:${id}`);
      case 'AWS::StepFunctions::StateMachine':
        return at('states', `stateMachine:${String(stack.Resources[id]!.Properties['StateMachineName'])}`);
      case 'AWS::DynamoDB::GlobalTable':
        return at('dynamodb', `table/${TABLE}`);
      case 'AWS::IAM::Role':
        return `arn:aws:iam::${ACCOUNT}:role/${id}`;
      default:
        return at(
          type
            .replace(/^AWS::/, '')
            .replaceAll('::', '-')
            .toLowerCase(),
          id,
        );
    }
  };
  const namesIn = (stack: Loaded): Names => {
    const names: Names = {
      arn: (id) => arnIn(stack, id),
      ref: (id) => {
        const one = stack.Resources[id];
        if (one?.Type === 'AWS::DynamoDB::GlobalTable') return TABLE;
        return one?.Type === 'AWS::Events::EventBus' ? String(one.Properties['Name']) : id;
      },
      imported: (name) => {
        const found = Object.values(state.Outputs ?? {}).find((one) => one.Export && textOf(one.Export.Name, inState) === name);
        if (!found) throw new Error(`nothing exports ${name}`);
        return textOf(found.Value, inState);
      },
    };
    return names;
  };
  const inState = namesIn(state);
  return namesIn(app);
};

/** With every name filled in; the shape stays. */
const filled = (value: unknown, names: Names): unknown => {
  if (Array.isArray(value)) return value.map((one) => filled(one, names));
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  const [key = ''] = keys;
  if (keys.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) return textOf(value, names);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, names)]));
};

const textOf = (value: unknown, names: Names): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[key, given] = ['', undefined]] = Object.entries(value) as [string, unknown][];
  switch (key) {
    case 'Ref':
      return PSEUDO[String(given)] ?? names.ref(String(given));
    case 'Fn::GetAtt': {
      const [id = '', attribute] = given as string[];
      if (attribute === 'Name') return names.ref(id);
      if (attribute !== 'Arn') throw new Error(`the attribute ${attribute} of ${id} is not made up here`);
      return names.arn(id);
    }
    case 'Fn::Join': {
      const [separator, parts] = given as [string, unknown[]];
      return parts.map((part) => textOf(part, names)).join(separator);
    }
    case 'Fn::Sub':
      return String(given).replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => textOf({ Ref: name }, names));
    case 'Fn::ImportValue':
      return names.imported(textOf(given, names));
    default:
      throw new Error(`${key} is not filled in here: ${JSON.stringify(value).slice(0, 200)}`);
  }
};
