/** Who calls, from API Gateway's word alone (contract §11). */
import { handle } from 'hono/aws-lambda';
import { expect, test } from 'vitest';
import { createApi } from '../../lib/api/api.ts';
import { type Callers, principalOf } from '../../lib/aws/principal.ts';
import { given, SPEC } from '../api/given.ts';

const jwt = (claims: Record<string, unknown>) => ({ authorizer: { jwt: { claims, scopes: null } } });
const iam = (userArn: string) => ({ authorizer: { iam: { userArn, accountId: '1' } } });
const CALLERS: Callers = [
  { arn: 'arn:aws:iam::111122223333:role/ci', groups: ['vision'], scopes: ['read', 'submit'] },
  { arn: 'arn:aws:iam::111122223333:user/ada', id: 'ada', groups: [], scopes: ['operate'] },
];

test.each([
  [
    'claims',
    jwt({ sub: 'u1', scope: 'read dispatch/submit openid', 'cognito:groups': '[vision speech]' }),
    { id: 'u1', groups: ['vision', 'speech'], scopes: ['read', 'submit'] },
  ],
  ['scopes of another resource server', jwt({ sub: 'u1', scope: 'hr/read hr/dispatch/operate' }), { id: 'u1', groups: [], scopes: [] }],
  [
    'scopes as some issuers write them',
    jwt({ sub: 'u1', scp: '[read dispatch/answer]' }),
    { id: 'u1', groups: [], scopes: ['read', 'answer'] },
  ],
  ['groups as a list', jwt({ sub: 'u1', groups: ['a', 'b'] }), { id: 'u1', groups: ['a', 'b'], scopes: [] }],
  ['a machine’s token', jwt({ client_id: 'c1', scope: 'operate' }), { id: 'c1', groups: [], scopes: ['operate'] }],
  ['claims without a subject', jwt({ scope: 'operate' }), undefined],
  ['a subject that is no text', jwt({ sub: 7, scope: 'operate' }), undefined],
  [
    'a session of a known role',
    iam('arn:aws:sts::111122223333:assumed-role/ci/run-7'),
    { id: 'arn:aws:iam::111122223333:role/ci', groups: ['vision'], scopes: ['read', 'submit'] },
  ],
  ['a known user', iam('arn:aws:iam::111122223333:user/ada'), { id: 'ada', groups: [], scopes: ['operate'] }],
  ['a role of another account', iam('arn:aws:sts::999999999999:assumed-role/ci/run-7'), undefined],
  ['a role whose name begins the same', iam('arn:aws:sts::111122223333:assumed-role/ci-evil/run-7'), undefined],
  ['a session that is named like a role', iam('arn:aws:sts::111122223333:assumed-role/other/ci'), undefined],
  ['nobody', {}, undefined],
  ['no context', undefined, undefined],
])('%s', (_, context, expected) => expect(principalOf(context, CALLERS)).toEqual(expected));

test('the same table answers an event of API Gateway, and believes no header', async () => {
  const { ports } = await given();
  const api = createApi({
    ports: async () => ports,
    principalOf: (_, environment) => principalOf((environment as { requestContext: unknown }).requestContext, CALLERS),
  });
  const handler = handle(api);
  const event = (method: string, path: string, over: object = {}, authorizer: object = {}) => ({
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host: 'api.example', 'content-type': 'application/json', 'x-amzn-user': 'op', authorization: 'Bearer op' },
    requestContext: {
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '1.2.3.4', userAgent: 't' },
      domainName: 'api.example',
      ...authorizer,
    },
    isBase64Encoded: false,
    ...over,
  });
  const call = async (...args: Parameters<typeof event>) =>
    (await handler(event(...args) as never, {} as never)) as {
      statusCode: number;
      body: string;
      headers: Record<string, string>;
      isBase64Encoded: boolean;
    };
  const may = jwt({ sub: 'u1', scope: 'read submit' });
  expect((await call('GET', '/jobs')).statusCode).toBe(401);
  const body = Buffer.from(JSON.stringify(SPEC)).toString('base64');
  const accepted = await call('POST', '/jobs', { body, isBase64Encoded: true }, may);
  const { id, owner } = JSON.parse(accepted.body) as { id: string; owner: string };
  expect([accepted.statusCode, owner, accepted.headers['location'], accepted.isBase64Encoded]).toEqual([202, 'u1', `/jobs/${id}`, false]);
  const listed = await call('GET', '/jobs', { rawQueryString: 'limit=1&state=pending' }, may);
  expect(JSON.parse(listed.body).items).toMatchObject([{ id }]);
  const refused = await call('POST', '/jobs', { body: '{' }, may);
  expect([refused.statusCode, refused.headers['content-type'], refused.isBase64Encoded]).toEqual([400, 'application/problem+json', false]);
});
