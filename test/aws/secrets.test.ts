/** Secrets by name: kept for minutes, read again by who was refused, and never in a message. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { keptSecrets, type ReadSecret, secretsManager } from '../../lib/aws/secrets.ts';
import { tokenKeysOf } from '../../lib/aws/token-keys.ts';
import { checkToken, issueToken } from '../../lib/checkpoint/token.ts';
import { SECRET_KEPT_MS, SecretFailure } from '../../lib/cluster/secret.ts';

const service = mockClient(SecretsManagerClient);
let failed = 0;
const read = secretsManager({ client: new SecretsManagerClient({ region: 'eu-north-1' }), onFailed: () => failed++ });

beforeEach(() => {
  service.reset();
  failed = 0;
});

describe('Secrets Manager', () => {
  test('given text or bytes, then the value, asked for by its name', async () => {
    service.on(GetSecretValueCommand, { SecretId: 'lab/key' }).resolves({ SecretString: 'value' });
    service.on(GetSecretValueCommand, { SecretId: 'lab/bytes' }).resolves({ SecretBinary: Buffer.from('bytes') });
    expect([await read('lab/key'), await read('lab/bytes')]).toEqual(['value', 'bytes']);
  });

  test.each([
    'ResourceNotFoundException',
    'AccessDeniedException',
    'DecryptionFailure',
    'ThrottlingException',
    'ExpiredTokenException',
    'TimeoutError',
  ])('given %s, then a typed failure that repeats nothing of what the service said', async (name) => {
    service.on(GetSecretValueCommand).rejects(Object.assign(new Error('the value is hunter2'), { name }));
    const failure: unknown = await read('lab/key').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SecretFailure);
    expect(failure).toMatchObject({ code: 'secret/unavailable', retryable: true });
    expect(String((failure as Error).stack)).not.toContain('hunter2');
    expect((failure as Error).message).toContain(name);
    expect(failed).toBe(1);
  });

  test('given a secret without a value, then it is unusable, which no repetition changes', async () => {
    service.on(GetSecretValueCommand).resolves({});
    await expect(read('lab/key')).rejects.toMatchObject({ code: 'secret/unusable', retryable: false });
  });
});

describe('kept', () => {
  const given = () => {
    let now = 0;
    let values = 0;
    const plain: ReadSecret = async (name) => `${name}-${++values}`;
    return { kept: keptSecrets(plain, () => now), later: (ms: number) => (now += ms) };
  };

  test('for five minutes at most', async () => {
    const { kept, later } = given();
    const first = await kept('a');
    later(SECRET_KEPT_MS - 1);
    expect(await kept('a')).toBe(first);
    later(1);
    expect(await kept('a')).not.toBe(first);
  });

  test('contract §11: who was refused with it reads it again, and everybody then has the new one', async () => {
    const { kept } = given();
    expect(await kept('a')).toBe('a-1');
    expect(await kept('a', true)).toBe('a-2');
    expect(await kept('a')).toBe('a-2');
  });

  test('two that ask at once share one read', async () => {
    const { kept } = given();
    expect(await Promise.all([kept('a'), kept('a')])).toEqual(['a-1', 'a-1']);
  });

  test('a failure is not kept', async () => {
    const answers = [Promise.reject(new SecretFailure('secret/unavailable', 'away')), Promise.resolve('back')];
    const kept = keptSecrets(
      () => answers.shift() as Promise<string>,
      () => 0,
    );
    await expect(kept('a')).rejects.toThrow('away');
    expect(await kept('a')).toBe('back');
  });

  test('names have a bound', async () => {
    const { kept } = given();
    for (let i = 0; i < 300; i++) await kept(`name${i}`);
    expect(await kept('name0')).toBe('name0-301');
  });
});

describe('keys of attempts’ tokens', () => {
  const secret = (bytes: number, fill = 1) => Buffer.alloc(bytes, fill).toString('base64');
  const text = (...keys: unknown[]) => JSON.stringify({ keys });
  const JOB = '1q3dcbd0002kwy6g';

  test('the first one signs, all of them are accepted: so a key is rotated', () => {
    const old = tokenKeysOf(text({ id: 'k1', secret: secret(32, 1) }));
    const both = tokenKeysOf(text({ id: 'k2', secret: secret(32, 2) }, { id: 'k1', secret: secret(32, 1) }));
    const token = issueToken(old, JOB, 1);
    expect(checkToken(both, token, JOB)).toEqual({ kind: 'valid', job: JOB, n: 1 });
    expect(issueToken(both, JOB, 1)).toMatch(/^dispatch1\.k2\./);
    expect(checkToken(old, issueToken(both, JOB, 1), JOB)).toEqual({ kind: 'invalid' });
  });

  test.each([
    ['no JSON', 'hunter2'],
    ['another shape', '{"keys":"hunter2"}'],
    ['no key', text()],
    ['a key that is too short', text({ id: 'k1', secret: secret(31) })],
    ['a secret that is no base64', text({ id: 'k1', secret: 'hunter2!' })],
    ['two keys of one id', text({ id: 'k1', secret: secret(32) }, { id: 'k1', secret: secret(32, 2) })],
  ])('given %s, then a typed failure without what stands in it', (_, given) => {
    const failing = () => tokenKeysOf(given);
    expect(failing).toThrow(SecretFailure);
    expect(failing).not.toThrow(/hunter2/);
  });
});
