/**
 * World: templates of a deployment, synthesised without bundling and without the checks that `npm run synth` makes once (a second saved
 * per synthesis). What CloudFormation would fill in is filled in here, so that tests read what AWS would.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ROOT } from '../../infra/bundle.ts';
import { type Deployment, readDeployment } from '../../infra/deployment.ts';
import { makeStacks } from '../../infra/stacks.ts';

process.env['CDK_VALIDATION'] = 'false';

export const EXAMPLE = join(ROOT, 'docs/examples/slurm-behind-a-bastion.json');
export type Raw = Record<string, unknown>;
export const example = (): Raw => JSON.parse(readFileSync(EXAMPLE, 'utf8')) as Raw;

/** The least that is a deployment: one cluster without a bastion, no network. */
export const least = (more: Raw = {}): Raw => ({
  tag: 'k7m2',
  clusters: [
    {
      id: 'lab',
      kind: 'slurm',
      root: '/srv/dispatch',
      transport: { type: 'ssh', host: 'login.example.org', hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
      logins: [{ id: 'default', user: 'alice', privateKeySecret: 'dispatch/lab' }],
    },
  ],
  people: [{ arn: 'arn:aws:iam::111122223333:role/research', groups: ['research'], scopes: ['read'] }],
  tokenKeysSecret: 'dispatch/attempt-tokens',
  ...more,
});

export const deploymentOf = (raw: Raw): Deployment => {
  const read = readDeployment(JSON.stringify(raw));
  if (!read.ok) throw new Error(read.says);
  return read.deployment;
};

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is whatever CloudFormation takes; tests say what they expect of it.
  readonly Properties: any;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface Synthesised {
  readonly template: Template;
  readonly resources: Readonly<Record<string, Resource>>;
  /** Of one type, by logical id. */
  readonly of: (type: string) => readonly (readonly [string, Resource])[];
  /** With `<LogicalId>` or `<LogicalId.Attribute>` where CloudFormation fills something in. */
  readonly text: (value: unknown) => string;
}

const made = new Map<string, { readonly state: Synthesised; readonly app: Synthesised }>();

/** Both stacks; the same deployment is synthesised once per file of tests. */
export const synthesise = (raw: Raw): { readonly state: Synthesised; readonly app: Synthesised } => {
  const key = JSON.stringify(raw);
  const known = made.get(key) ?? synthesiseAnew(raw);
  made.set(key, known);
  return known;
};

export const synthesiseAnew = (raw: Raw) => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, analyticsReporting: false });
  const stacks = makeStacks(app, deploymentOf(raw));
  return { state: synthesised(Template.fromStack(stacks.state)), app: synthesised(Template.fromStack(stacks.app)) };
};

const synthesised = (template: Template): Synthesised => {
  const resources = template.toJSON()['Resources'] as Record<string, Resource>;
  return {
    template,
    resources,
    of: (type) => Object.entries(resources).filter(([, one]) => one.Type === type),
    text,
  };
};

export const text = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  const given = value as Readonly<Record<string, unknown>>;
  if (typeof given['Ref'] === 'string') return given['Ref'] === 'AWS::Partition' ? 'aws' : `<${given['Ref']}>`;
  if (Array.isArray(given['Fn::GetAtt'])) return `<${given['Fn::GetAtt'].join('.')}>`;
  if (Array.isArray(given['Fn::Join'])) return (given['Fn::Join'][1] as unknown[]).map(text).join(String(given['Fn::Join'][0]));
  if (given['Fn::ImportValue'] !== undefined) return `<${text(given['Fn::ImportValue'])}>`;
  return JSON.stringify(value);
};
