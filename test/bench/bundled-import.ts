/**
 * One fresh process: `node bundled-import.ts ENTRY [call]`. Says how many milliseconds the code took to load, and, with `call`, how many
 * until a first answer was there: of a function behind API Gateway a `GET /jobs/{id}`, of the clients alone the Query behind it.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [entry, call] = process.argv.slice(2) as [string, string?];
const began = performance.now();
// As the platform loads it: looking through CommonJS for its exports, as `import` does, would be time of nobody's.
const code = (entry.endsWith('.mjs') ? await import(pathToFileURL(entry).href) : createRequire(entry)(entry)) as Loaded;
const loadedMs = performance.now() - began;

interface Loaded {
  readonly handler?: (event: object, context: object) => Promise<{ readonly statusCode: number; readonly body: string }>;
  readonly DynamoDBClient?: typeof import('@aws-sdk/client-dynamodb').DynamoDBClient;
  readonly QueryCommand?: typeof import('@aws-sdk/client-dynamodb').QueryCommand;
}

const { BENCH_JOB: job = '', BENCH_CALLER: userArn = '', DISPATCH_TABLE: TableName = '' } = process.env;

/** As an HTTP API hands a request on. */
const event = {
  ...{ version: '2.0', routeKey: 'GET /jobs/{job}', rawPath: `/jobs/${job}`, rawQueryString: '', isBase64Encoded: false },
  headers: { host: 'api.example.org', accept: 'application/json' },
  requestContext: {
    ...{ accountId: '111122223333', apiId: 'bench', domainName: 'api.example.org', requestId: 'r', stage: '$default' },
    authorizer: { iam: { userArn } },
    http: { method: 'GET', path: `/jobs/${job}`, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'bench' },
  },
};

const answer = async (): Promise<void> => {
  if (code.DynamoDBClient && code.QueryCommand) {
    const KeyConditionExpression = 'pk = :pk AND sk BETWEEN :from AND :to';
    const values = { ':pk': { S: `JOB#${job}` }, ':from': { S: 'E#0000000001' }, ':to': { S: 'E#9999999999' } };
    const query = new code.QueryCommand({ TableName, ConsistentRead: true, KeyConditionExpression, ExpressionAttributeValues: values });
    await new code.DynamoDBClient({}).send(query);
    return;
  }
  const said = await code.handler?.(event, { functionName: 'jobs', awsRequestId: 'r', invokedFunctionArn: 'arn' });
  if (said?.statusCode !== 200) throw new Error(`the first call was answered ${said?.statusCode}: ${said?.body.slice(0, 300)}`);
};

if (call) await answer();
process.send?.({ loadedMs, answeredMs: performance.now() - began });
process.disconnect?.();
// Connections are kept alive for a next call that does not come.
setImmediate(() => process.exit());
