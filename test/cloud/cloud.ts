/**
 * Cloud: a deployment as it would run, from its synthesised template: every function in processes of its own, the machine's definition on
 * the local engine, schedules and rules that invoke, routes that answer, and the services behind one address that knows who asks. The
 * cluster is a login node of its own, reached over SSH.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { startEndpoint } from '../../lib/local/endpoint/endpoint.ts';
import { createEngine } from '../../lib/local/engine/engine.ts';
import { tableDefinition } from '../../lib/record/keys.ts';
import { clientOf } from '../contract/store/table.ts';
import { type FunctionProcesses, functionProcesses } from './function-process.ts';
import { isAllowed, type Statement } from './policy.ts';
import { type BusEvent, type Refusal, type Services, startServices } from './services.ts';
import type { Cloud } from './template.ts';
import { clockAt, nowAt, type Pace } from './time.ts';

export interface Running {
  /** Of the API; callers name themselves in `x-caller`, as the gateway would have verified them. */
  readonly url: string;
  readonly services: Services;
  readonly functions: ReadonlyMap<string, FunctionProcesses>;
  readonly engine: ReturnType<typeof createEngine>;
  /** Domain events, in order. */
  readonly events: BusEvent[];
  /** Invocations without anybody waiting that failed. */
  readonly failures: string[];
  readonly refusals: readonly Refusal[];
  close(): Promise<void>;
}

export interface CloudOptions {
  readonly cloud: Cloud;
  readonly secrets: ReadonlyMap<string, string>;
  readonly pace: Pace;
  /** Of the API; 0: any. */
  readonly port: number;
}

export const runCloud = async ({ cloud, secrets, pace, port }: CloudOptions): Promise<Running> => {
  const closing: (() => void | Promise<void>)[] = [];
  const events: BusEvent[] = [];
  const failures: string[] = [];
  const table = await startTable(cloud.table, closing);
  const named = (arn: string): FunctionProcesses => {
    const found = [...functions.values()].find((one) => one.deployed.arn === arn);
    if (!found) throw new Error(`no function has the ARN ${arn}`);
    return found;
  };
  /** On behalf of the machine or the scheduler, whose role must allow it. */
  const invokeAs = (caller: string, role: readonly Statement[], arn: string, event: unknown): Promise<unknown> => {
    if (!isAllowed(role, { action: 'lambda:InvokeFunction', resource: arn }))
      services.refusals.push({ caller, action: 'lambda:InvokeFunction', resource: arn });
    return named(arn).invoke(event);
  };
  const unattended = (invoking: Promise<unknown>, what: string): void => {
    invoking.catch((error: unknown) =>
      failures.push(`${what}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`),
    );
  };
  const publish = (event: BusEvent): void => {
    for (const rule of cloud.rules)
      if (rule.bus === event.bus && fits(rule.pattern, event))
        for (const target of rule.targets.filter((arn) => arn.includes(':function:')))
          unattended(named(target).invoke(event), event['detail-type']);
  };
  const engine = createEngine({
    definition: cloud.machine.definition,
    substitutions: {},
    machineName: cloud.machine.name,
    functions: Object.fromEntries(
      cloud.functions.map(({ arn }) => [arn, (event: unknown) => invokeAs('machine', cloud.machine.role, arn, event) as Promise<never>]),
    ),
    clock: clockAt(pace),
    random: Math.random,
    aroundStart: (_, start) => {
      if (!isAllowed(cloud.machine.role, { action: 'states:StartExecution', resource: cloud.machine.arn }))
        services.refusals.push({ caller: 'machine', action: 'states:StartExecution', resource: cloud.machine.arn });
      return Promise.resolve(start());
    },
    onEnd: ({ name, status }) => {
      if (status === 'SUCCEEDED') return;
      const detail = { name, status, stateMachineArn: cloud.machine.arn };
      publish({ bus: 'default', source: 'aws.states', 'detail-type': 'Step Functions Execution Status Change', detail });
    },
  });
  closing.push(() => engine.close());
  const endpoint = await startEndpoint({ engine });
  closing.push(endpoint.close);
  const services = await startServices({
    ...{ cloud, secrets, upstream: { dynamodb: table, states: endpoint.url } },
    onEvent: (event) => {
      events.push(event);
      publish(event);
    },
  });
  closing.push(services.close);
  const functions = new Map(cloud.functions.map((one) => [one.name, functionProcesses(one, services.url, pace)]));
  closing.push(() => {
    for (const one of functions.values()) one.close();
  });
  const api = await startApi(cloud, (arn, event) => named(arn).invoke(event), port);
  closing.push(api.close);
  for (const { everyMinutes, target, input, role } of cloud.schedules) {
    const tick = (): void => {
      const event = JSON.parse(input.replace('<aws.scheduler.scheduled-time>', new Date(nowAt(pace)).toISOString())) as unknown;
      unattended(invokeAs('scheduler', role, target, event), `schedule ${input}`);
    };
    const timer = setInterval(tick, (everyMinutes * 60_000) / pace.rate);
    closing.push(() => clearInterval(timer));
  }
  return {
    ...{ url: api.url, services, functions, engine, events, failures, refusals: services.refusals },
    close: async () => {
      for (const close of closing.splice(0).reverse()) await close();
    },
  };
};

const startTable = async (name: string, closing: (() => void | Promise<void>)[]): Promise<string> => {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = clientOf(url);
  await client.send(new CreateTableCommand(tableDefinition(name)));
  client.destroy();
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return url;
};

/** Exact values, nested as in the event: all that the template's rules use. */
const fits = (pattern: unknown, event: unknown): boolean => {
  if (Array.isArray(pattern)) {
    if (pattern.some((one) => typeof one === 'object')) throw new Error('this pattern is not understood here');
    return pattern.includes(event);
  }
  const given = (event ?? {}) as Record<string, unknown>;
  return Object.entries(pattern as object).every(([key, value]) => fits(value, given[key]));
};

/** The gateway: routes of the template, IAM callers by the header that stands for their signature, and events of version 2.0. */
const startApi = async (cloud: Cloud, invoke: (arn: string, event: unknown) => Promise<unknown>, port: number) => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://gateway');
    const { 'x-caller': caller, ...headers } = request.headers;
    const route = cloud.routes.find((one) => one.method === request.method && patternOf(one.path).test(url.pathname));
    if (!route) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}');
    if (route.authorization === 'AWS_IAM' && caller === undefined)
      return void response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const routeKey = `${route.method} ${route.path}`;
    const answer = (await invoke(route.target, {
      ...{ version: '2.0', routeKey, rawPath: url.pathname, rawQueryString: url.search.slice(1), headers: { host: 'gateway', ...headers } },
      ...(url.search === '' ? {} : { queryStringParameters: Object.fromEntries(url.searchParams) }),
      pathParameters: patternOf(route.path).exec(url.pathname)?.groups ?? {},
      requestContext: {
        ...{ accountId: 'anonymous', apiId: 'api', domainName: 'gateway', requestId: 'request', routeKey, stage: '$default' },
        ...(route.authorization === 'AWS_IAM' ? { authorizer: { iam: { userArn: caller } } } : {}),
        http: { method: route.method, path: url.pathname, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      },
      ...(body === '' ? {} : { body }),
      isBase64Encoded: false,
    })) as { statusCode: number; headers?: Record<string, string>; body?: string; isBase64Encoded?: boolean };
    response.writeHead(answer.statusCode, answer.headers);
    response.end(answer.isBase64Encoded ? Buffer.from(answer.body ?? '', 'base64') : (answer.body ?? ''));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) =>
      response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify({ message: 'Internal Server Error', cause: String(error) })),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
