/** The state stack: what must outlive every release, and nothing that a release could change. */

import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { StateStack } from '../../infra/state-stack.ts';
import { TTL_ATTRIBUTE, tableDefinition } from '../../lib/record/keys.ts';
import { example, least, synthesise, synthesiseAnew } from './world.ts';

const { state } = synthesise(least());
const [table] = state.of('AWS::DynamoDB::GlobalTable').map(([, one]) => one);
const definition = tableDefinition('any');

describe('the table', () => {
  it('is all that there is', () => {
    expect(Object.values(state.resources).map((one) => one.Type)).toEqual(['AWS::DynamoDB::GlobalTable']);
  });

  it('is kept whatever happens to its stack', () => {
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    expect(table?.Properties.Replicas).toEqual([
      expect.objectContaining({ DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }),
    ]);
    const stack = new StateStack(new App(), 'State', { name: 'dispatch', tag: 'k7m2' });
    expect(stack.terminationProtection).toBe(true);
  });

  it('costs nothing while nothing happens, and drops what has a time', () => {
    expect(table?.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
    });
  });

  it('has the keys and the indexes of the definition that the tests’ own tables are made from', () => {
    const byName = <T extends { readonly IndexName: string }>(all: readonly T[]) =>
      [...all].sort((a, b) => (a.IndexName < b.IndexName ? -1 : 1));
    expect(table?.Properties.KeySchema).toEqual(definition.KeySchema);
    expect(byName(table?.Properties.GlobalSecondaryIndexes)).toEqual(byName(definition.GlobalSecondaryIndexes));
    const names = (all: readonly { readonly AttributeName: string }[]) => all.map((one) => one.AttributeName).sort();
    expect(names(table?.Properties.AttributeDefinitions)).toEqual(names(definition.AttributeDefinitions));
  });

  it('has no name of its own, so that a restored one can stand beside it', () => {
    expect(table?.Properties.TableName).toBeUndefined();
  });
});

describe('after a restore', () => {
  it('the app reads the table that the deployment names, and may do there what it may do here', () => {
    const { app } = synthesise(least({ table: 'restored' }));
    const tables = app.of('AWS::Lambda::Function').flatMap(([, one]) => one.Properties.Environment.Variables.DISPATCH_TABLE ?? []);
    expect(new Set(tables)).toEqual(new Set(['restored']));
    const granted = JSON.stringify(app.of('AWS::IAM::Role'));
    expect(granted).toContain(':table/restored/index/active');
    expect(granted).not.toContain('dispatch-k7m2-state:TableArn');
  });
});

describe('apart from the app', () => {
  it('a deploy of another app leaves it untouched, to the byte', () => {
    const same = JSON.stringify(state.template.toJSON());
    for (const other of [example(), least({ tracing: true, logDays: 7, notify: [{ on: 'dispatch.job.state_changed', sns: 'jobs' }] })])
      expect(JSON.stringify(synthesiseAnew(other).state.template.toJSON())).toBe(same);
  });

  it('tells of itself by exports with names of its own, which no app can add to', () => {
    const outputs = state.template.toJSON()['Outputs'] as Record<string, { Export?: { Name: string } }>;
    expect(Object.entries(outputs).map(([id, one]) => [id, one.Export?.Name])).toEqual([
      ['TableName', 'dispatch-k7m2-state:TableName'],
      ['TableArn', 'dispatch-k7m2-state:TableArn'],
      ['Tag', undefined],
    ]);
  });

  it('another tag is another stack: no record is read under a tag that its attempts were not launched under', () => {
    const names = (['k7m2', 'aaaa'] as const).map((tag) => new StateStack(new App(), 'State', { name: 'dispatch', tag }).stackName);
    expect(names).toEqual(['dispatch-k7m2-state', 'dispatch-aaaa-state']);
  });
});
