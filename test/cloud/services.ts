/**
 * Services: what functions reach of AWS, behind one address: the table, the machine, the bus and the secrets. Every request is held
 * against the role of the function that makes it, as the template says it: by its access key, its action and what it asks for. What a
 * role does not allow is answered as AWS does, and noted, so that a test can fail by it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callerOf } from './function-process.ts';
import { type Asked, isAllowed, type Statement } from './policy.ts';
import { ACCOUNT, type Cloud, REGION } from './template.ts';

export interface BusEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: unknown;
  readonly bus: string;
}

export interface ServicesOptions {
  readonly cloud: Cloud;
  /** Of the DynamoDB and of the Step Functions protocol. */
  readonly upstream: { readonly dynamodb: string; readonly states: string };
  /** By name. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly onEvent: (event: BusEvent) => void;
}

export interface Refusal {
  readonly caller: string;
  readonly action: string;
  readonly resource: string;
}

export interface Services {
  readonly url: string;
  /** What no role allowed. */
  readonly refusals: Refusal[];
  /** Every action that was allowed, with whose it was: `advance dynamodb:PutItem`. */
  readonly used: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

interface Call {
  readonly caller: string;
  readonly service: string;
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const startServices = async ({ cloud, upstream, secrets, onEvent }: ServicesOptions): Promise<Services> => {
  const roles = new Map(cloud.functions.map(({ name, role }) => [name, role]));
  const refusals: Refusal[] = [];
  const used = new Map<string, number>();

  const admit = ({ caller }: Call, asked: readonly Asked[]): Refusal | undefined => {
    const role: readonly Statement[] = roles.get(caller) ?? [];
    for (const one of asked) {
      if (!isAllowed(role, one)) return { caller, action: one.action, resource: one.resource };
      const key = `${caller} ${one.action}`;
      used.set(key, (used.get(key) ?? 0) + 1);
    }
    return undefined;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    const call = callOf(request, text);
    const refused = admit(call, askedOf(call, cloud));
    if (refused) {
      refusals.push(refused);
      return say(response, 400, {
        __type: 'AccessDeniedException',
        message: `${refused.caller} may not ${refused.action} ${refused.resource}`,
      });
    }
    if (call.service === 'dynamodb' || call.service === 'states') return forward(upstream[call.service], request, text, response);
    if (call.service === 'events') return say(response, 200, putEvents(call.body, onEvent));
    const value = secrets.get(String(call.body['SecretId']));
    if (value === undefined) return say(response, 400, { __type: 'ResourceNotFoundException', message: 'there is none' });
    say(response, 200, { Name: call.body['SecretId'], SecretString: value });
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => say(response, 500, { __type: 'InternalServerError', message: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusals,
    used,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const say = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

/** `Credential=KEY/date/region/service/aws4_request` and `X-Amz-Target: Name.Operation`. */
const callOf = (request: IncomingMessage, text: string): Call => {
  const credential = /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\//.exec(request.headers.authorization ?? '');
  const operation =
    String(request.headers['x-amz-target'] ?? '')
      .split('.')
      .at(-1) ?? '';
  return {
    caller: callerOf(credential?.[1] ?? ''),
    service: credential?.[2] ?? '',
    operation,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
};

/** What has to be allowed for it; an operation that is not known here is asked for by its name, which no role allows by chance. */
const askedOf = ({ service, operation, body }: Call, cloud: Cloud): readonly Asked[] => {
  const action = `${service}:${operation}`;
  switch (service) {
    case 'dynamodb': {
      const tables = body['RequestItems'] === undefined ? [String(body['TableName'])] : Object.keys(body['RequestItems'] as object);
      const index = body['IndexName'] === undefined ? '' : `/index/${String(body['IndexName'])}`;
      return tables.map((table) => ({ action, resource: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${table}${index}` }));
    }
    case 'states':
      // A token says nothing of its machine; there is one.
      return [{ action, resource: String(body['stateMachineArn'] ?? cloud.machine.arn) }];
    case 'events':
      return ((body['Entries'] ?? []) as { EventBusName?: string; Source?: string }[]).map(({ EventBusName, Source }) => ({
        action,
        resource: `arn:aws:events:${REGION}:${ACCOUNT}:event-bus/${EventBusName ?? 'default'}`,
        context: { 'events:source': Source ?? '' },
      }));
    case 'secretsmanager':
      return [{ action, resource: `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${String(body['SecretId'])}-AbCdEf` }];
    default:
      return [{ action, resource: '*' }];
  }
};

interface Entry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

const putEvents = (body: Readonly<Record<string, unknown>>, onEvent: ServicesOptions['onEvent']) => {
  const entries = body['Entries'] as readonly Entry[];
  for (const { EventBusName, Source, DetailType, Detail } of entries)
    onEvent({ bus: EventBusName, source: Source, 'detail-type': DetailType, detail: JSON.parse(Detail) });
  return { FailedEntryCount: 0, Entries: entries.map((_, i) => ({ EventId: `event-${i}` })) };
};

/** Byte for byte; both ends are on this machine. */
const forward = async (to: string, request: IncomingMessage, text: string, response: ServerResponse): Promise<void> => {
  const { host: _, connection: __, 'content-length': ___, 'accept-encoding': ____, ...headers } = request.headers;
  const kept = Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
  const answer = await fetch(to, { method: 'POST', headers: kept, body: text });
  const type = answer.headers.get('content-type') ?? 'application/x-amz-json-1.0';
  const sum = answer.headers.get('x-amz-crc32');
  response.writeHead(answer.status, { 'content-type': type, ...(sum === null ? {} : { 'x-amz-crc32': sum }) });
  response.end(Buffer.from(await answer.arrayBuffer()));
};
