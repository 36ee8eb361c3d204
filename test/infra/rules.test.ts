/**
 * The rules of CDK and of AwsSolutions on every kind of deployment: none has a finding, every exception has its reason, and a finding
 * would fail the synthesis.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStacks } from '../../infra/stacks.ts';
import { deploymentOf, example, least, type Raw } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'dispatch-rules-'));
beforeAll(() => {
  process.env['CDK_VALIDATION'] = 'true';
});
afterAll(() => {
  process.env['CDK_VALIDATION'] = 'false';
  rmSync(folder, { recursive: true, force: true });
});

const made = (raw: Raw) => {
  const app = new App({
    outdir: mkdtempSync(join(folder, 'out-')),
    context: { 'aws:cdk:bundling-stacks': [], '@aws-cdk/core:validateAgainstDefaultRules': true },
    analyticsReporting: false,
  });
  return { app, stacks: makeStacks(app, deploymentOf(raw)) };
};

const buckets = (raw: Raw): Raw => {
  const [cluster] = raw['clusters'] as Raw[];
  return {
    ...raw,
    clusters: [{ ...cluster, buckets: { 'own-saves': {}, 'their-saves': { role: 'arn:aws:iam::444455556666:role/saves' } } }],
  };
};
const TOKENS = { people: [], access: { kind: 'jwt', issuer: 'https://id.example.org', audience: ['dispatch'] } };
const NETWORK = { vpcId: 'vpc-0123456789abcdef0', availabilityZones: ['eu-west-1a'], subnetIds: ['subnet-01234567'] };

describe('no rule has a finding', () => {
  it.each<[string, Raw]>([
    ['the least', least()],
    ['tokens, traced, in a network that exists', least({ ...TOKENS, tracing: true, network: NETWORK, alarms: { sns: 'ops' } })],
    ['the example with buckets', buckets(example())],
  ])('%s', { timeout: 120_000 }, (_, raw) => {
    const { app } = made(raw);
    expect(() => app.synth()).not.toThrow();
    expect(process.exitCode ?? 0).toBe(0);
  });

  it('and one that had would fail', { timeout: 120_000 }, () => {
    const { app, stacks } = made(least());
    new Bucket(stacks.app, 'Open');
    let failed = false;
    try {
      app.synth();
    } catch {
      failed = true;
    }
    failed ||= process.exitCode === 1;
    process.exitCode = 0;
    expect(failed).toBe(true);
  });
});

describe('exceptions', () => {
  const { app } = made(buckets(example()));
  const found = app.node
    .findAll()
    .flatMap((one) =>
      one.node.metadata
        .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
        .map(({ data }) => ({ path: one.node.path, data: data as Record<string, string> })),
    );
  // What CDK itself acknowledges of its own constructs is CDK's affair.
  const ours = found.flatMap(({ path, data }) =>
    Object.entries(data).flatMap(([id, why]) =>
      id.includes('AwsSolutions-') ? [{ path, id: id.replace(/^.*::(?=AwsSolutions)/, ''), why }] : [],
    ),
  );

  it('are these and no others', () => {
    const roles = ours.filter(({ id }) => id.startsWith('AwsSolutions-IAM5[Resource::'));
    expect(ours.filter((one) => !roles.includes(one)).map(({ path, id }) => `${id} ${path}`)).toEqual([
      'AwsSolutions-SQS3 App/Dispatch/DeadLetters',
      'AwsSolutions-SQS3 App/Dispatch/UndeliveredNotices',
      'AwsSolutions-SF2 App/Dispatch/Machine/Machine',
      'AwsSolutions-APIG4 App/Dispatch/Api/publishCheckpoint',
      'AwsSolutions-APIG4 App/Dispatch/Api/readDocument',
      'AwsSolutions-APIG4 App/Dispatch/Api/readHealth',
    ]);
    // Roles: wildcards in resources alone, all of which roles.test.ts lists.
    expect(roles.map(({ path }) => path).every((path) => path.endsWith('/Role'))).toBe(true);
  });

  it('each with a reason that is a sentence', () => {
    for (const { id, why } of ours) expect(why, id).toMatch(/^[A-Z].{20,}\.$/);
  });
});
