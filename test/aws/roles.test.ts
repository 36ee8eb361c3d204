/** Credentials of the roles that buckets name: short, in the deployment's name, and asked for by whoever needs them. */
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { assumedRole, stsClient } from '../../lib/aws/roles.ts';

const ROLE = 'arn:aws:iam::123456789012:role/checkpoints';
const service = mockClient(STSClient);
const credentials = assumedRole({ client: new STSClient({ region: 'eu-north-1' }), session: 'dispatch-aaaa' }, ROLE);
const Expiration = new Date('2026-11-30T10:15:00Z');

beforeEach(() => service.reset());

test('given the role, then its credentials and when they end, under the deployment’s name', async () => {
  service.on(AssumeRoleCommand).resolves({ Credentials: { AccessKeyId: 'a', SecretAccessKey: 's', SessionToken: 't', Expiration } });
  expect(await credentials()).toEqual({ accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't', expiration: Expiration });
  expect(service.commandCalls(AssumeRoleCommand)[0]?.args[0].input).toEqual({
    RoleArn: ROLE,
    RoleSessionName: 'dispatch-aaaa',
    DurationSeconds: 900,
  });
});

test.each([['AccessDenied'], ['ThrottlingException'], ['ExpiredTokenException']])(
  'given %s, then it is thrown, for the reader to call it unreachable',
  async (name) => {
    service.on(AssumeRoleCommand).rejects(Object.assign(new Error('m'), { name }));
    await expect(credentials()).rejects.toMatchObject({ name });
  },
);

test('given an answer without credentials, then none are made up', async () => {
  service.on(AssumeRoleCommand).resolves({});
  await expect(credentials()).rejects.toThrow('no credentials came');
});

test('the client gives up soon', async () => {
  expect(await stsClient().config.maxAttempts()).toBe(2);
});
