/** Doors behind API Gateway: a part of the API's table as one function, and who calls it. */
import { handle } from 'hono/aws-lambda';
import { createApi } from '../api/api.ts';
import type { Limits } from '../api/route.ts';
import { rfc3339 } from '../app/notices.ts';
import type { Ports } from '../app/ports.ts';
import { AssertionFailed } from '../job/assertion.ts';
import { DOORS, type DoorName } from './doors.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { PREFLIGHT_ASKED } from './invocations.ts';
import { lazily } from './lazily.ts';
import { createLog, type Invocation } from './log.ts';
import { type Callers, callersSchema, principalOf } from './principal.ts';
import { deployedAs } from './wiring.ts';

type Handler = ReturnType<typeof handle>;
type GatewayEvent = Parameters<Handler>[0];
type GatewayContext = Parameters<Handler>[1];

/** `document`: only where the door serves it, and then nothing else is needed. */
export const door = (name: DoorName, document?: () => Promise<unknown>): Handler => {
  const app = lazily(async () => handle(apiOf(name, readEnvironment(name, process.env), document)));
  const serve = async (event: GatewayEvent, context: GatewayContext) => {
    // A request is answered whatever is wrong with this process: the API says so as a problem, and logs why.
    const deployed = document ? undefined : await deployedAs(name).catch(() => undefined);
    deployed?.log.begin(context as unknown as Invocation | undefined, { gatewayRequest: requestOf(event) });
    try {
      const serving = await app().catch((error: unknown) => handle(broken(name, error)));
      return await serving(event, context);
    } finally {
      deployed?.meter.flush();
    }
  };
  return serve as Handler;
};

/** The same routes, of which every one that needs something answers that something is wrong here; the log says what. */
const broken = (name: DoorName, error: unknown) =>
  createApi({
    only: DOORS[name],
    ports: () => Promise.reject(error),
    principalOf: () => {
      throw error;
    },
  });

const apiOf = (name: DoorName, environment: Environment, document: (() => Promise<unknown>) | undefined) => {
  const deployed = () => deployedAs(name);
  const callers = callersOf(environment);
  return createApi({
    ports: document ? async () => PORTLESS : async () => (await deployed()).ports,
    only: DOORS[name],
    limits: limitsOf(environment),
    principalOf: (_, passed) => principalOf(contextOf(passed), callers),
    tokenKeys: async () => (await deployed()).tokenKeys(),
    // Minutes of work for a caller who has seconds: another function does it, and its answer is the cluster's record.
    preflight: async (cluster, login) => {
      const { ports, putEvents } = await deployed();
      await putEvents([{ type: PREFLIGHT_ASKED, at: rfc3339(ports.now()), detail: { cluster, login } }]);
    },
    ...(document ? { document } : {}),
  });
};

/** Of the door that serves a document: it is told of nothing, so there is nothing that it could touch. */
const PORTLESS: Ports = new Proxy({} as Ports, {
  get: (_, name) => {
    if (name === 'log') return createLog('dispatch').log;
    // Asked by whoever awaits it.
    if (name === 'then') return undefined;
    throw new AssertionFailed(`this door has no ${String(name)}`);
  },
});

const contextOf = (environment: unknown): unknown =>
  typeof environment === 'object' && environment !== null && 'requestContext' in environment ? environment.requestContext : undefined;

/** The gateway's own id, by which a caller may ask; neither path nor headers, which may hold anything. */
const requestOf = (event: unknown): unknown => {
  const context = contextOf(event);
  return typeof context === 'object' && context !== null && 'requestId' in context ? context.requestId : undefined;
};

const limitsOf = ({ DISPATCH_MAX_ACTIVE_JOBS: most }: Environment): Partial<Limits> =>
  most === undefined ? {} : { maxActiveJobs: Number(most) };

/** IAM callers and their scopes, as the deployment's configuration lists them. */
const callersOf = ({ DISPATCH_CALLERS: text }: Environment): Callers => callersSchema.parse(JSON.parse(text ?? '[]'));
