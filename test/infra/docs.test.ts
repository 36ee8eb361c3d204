/** What docs/deploy.md shows is what there is: its example, its keys, its prices, its construct. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../infra/bundle.ts';
import { DEPLOYMENT_KEYS } from '../../infra/deployment.ts';
import { Dispatch } from '../../infra/dispatch.ts';
import { priceOf } from '../../infra/network.ts';
import { RecordTable } from '../../infra/record-table.ts';
import { deploymentOf, EXAMPLE, example, least, synthesise } from './world.ts';

const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');

describe('docs/deploy.md', () => {
  it('shows the whole example, as the file is', () => {
    const [, shown] = /^```json [^\n]*\n([\s\S]*?)^```/m.exec(page)!;
    expect(shown).toBe(readFileSync(EXAMPLE, 'utf8'));
  });

  it('explains every key of the file, and none that there is not', () => {
    const table = page.split('## 5.')[0]!.split('| --- | --- | --- |')[1]!;
    const explained = [...table.matchAll(/^\| (`[\w`, ]+`) \|/gm)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
    expect(explained.sort()).toEqual([...DEPLOYMENT_KEYS].sort());
  });

  it('names the price that is printed', () => {
    expect(priceOf({ natGateways: 1, cidr: '10.20.0.0/20' })).toContain('about $33 a month');
    expect(page).toContain('about $33 a month');
  });

  it('every command of npm that it names is a script', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const named = [...page.matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('the construct stands in anybody’s app, with a table of the same app', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false });
    const { table } = new RecordTable(new Stack(app, 'Record', { terminationProtection: true }), 'Record');
    const training = new Stack(app, 'Training');
    const { topics } = new Dispatch(training, 'Dispatch', { deployment: deploymentOf(example()), record: table });
    expect([...topics.made.keys()]).toEqual(['questions', 'operations']);
    Template.fromStack(training).resourceCountIs('AWS::StepFunctions::StateMachine', 1);
  });

  it('two deployments stand side by side in one account', () => {
    const [one, other] = (['k7m2', 'aaaa'] as const).map((tag) => {
      const { app } = synthesise(least({ tag }));
      const named = ['Name', 'StateMachineName', 'LogGroupName', 'DashboardName', 'EventBusName'];
      return Object.values(app.resources).flatMap(({ Properties: given }) =>
        named.flatMap((key) => (typeof given?.[key] === 'string' ? [given[key] as string] : [])),
      );
    });
    expect(one!.length).toBeGreaterThan(4);
    expect(one!.filter((name) => other!.includes(name))).toEqual([]);
  });
});
