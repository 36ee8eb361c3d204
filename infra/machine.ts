/**
 * Machine: the supervisors' state machine, from the very file that the local process, the tests and the simulator run.
 * Its name is fixed, so that functions which signal it can be granted its ARN without depending on it: the machine depends on the two
 * functions that it invokes, and one of these, Advance, signals other supervisors.
 *
 * Guards P2.6: it logs without execution data, since the payload of Park holds a token.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledgeRole, acknowledgeTracing } from './acknowledged.ts';
import { ROOT } from './bundle.ts';
import type { Deployment } from './deployment.ts';
import { tracing } from './grants.ts';
import { prefixOf } from './state-stack.ts';

const FILE = join(ROOT, 'statemachines/supervisor.asl.json');

export const machineName = (deployment: Deployment): string => `${prefixOf(deployment)}-supervisor`;
export const machineArnOf = (scope: Construct, deployment: Deployment): string =>
  Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: machineName(deployment),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

export interface MachineProps {
  readonly deployment: Deployment;
  readonly advance: IFunction;
  readonly park: IFunction;
}

export class Machine extends Construct {
  readonly machine: StateMachine;

  constructor(scope: Construct, id: string, { deployment, advance, park }: MachineProps) {
    super(scope, id);
    const statements = [
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [advance.functionArn, park.functionArn] }),
      // Continues as new.
      new PolicyStatement({ actions: ['states:StartExecution'], resources: [machineArnOf(this, deployment)] }),
      logDelivery(),
      ...(deployment.tracing ? [tracing(), sampling()] : []),
    ];
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      description: `dispatch ${deployment.tag}: what a supervisor's execution may do`,
      inlinePolicies: { Does: new PolicyDocument({ minimize: false, statements }) },
    });
    acknowledgeRole(role, statements);
    this.machine = new StateMachine(this, 'Machine', {
      stateMachineName: machineName(deployment),
      definitionBody: DefinitionBody.fromString(definition({ AdvanceFunctionArn: advance.functionArn, ParkFunctionArn: park.functionArn })),
      role: role.withoutPolicyUpdates(),
      logs: {
        // The prefix keeps the account's resource policy for deliveries from growing by one entry per group.
        destination: new LogGroup(this, 'Log', {
          logGroupName: `/aws/vendedlogs/states/${machineName(deployment)}`,
          retention: deployment.logDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ALL,
        includeExecutionData: false,
      },
      tracingEnabled: deployment.tracing,
    });
    if (!deployment.tracing) acknowledgeTracing(this.machine);
  }
}

/** The file with its names replaced. Throws when one is left, or one was not there. */
export const definition = (names: Readonly<Record<string, string>>): string => {
  let text = readFileSync(FILE, 'utf8');
  for (const [name, value] of Object.entries(names)) {
    if (!text.includes(`\${${name}}`)) throw new Error(`${FILE}: has no \${${name}}`);
    text = text.replaceAll(`\${${name}}`, value);
  }
  return text;
};

/** What Step Functions, unlike Lambda, asks for itself. */
const sampling = () => new PolicyStatement({ actions: ['xray:GetSamplingRules', 'xray:GetSamplingTargets'], resources: ['*'] });

/** Deliveries of logs belong to no resource: AWS grants these actions on everything or not at all. */
const logDelivery = () =>
  new PolicyStatement({
    actions: [
      ...['logs:CreateLogDelivery', 'logs:GetLogDelivery', 'logs:UpdateLogDelivery', 'logs:DeleteLogDelivery', 'logs:ListLogDeliveries'],
      ...['logs:PutResourcePolicy', 'logs:DescribeResourcePolicies', 'logs:DescribeLogGroups'],
    ],
    resources: ['*'],
  });
