/**
 * State stack: what must outlive every release. It holds the record and the name under which a deployment's objects are known, and it
 * depends on nothing of the app: its template is a function of name and tag alone, so a deploy of the app leaves it untouched.
 *
 * The tag is part of the stack's name: a deployment with another tag is another stack with another table, so no record can ever be
 * read under a tag that its attempts were not launched under.
 */
import { CfnOutput, Fn, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Deployment } from './deployment.ts';
import { RecordTable } from './record-table.ts';

type Named = Pick<Deployment, 'name' | 'tag'>;

/** Physical names begin with it. */
export const prefixOf = ({ name, tag }: Named): string => `${name}-${tag}`;
export const stateStackName = (named: Named): string => `${prefixOf(named)}-state`;

/** What others need to know of a table. */
export interface TableNames {
  readonly tableName: string;
  readonly tableArn: string;
}

export class StateStack extends Stack {
  readonly record: TableNames;

  constructor(scope: Construct, id: string, named: Named, props: StackProps = {}) {
    super(scope, id, {
      ...props,
      stackName: stateStackName(named),
      description: `dispatch ${named.tag}: the record. Never delete it: everything else is made again from it.`,
      terminationProtection: true,
    });
    const { table } = new RecordTable(this, 'Record');
    this.record = table;
    Tags.of(this).add('dispatch:deployment', named.tag);
    // Exports by hand: the ones that CDK makes by itself come and go with what the app happens to use.
    new CfnOutput(this, 'TableName', { value: table.tableName, exportName: `${this.stackName}:TableName` });
    new CfnOutput(this, 'TableArn', { value: table.tableArn, exportName: `${this.stackName}:TableArn` });
    new CfnOutput(this, 'Tag', { value: named.tag, description: 'Part of the name of every attempt on every cluster.' });
  }
}

/** The table of the state stack, by what it exports; or, after a restore, the one that the deployment names. */
export const recordOf = (scope: Construct, deployment: Named & Pick<Deployment, 'table'>): TableNames => {
  const { table } = deployment;
  if (table !== undefined)
    return { tableName: table, tableArn: Stack.of(scope).formatArn({ service: 'dynamodb', resource: 'table', resourceName: table }) };
  return {
    tableName: Fn.importValue(`${stateStackName(deployment)}:TableName`),
    tableArn: Fn.importValue(`${stateStackName(deployment)}:TableArn`),
  };
};
